# SPDX-License-Identifier: Apache-2.0
"""Image files: decoding into tensors, loading, saving, headers, notebooks."""
import pathlib
import threading

import numpy as np
import pytest

import halyard as ef
from helpers import fails

F = ef.PixelFormat
MEM = ef.TensorMemory.MEM


@pytest.fixture(name="scene")
def _scene():
    y, x = np.mgrid[0:48, 0:64]
    return np.stack([x * 4, y * 5, (x + y) * 2], -1).astype(np.uint8)


@pytest.fixture(name="jpeg")
def _jpeg(scene):
    t = ef.Tensor.from_array(scene)
    t.set_format(F.Rgb)
    return t.to_jpeg(quality=95)


def test_load_gives_what_was_saved(tmp_path, scene):
    for path in (tmp_path / "a.png", str(tmp_path / "b.png")):
        ef.imwrite(path, scene)
        assert np.array_equal(ef.imread(path), scene)
        assert ef.load(path).format is F.Rgb and ef.Tensor.load(path, F.Rgba).shape == (48, 64, 4)
    ef.imwrite(tmp_path / "c.jpg", scene, quality=95)
    assert np.abs(ef.imread(tmp_path / "c.jpg").astype(int) - scene).mean() < 4
    grey = ef.imread(tmp_path / "c.jpg", F.Grey)
    assert grey.shape == (48, 64, 1)
    ef.imwrite(tmp_path / "d.png", grey[..., 0])
    assert np.array_equal(ef.imread(tmp_path / "d.png", F.Grey), grey)
    for format in (F.Nv12, F.PlanarRgb, F.Bgra, F.Yuyv):
        assert ef.Tensor.load(tmp_path / "c.jpg", format).format is format
    fails(ValueError, "image", lambda: ef.imwrite(tmp_path / "x.png", scene.astype(float)))
    fails(FileNotFoundError, lambda: ef.load(tmp_path / "nosuch.png"))
    fails(TypeError, "path", lambda: ef.load(3))


# Of the kinds that hold R G B, how far the image may be from what was written.
WRITTEN = {".jpg": 4, ".jpeg": 4, ".png": 0, ".webp": 4, ".tif": 0, ".tiff": 0, ".bmp": 0,
           ".PNG": 0, ".Jpg": 4}


@pytest.mark.parametrize("extension", WRITTEN)
def test_every_writer_has_every_extension(extension, tmp_path, scene):
    tensor = ef.Tensor.from_array(scene)
    tensor.set_format("rgb")
    for name, write in {"array": lambda path: ef.imwrite(path, scene, 95),
                        "tensor": lambda path: ef.imwrite(path, tensor, quality=95),
                        "saved": lambda path: tensor.save(path, quality=95)}.items():
        path = tmp_path / (name + extension)
        try:
            write(path)
        except ef.UnsupportedError as error:
            assert "built without lib" in str(error)
            pytest.skip(str(error))
        assert np.abs(ef.imread(path).astype(int) - scene).mean() <= WRITTEN[extension]


def test_other_extensions_are_named_with_those_that_are_written(tmp_path, scene):
    tensor = ef.Tensor.from_array(scene)
    tensor.set_format("rgb")
    for name, kind in (("x.gif", ef.UnsupportedError), ("x.heic", ValueError), ("x", ValueError),
                       (".png", ValueError), ("png", ValueError)):
        for write in (lambda path: ef.imwrite(path, scene), tensor.save):
            raised = fails(kind, r"\.jpg \.jpeg \.png.* \.bmp", lambda: write(tmp_path / name))
            assert name in str(raised) or "GIF" in str(raised)
    fails(ValueError, "quality", lambda: tensor.save(tmp_path / "x.jpg", 0),
          lambda: ef.imwrite(tmp_path / "x.jpg", scene, 101))
    fails(TypeError, "filename: must be a str or os.PathLike, not int", lambda: tensor.save(3))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview,
                                  lambda data: np.frombuffer(data, np.uint8)])
def test_decode_from_any_bytes(jpeg, kind):
    t = ef.Tensor.image(64, 64, F.Rgba, mem=MEM)
    info = t.decode_image(kind(jpeg))
    assert (info.width, info.height, info.format) == (64, 48, t.format)
    assert (t.width, t.height) == (64, 48) and info.row_stride == t.row_stride
    assert (t.colorimetry.encoding, t.colorimetry.range) == (ef.ColorEncoding.Bt601,
                                                             ef.ColorRange.Full)
    peeked = ef.Tensor.peek_image_info(kind(jpeg))
    assert (peeked.width, peeked.height, peeked.format) == (64, 48, info.format)
    assert (peeked.rotation_degrees, peeked.flip_horizontal) == (0, False)
    assert "ImageInfo(width=64" in repr(peeked)


def test_decode_with_a_format_and_by_the_thread(jpeg, scene):
    t = ef.Tensor.image(64, 48, F.Rgba, mem=MEM)
    assert t.decode_image(jpeg, F.Rgb).format is F.Rgb
    direct = np.asarray(t).copy()
    assert np.abs(direct.astype(int) - scene).mean() < 4
    native = ef.Tensor.peek_image_info(jpeg).format
    ef.set_output_format(F.Rgb)
    try:
        seen = []
        other = ef.Tensor.image(64, 64, F.Rgba, mem=MEM)
        worker = threading.Thread(target=lambda: seen.append(other.decode_image(jpeg).format))
        worker.start()
        worker.join()
        assert seen == [native]  # a wish of its own thread alone
        assert t.decode_image(jpeg).format is F.Rgb and np.array_equal(np.asarray(t), direct)
    finally:
        ef.set_output_format(None)
    assert t.decode_image(jpeg).format is native
    ef.set_dct_method(ef.DctMethod.Fast)
    for call in (ef.set_output_format, ef.set_dct_method):
        fails(TypeError, lambda: call(1))


def test_files_and_failures(tmp_path, jpeg):
    path = tmp_path / "a.jpg"
    path.write_bytes(jpeg)
    t = ef.Tensor.image(64, 64, F.Rgba, mem=MEM)
    assert t.decode_image_file(path).width == t.decode_image_file(str(path)).width == 64
    assert ef.Tensor.peek_image_info_file(pathlib.Path(path)).height == 48
    small = ef.Tensor.image(8, 8, F.Grey, mem=MEM)
    for data in (b"", b"no image", jpeg[:40], jpeg[:len(jpeg) // 2]):
        fails(RuntimeError, lambda: small.decode_image(data))
    fails(RuntimeError, lambda: small.decode_image(jpeg))
    assert (small.width, small.height, small.format) == (8, 8, F.Grey)
    for call in (t.decode_image_file, ef.Tensor.peek_image_info_file):
        fails(RuntimeError, lambda: call(tmp_path / "nosuch.jpg"))
    for data in ("text", 3, None, np.zeros((4, 4), np.uint8)[:, ::2]):
        fails((TypeError, RuntimeError), "data", lambda: t.decode_image(data))


def test_save(tmp_path, scene):
    t = ef.Tensor.from_array(scene)
    t.set_format(F.Rgb)
    t.save_jpeg(tmp_path / "a.jpg")
    t[8:16, 8:24].save_png(tmp_path / "b.png")  # rows of a view lie apart
    assert np.array_equal(ef.imread(tmp_path / "b.png"), scene[8:16, 8:24])
    fails(RuntimeError, lambda: t.save_jpeg(tmp_path / "x.jpg", 0),
          lambda: t.save_jpeg(tmp_path / "no" / "x.jpg"),
          lambda: t.save_png(tmp_path / "x.png", 10),
          lambda: ef.Tensor([4, 4]).save_jpeg(tmp_path / "x.jpg"))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.jpg", "b.png"]


@pytest.mark.parametrize("format", list(F))
def test_notebooks_show_images(format):
    png = ef.Tensor.image(1500, 64, format, mem=MEM)._repr_png_()
    if png is not None:
        info = ef.Tensor.peek_image_info(png)
        assert (info.width, info.height) in ((1024, 43), (1500, 64)) and info.width <= 1024
    assert png is not None or "Bayer" in format.name
    assert ef.Tensor([3])._repr_png_() is None
