# SPDX-License-Identifier: Apache-2.0
"""Image, PointCloud and DepthImage: makers, views without a copy, pixels, fields, errors."""
import numpy as np
import pytest

from peers import Peer
from helpers import address, fails

import halyard as ef

numbers = iter(range(1, 1000))


def send_and_receive(message):
    topic = ef.Topic(f"message/{next(numbers)}", type(message), receives_own=True)
    topic.send(message)
    return topic.recv(20)


def test_an_image_is_seen_without_a_copy():
    image = ef.Image(64, 48, "rgb8")
    assert (image.width, image.height, image.channels, image.encoding) == (64, 48, 3, "rgb8")
    assert image.step == 192 and image.nbytes == 64 * 48 * 3 and image.dtype == "uint8"
    assert image.shape == (48, 64, 3) and image.bytes_per_pixel == 3 and not image.is_bigendian
    array = image.numpy()
    array[:] = 0
    array[47, 63] = 1, 2, 3
    assert image.pixel(63, 47) == (1, 2, 3)
    others = [np.asarray(image), np.asarray(image.tensor), np.from_dlpack(image)]
    assert {address(other) for other in others} == {address(array)}
    assert isinstance(image.tensor, ef.TensorHandle) and image.tensor.width == 64
    assert image.tobytes() == array.tobytes() and image.format == ef.PixelFormat.Rgb


def test_pixels_and_fills():
    image = ef.Image(5, 4, "mono16")
    image.fill(1000)
    image.set_pixel(4, 3, 65535)
    assert image.pixel(0, 0) == (1000,) and image.numpy()[3, 4] == 65535
    wide = ef.Image(4, 4, "32FC3")
    wide.fill((0.5, 1, np.float32(2)))
    wide.set_pixel(1, 1, b"\0" * 12)
    assert wide.pixel(3, 3) == (0.5, 1.0, 2.0) and wide.pixel(1, 1) == (0, 0, 0)
    planes = ef.Image(4, 4, "nv12")
    planes.fill((16, 128, 130))
    assert planes.numpy().shape == (6, 4) and planes.numpy()[4:, ::2].tolist() == [[128] * 2] * 2


@pytest.mark.parametrize("call, kind, text", [
    (lambda i: i.pixel(5, 0), ef.InvalidArgumentError, "outside|below|x"),
    (lambda i: i.set_pixel(0, 0, (1, 2)), ef.InvalidArgumentError, "value"),
    (lambda i: i.set_pixel(0, 0, (1, 2, 300)), OverflowError, "value: must be at most 255"),
    (lambda i: i.set_pixel(0, 0, (1, 2, -3)), OverflowError, "value"),
    (lambda i: i.set_pixel(0, 0, "red"), TypeError, "value"),
    (lambda i: i.fill((1, 2, 3, 4, 5)), ef.InvalidArgumentError, "value"),
    (lambda i: i.fill(()), ef.InvalidArgumentError, "value"),
    (lambda i: i.copy_from(b"123"), ef.InvalidArgumentError, "60"),
    (lambda i: i.roi(4, 0, 2, 2), ef.InvalidArgumentError, "region"),
    (lambda i: i.roi(0, 0, 0, 2), ef.InvalidArgumentError, "region"),
    (lambda i: i.roi(-1, 0, 2, 2), OverflowError, "x"),
    (lambda i: setattr(i, "frame_id", "x" * 32), ef.InvalidArgumentError, "frame_id"),
    (lambda i: setattr(i, "frame_id", 3), TypeError, "frame_id"),
    (lambda i: setattr(i, "timestamp_ns", -1), OverflowError, "timestamp_ns"),
    (lambda i: ef.Image(0, 4), ef.InvalidArgumentError, "width|side"),
    (lambda i: ef.Image(4, 70000), ef.InvalidArgumentError, "height|65535"),
    (lambda i: ef.Image(4, 4, "cmyk"), ef.InvalidArgumentError, "encoding"),
    (lambda i: ef.Image(4, 4, pool=3), TypeError, "pool"),
    (lambda i: ef.Image.from_bytes(b"12", 4, 4), ef.InvalidArgumentError, "48"),
    (lambda i: ef.Image.from_numpy(np.zeros((4, 4, 2), "u1")), ef.InvalidArgumentError, "array"),
    (lambda i: ef.Image.wrap(np.zeros((4, 4), "u1"), "rgb8"), ef.InvalidArgumentError, None),
    (lambda i: ef.Image.wrap("text"), TypeError, "tensor")])
def test_wrong_calls_of_images_are_refused(call, kind, text):
    fails(kind, text, lambda: call(ef.Image(5, 4, "rgb8")))


def test_parts_of_an_image_share_its_bytes():
    image = ef.Image(16, 12, "rgb8")
    image.numpy()[:] = np.arange(12 * 16 * 3).reshape(12, 16, 3) % 251
    part = image.roi(2, 3, 5, 4)
    assert (part.width, part.height, part.step) == (5, 4, 48)
    assert address(part.numpy()) == address(image.numpy()) + 3 * 48 + 6
    assert image.copy_roi(2, 3, 5, 4) == image.numpy()[3:7, 2:7].tobytes() == part.tobytes()
    found = send_and_receive(part)
    assert (found.numpy() == part.numpy()).all() and not found.is_writable
    assert address(found.numpy()) == address(part.numpy())


@pytest.mark.parametrize("shape, dtype, encoding", [
    ((6, 8), "uint8", "mono8"), ((6, 8, 1), "uint8", "mono8"), ((6, 8, 3), "uint8", "rgb8"),
    ((6, 8, 4), "uint8", "rgba8"), ((6, 8), "uint16", "mono16"), ((6, 8), "float32", "32FC1"),
    ((6, 8, 3), "float32", "32FC3")])
def test_images_of_arrays(shape, dtype, encoding):
    array = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    for given in (array, np.asfortranarray(array), array[::-1]):
        image = ef.Image.from_numpy(given)
        assert image.encoding == encoding
        assert (image.numpy().reshape(shape) == given).all()
    seen = ef.Image.wrap(array)
    assert address(seen.numpy()) == address(array) and seen.encoding == encoding
    assert ef.Image.from_bytes(array.tobytes(), 8, 6, encoding).tobytes() == array.tobytes()


def test_encodings_colorimetry_and_header():
    assert {"rgb8", "bgr8", "nv12", "bayer_rggb8", "32FC1"} <= set(ef.Image.encodings())
    for name in ef.Image.encodings():
        assert ef.Image(8, 8, name).encoding == name
    image = ef.Image(8, 8, "nv12")
    image.frame_id, image.timestamp_ns = "camera_\u00e9", (1 << 64) - 1
    image.colorimetry = ef.Colorimetry(encoding=ef.ColorEncoding.Bt709)
    found = send_and_receive(image)
    assert (found.frame_id, found.timestamp_ns) == ("camera_\u00e9", (1 << 64) - 1)
    assert found.colorimetry.encoding == ef.ColorEncoding.Bt709 and found.encoding == "nv12"


def test_images_go_into_convert_and_pools():
    with ef.TensorPool(next(numbers), 16, 16) as pool:
        image = ef.Image(64, 48, "bgr8", pool=pool)
        assert image.tensor.pool == pool
    image.fill((1, 2, 3))
    out = ef.Image(32, 24, "rgb8")
    ef.ImageProcessor().convert(image.tensor, out.tensor)
    assert out.pixel(31, 23) == (3, 2, 1)


def test_what_was_received_is_read_only():
    for message in (ef.Image(4, 4), ef.PointCloud(4), ef.DepthImage(4, 4)):
        found = send_and_receive(message)
        assert not found.is_writable and not message.is_writable
        assert not found.numpy().flags.writeable
        fails(ef.AccessError, lambda: found.copy_from(bytes(found.nbytes)))
    fails(ef.AccessError, lambda: send_and_receive(ef.Image(4, 4)).fill((1, 2, 3)))
    fails(ef.AccessError, lambda: send_and_receive(ef.DepthImage(4, 4)).set_depth(0, 0, 1))


def test_clouds_have_fields():
    cloud = ef.PointCloud(100)
    assert len(cloud) == cloud.point_count == 100 and cloud.is_xyz and not cloud.is_organized
    assert [(f.name, f.offset, f.datatype, f.count) for f in cloud.fields] == [
        ("x", 0, "float32", 1), ("y", 4, "float32", 1), ("z", 8, "float32", 1)]
    cloud.numpy()[:] = np.arange(300).reshape(100, 3)
    points = cloud.points()
    assert points.shape == (100,) and points.dtype.names == ("x", "y", "z")
    assert {address(points), address(cloud.field("x")), address(np.asarray(cloud.tensor)),
            address(np.from_dlpack(cloud))} == {address(cloud.numpy())}
    cloud.field("y")[:] = -1
    assert cloud.extract_xyz()[99].tolist() == [297, -1, 299] and points["y"].max() == -1
    assert ef.PointCloud(4, 4).has_intensity and ef.PointCloud(4, 6).has_color
    assert cloud.fields[0] == ef.PointField("x", 0) != ef.PointField("x", 4)
    fails(ef.InvalidArgumentError, "name: .*'w'.*x, y, z", lambda: cloud.field("w"))


LIDAR = np.dtype({"names": ["x", "y", "z", "ring", "time", "normal"],
                  "formats": ["<f4", "<f4", "<f4", "<u2", "<f8", ("<f4", (3,))],
                  "offsets": [0, 4, 8, 12, 16, 24], "itemsize": 40})


def test_clouds_of_structured_arrays():
    array = np.zeros((3, 5), LIDAR)
    array["ring"] = np.arange(15).reshape(3, 5)
    array["normal"][..., 2] = 1
    array["x"] = array["ring"] * 2
    cloud = ef.PointCloud.from_numpy(array)
    assert (cloud.width, cloud.height, cloud.point_step) == (5, 3, 40) and cloud.is_organized
    points = cloud.points()
    assert points.shape == (3, 5) and all((points[n] == array[n]).all() for n in LIDAR.names)
    assert cloud.field("normal").shape == (3, 5, 3) and cloud.field("ring")[2, 4] == 14
    found = send_and_receive(cloud)
    assert (found.field("time") == array["time"]).all() and found.fields == cloud.fields
    assert not found.points().flags.writeable and found.points()["ring"].sum() == 105
    made = ef.PointCloud.with_fields(5, 1, LIDAR, 64)
    assert made.point_step == 64 and made.points().shape == (5,)
    made.field("time")[:] = 3
    assert made.points()["time"].tolist() == [3.0] * 5
    rows = np.zeros((6, 7), "f4")
    assert ef.PointCloud.wrap(rows[:, :4]).row_step >= 6 * 4 * 4
    assert address(ef.PointCloud.wrap(rows[:, :4]).points()) == address(rows)


def test_clouds_are_transformed_and_may_be_empty():
    cloud = ef.PointCloud.from_numpy(np.array([[1, 2, 3], [4, 5, 6]], "f4"))
    moved = cloud.transform([[0, -1, 0, 10], [1, 0, 0, 20], [0, 0, 1, 30], [0, 0, 0, 1]])
    assert moved.extract_xyz().tolist() == [[8, 21, 33], [5, 24, 36]]
    empty = ef.PointCloud(0)
    assert len(empty) == 0 and empty.points().shape == (0,) and empty.extract_xyz().shape == (0, 3)
    assert len(send_and_receive(empty)) == 0
    cloud.is_dense = False
    assert not send_and_receive(cloud).is_dense


@pytest.mark.parametrize("call, kind, text", [
    (lambda c: ef.PointCloud(4, 0), ef.InvalidArgumentError, "fields"),
    (lambda c: ef.PointCloud(4, 17), ef.InvalidArgumentError, "fields"),
    (lambda c: ef.PointCloud(4, 3, "float16"), ef.InvalidArgumentError, "dtype|f16|float16"),
    (lambda c: ef.PointCloud(-1), OverflowError, "num_points"),
    (lambda c: ef.PointField("x" * 16, 0), ef.InvalidArgumentError, "name"),
    (lambda c: ef.PointField("x", 0, "int64"), ef.InvalidArgumentError, "datatype"),
    (lambda c: ef.PointField("x", 0, "int8", 0), ef.InvalidArgumentError, "count"),
    (lambda c: ef.PointCloud.with_fields(4, 1, []), ef.InvalidArgumentError, "field"),
    (lambda c: ef.PointCloud.with_fields(4, 1, [ef.PointField("x", 0)] * 2),
     ef.InvalidArgumentError, "x|field|name"),
    (lambda c: ef.PointCloud.with_fields(4, 1, [3]), TypeError, "fields"),
    (lambda c: ef.PointCloud.with_fields(4, 1, np.dtype("f4")), ef.InvalidArgumentError, "fields"),
    (lambda c: c.transform(np.zeros((3, 3))), ef.InvalidArgumentError, "matrix"),
    (lambda c: c.transform(np.full((4, 4), np.nan)), ef.InvalidArgumentError, "matrix"),
    (lambda c: ef.PointCloud.from_numpy(np.zeros(4, "f4")), ef.InvalidArgumentError, None),
])
def test_wrong_calls_of_clouds_are_refused(call, kind, text):
    fails(kind, text, lambda: call(ef.PointCloud(4)))


def test_depth_images():
    depth = ef.DepthImage(6, 4)
    assert depth.is_meters and (depth.width, depth.height, depth.step) == (6, 4, 24)
    array = depth.numpy()
    array[:] = np.nan
    array[1, 2], array[3, 5] = 1.5, 2.5
    assert depth.get_depth(2, 1) == 1.5
    depth.set_depth(0, 0, 0.5)
    found = depth.depth_statistics()
    assert (found.min, found.max, found.mean, found.count) == (0.5, 2.5, 1.5, 3)
    units = depth.to_millimeters()
    assert units.is_millimeters and units.get_depth_u16(5, 3) == 2500
    assert units.numpy()[0, 1] == 0 and np.isnan(units.to_meters().numpy()[0, 1])
    depth.set_depth_range(1, 2)
    assert depth.depth_statistics().count == 1 and depth.max_depth == 2
    units.depth_scale = 0.5
    assert units.depth_scale == 0.5 and units.get_depth(5, 3) == 1.25
    assert depth.as_image().encoding == "32FC1"
    assert address(depth.as_image().numpy()) == address(array)
    again = send_and_receive(depth)
    assert again.min_depth == 1 and address(again.numpy()) == address(array)


def test_depth_becomes_points():
    depth = ef.DepthImage.from_numpy(np.array([[1, 2], [0, 4]], "f4"))
    camera = ef.CameraIntrinsics(2, 2, 0.5, 0.5)
    cloud = depth.deproject(camera)
    assert (cloud.width, cloud.height) == (2, 2) and np.isnan(cloud.field("z")[1, 0])
    assert cloud.points()[0, 1].tolist() == (0.5, -0.5, 2.0)
    valid = depth.deproject((2, 2, 0.5, 0.5), valid_only=True)
    assert valid.extract_xyz()[:, 2].tolist() == [1, 2, 4]
    wrapped = np.ones((3, 4), "u2")
    assert address(ef.DepthImage.wrap(wrapped).numpy()) == address(wrapped)
    assert ef.DepthImage.meters(2, 2).is_meters and ef.DepthImage.millimeters(2, 2).is_millimeters


@pytest.mark.parametrize("call, kind, text", [
    (lambda d: ef.DepthImage(4, 4, "uint8"), ef.InvalidArgumentError, "dtype|f32"),
    (lambda d: d.get_depth(4, 0), ef.InvalidArgumentError, "outside|x"),
    (lambda d: d.set_depth(0, 0, -1), ef.InvalidArgumentError, "meters|depth"),
    (lambda d: d.get_depth_u16(0, 0), ef.InvalidArgumentError, "float32 metres"),
    (lambda d: setattr(d, "depth_scale", 0), ef.InvalidArgumentError, "scale|millimeters"),
    (lambda d: d.set_depth_range(2, 1), ef.InvalidArgumentError, "depth"),
    (lambda d: d.deproject((0, 1, 0, 0)), ef.InvalidArgumentError, "fx|intrinsics"),
    (lambda d: d.deproject((1, 1, 0)), ef.InvalidArgumentError, "intrinsics"),
    (lambda d: d.deproject(3), TypeError, "intrinsics"),
    (lambda d: ef.DepthImage.from_numpy(np.zeros((4, 4))), ef.InvalidArgumentError, None)])
def test_wrong_calls_of_depth_images_are_refused(call, kind, text):
    fails(kind, text, lambda: call(ef.DepthImage(4, 4)))


def test_messages_come_from_another_process():
    clouds = ef.Topic("message/clouds", ef.PointCloud)
    depths = ef.Topic("message/depths", ef.DepthImage)
    with Peer("""
clouds = ef.Topic("message/clouds", ef.PointCloud)
depths = ef.Topic("message/depths", ef.DepthImage)
cloud = ef.PointCloud.from_numpy(np.arange(12, dtype="f4").reshape(4, 3))
cloud.frame_id = "lidar"
clouds.send(cloud)
depths.send(ef.DepthImage.from_numpy(np.full((4, 3), 2, "u2")))
hear()
""") as peer:
        cloud, depth = clouds.recv(20), depths.recv(20)
        assert cloud.frame_id == "lidar" and cloud.extract_xyz()[3].tolist() == [9, 10, 11]
        assert depth.get_depth_u16(2, 3) == 2 and not depth.is_writable
        peer.say("end")
        peer.end()
    assert clouds.stats().copied == 0


def test_a_topic_takes_its_own_type_alone():
    topic = ef.Topic("message/images", ef.Image)
    fails(TypeError, "message: must be an Image, not PointCloud",
          lambda: topic.send(ef.PointCloud(3)))
    fails(TypeError, "message", lambda: topic.send(ef.Image(2, 2).tensor))
