# SPDX-License-Identifier: Apache-2.0
"""Tensor: making, properties, parts, shapes, quantization, copies, text."""
import copy
import os
import pickle

import numpy as np
import pytest

import halyard as ef
from helpers import fails

DTYPES = ("uint8 int8 uint16 int16 uint32 int32 uint64 int64 float16 float32 float64").split()
MEM = ef.TensorMemory.MEM


@pytest.mark.parametrize("dtype", DTYPES + ["bool"])
def test_a_new_tensor_is_zero_and_says_what_it_is(dtype):
    t = ef.Tensor([2, 3, 4], dtype, MEM, "x")
    size = np.dtype(dtype).itemsize
    assert (t.dtype, t.shape, t.memory, t.name) == (dtype, (2, 3, 4), MEM, "x")
    assert (t.size, t.nbytes, t.ndim, t.itemsize, len(t)) == (24, 24 * size, 3, size, 2)
    assert t.strides == (12 * size, 4 * size, size)
    assert (t.format, t.width, t.height, t.row_stride, t.is_planar) == (None, None, None, None,
                                                                       False)
    assert (t.compression, t.quantization, t.colorimetry) == (None, None, None)
    assert not np.asarray(t).any() and np.asarray(t).dtype == dtype


def test_defaults_keywords_and_types():
    assert ef.Tensor([2]).dtype == "float32" and ef.Tensor(shape=(2,), mem=None).shape == (2,)
    assert ef.Tensor(5, np.float64).shape == (5,)
    assert ef.Tensor(np.array([2, 3]), np.dtype("int16")).dtype == "int16"
    first, second = ef.Tensor([1]), ef.Tensor([1])
    assert first.name and first.name != second.name
    assert str(ef.Tensor([2, 3], "uint8", MEM)) == "Tensor(shape=(2, 3), dtype=uint8, memory=mem)"
    assert repr(ef.Tensor([2], mem=MEM)) == "Tensor(shape=(2,), dtype=float32, memory=mem)"
    assert "nv12, 8x4" in repr(ef.Tensor.image(8, 4, ef.PixelFormat.Nv12, mem=MEM))
    assert ef.Tensor.__module__ == "halyard"


@pytest.mark.parametrize("args, kind, text", [
    (([],), RuntimeError, "shape"), (([0],), RuntimeError, "shape"),
    (([2], "nosuch"), RuntimeError, "dtype"), (([2], ">f4"), RuntimeError, "dtype"),
    (([1] * 9,), RuntimeError, "shape"), (([-1],), OverflowError, "shape"),
    (([2**70],), OverflowError, "shape"), (([2**40, 2**40],), RuntimeError, "shape"),
    ((["a"],), TypeError, "shape"), ((None,), TypeError, "shape"), (("12",), TypeError, "shape"),
    (([2], None), TypeError, "dtype"), (([2], "uint8", 3), TypeError, "mem"),
    (([2], "uint8", "nosuch"), RuntimeError, "mem")])
def test_wrong_arguments_are_named(args, kind, text):
    fails(kind, text, lambda: ef.Tensor(*args))


def test_pixel_buffers_of_opengl(monkeypatch):
    monkeypatch.setenv("HALYARD_ALLOW_SOFTWARE_GL", "1")
    try:
        t = ef.Tensor([4, 5], "uint8", ef.TensorMemory.PBO)
    except RuntimeError as error:
        assert "display" in str(error)
        pytest.skip(str(error))
    assert t.memory == ef.TensorMemory.PBO
    with t.map() as m:
        np.asarray(m)[2, 3] = 9
    with t.map() as m:
        assert np.asarray(m).sum() == 9 and np.asarray(m)[2, 3] == 9


@pytest.mark.parametrize("name, shape, stride", [
    ("Rgb", [33, 59, 3], 177), ("Rgba", [33, 59, 4], 236), ("Grey", [33, 59, 1], 59),
    ("Yuyv", [33, 59, 2], 120), ("PlanarRgb", [3, 33, 59], 59), ("PlanarRgba", [4, 33, 59], 59),
    ("Nv12", [50, 59], 64), ("Nv16", [66, 59], 64), ("Nv24", [99, 59], 64)])
def test_images(name, shape, stride):
    t = ef.Tensor.image(59, 33, ef.PixelFormat[name], mem=MEM)
    assert (t.width, t.height, t.format, t.shape) == (59, 33, ef.PixelFormat[name], tuple(shape))
    assert t.row_stride == stride and t.size == t.nbytes == int(np.prod(shape))
    assert t.is_planar == name.startswith("Planar")
    assert np.asarray(t).shape == t.shape


def test_wrong_images():
    with pytest.raises(RuntimeError, match="access"):
        ef.Tensor.image(8, 8, ef.PixelFormat.Rgb, None, "sometimes")
    for width, kind in ((0, RuntimeError), (-1, OverflowError), (70000, RuntimeError),
                        ("8", TypeError), (8.5, TypeError)):
        fails(kind, "width", lambda: ef.Tensor.image(width, 8, ef.PixelFormat.Rgb))
    fails(TypeError, "format", lambda: ef.Tensor.image(8, 8, 1))
    assert ef.Tensor.image(8, 8, "rgb").format is ef.PixelFormat.Rgb


def test_reshape_gives_another_tensor_and_set_format_changes_in_place():
    t = ef.Tensor([4, 6, 3], "uint8", MEM)
    np.asarray(t)[...] = np.arange(72).reshape(4, 6, 3)
    t.set_format(ef.PixelFormat.Rgb)
    assert (t.format, t.width, t.height, t.row_stride) == (ef.PixelFormat.Rgb, 6, 4, 18)
    r = t.reshape(8, 9)
    assert r.format is None and r.shape == (8, 9) and np.asarray(r)[7, 8] == 71
    assert t.shape == (4, 6, 3) and t.format is ef.PixelFormat.Rgb
    np.asarray(r)[0, 0] = 99
    assert np.asarray(t)[0, 0, 0] == 99  # the same bytes
    fails(RuntimeError, lambda: r.set_format(ef.PixelFormat.Rgb))


@pytest.mark.parametrize("given, shape", [
    ((-1,), (24,)), ((2, -1), (2, 12)), (((2, -1),), (2, 12)), (([-1, 3, 4],), (2, 3, 4)),
    ((24,), (24,)), ((np.int64(4), 6), (4, 6)), ((1, -1, 1), (1, 24, 1)),
    ((range(2, 5),), (2, 3, 4))])
def test_reshape_takes_what_numpy_takes(given, shape):
    t = ef.Tensor([2, 3, 4], "uint8", MEM)
    assert t.reshape(*given).shape == np.asarray(t).reshape(*given).shape == shape


@pytest.mark.parametrize("given, kind, text", [
    ((5,), ValueError, "24"), ((-1, 5), ValueError, "24"), ((-1, -1), ValueError, "-1"),
    ((-2, 12), ValueError, "-2"), ((-1, 0), ValueError, "-1"), ((), ValueError, "axes"),
    (("24",), TypeError, "shape"), ((2.0, 12), TypeError, "shape"), ((None,), TypeError, "shape"),
    ((1,) * 9, ValueError, "8"), ((2**70,), OverflowError, "int")])
def test_reshape_refuses_what_cannot_be(given, kind, text):
    fails(kind, text, lambda: ef.Tensor([2, 3, 4], "uint8", MEM).reshape(*given))


def test_reshape_of_padded_rows_says_who_copies():
    part = ef.Tensor.image(16, 8, "rgb", mem=MEM)[:, 2:5]
    fails(ef.UnsupportedError, "numpy.asarray", lambda: part.reshape(-1))
    assert np.asarray(part).reshape(-1).shape == (8 * 3 * 3,)


def test_views_share_bytes():
    t = ef.Tensor.image(16, 8, ef.PixelFormat.Rgb, mem=MEM)
    a = np.asarray(t)
    a[...] = np.arange(a.size).reshape(a.shape)
    for part in (t.view(ef.Region(3, 2, 5, 4)), t[2:6, 3:8], t.view(ef.Rect(3, 2, 5, 4))):
        assert (part.width, part.height, part.row_stride) == (5, 4, 48)
        assert np.array_equal(np.asarray(part), a[2:6, 3:8])
    np.asarray(t[7:, -1:])[...] = 7  # the last pixel: nothing follows it in memory
    assert (a[7, 15] == 7).all()
    for region in (ef.Region(12, 0, 5, 1), ef.Region(0, 0, 0, 1)):
        fails(RuntimeError, lambda: t.view(region))
    fails(RuntimeError, lambda: ef.Tensor([4, 4]).view(ef.Region(0, 0, 1, 1)))
    fails(TypeError, "region", lambda: t.view("all"))


def test_batches_and_indices():
    t = ef.Tensor([3, 4, 5], "int32", MEM)
    a = np.asarray(t)
    a[...] = np.arange(60).reshape(3, 4, 5)
    assert np.array_equal(np.asarray(t.batch(2)), a[2])
    assert np.array_equal(np.asarray(t[-1, 1:3, ::-2]), a[-1, 1:3, ::-2])
    assert np.array_equal(np.asarray(t[..., 1]), a[..., 1])
    assert [p.shape for p in t] == [(4, 5)] * 3
    fails(RuntimeError, lambda: t.batch(3))
    fails(OverflowError, lambda: t.batch(-1))
    for key in (3, -4, (0, 0, 0, 0)):
        fails(IndexError, lambda: t[key])
    fails(TypeError, lambda: t["x"])
    fails(RuntimeError, lambda: t[1, 1, 1])


def test_quantization():
    t = ef.Tensor([4, 2], "uint8", MEM)
    t.set_quantization_per_tensor(0.5, 3)
    q = t.quantization
    assert (q.scale, q.zero_point, q.axis) == ([0.5], [3], None)
    assert q.is_per_tensor and not q.is_per_channel and not q.is_symmetric
    t.set_quantization_per_channel([1.0, 2.0], [1, 2], 1)
    assert t.quantization == ef.Quantization.per_channel([1.0, 2.0], [1, 2], 1)
    t.set_quantization_per_tensor_symmetric(2.0)
    assert t.quantization.zero_point is None and t.quantization.is_symmetric
    t.set_quantization_per_channel_symmetric([1.0, 2.0, 3.0, 4.0], 0)
    assert t.quantization.is_per_channel and t.quantization.axis == 0
    t.clear_quantization()
    assert t.quantization is None
    for scales, zeros, axis in (([1.0], [1, 2], 0), ([1.0, 2.0], [0, 0], 7), ([], [], 0),
                                ([1.0, 2.0, 3.0], [0] * 3, 1)):
        fails(RuntimeError, lambda: t.set_quantization_per_channel(scales, zeros, axis))
    fails(RuntimeError, lambda: ef.Tensor([2], "float32").set_quantization_per_tensor(1.0, 0))
    fails(RuntimeError, lambda: ef.Quantization.per_channel([1.0, 2.0], [0], 0))


def test_colorimetry():
    t = ef.Tensor.image(4, 4, ef.PixelFormat.Nv12)
    assert t.colorimetry is None
    c = ef.Colorimetry(encoding=ef.ColorEncoding.Bt601, range=ef.ColorRange.Full)
    t.colorimetry = c
    assert t.colorimetry == c and t.colorimetry.space is None and "Colorimetry" in repr(c)
    t.colorimetry = None
    assert t.colorimetry is None
    with pytest.raises(TypeError, match="colorimetry"):
        t.colorimetry = 3
    v = ef.Colorimetry.from_v4l2(7, 0, 0, 0)
    assert (v.encoding, v.range) == (ef.ColorEncoding.Bt601, ef.ColorRange.Full)
    assert ef.Colorimetry.from_v4l2(99, 99, 99, 99).space is None


def test_copies_and_pickles():
    t = ef.Tensor.image(13, 7, ef.PixelFormat.Nv12, mem=MEM)
    t.colorimetry = ef.Colorimetry(range=ef.ColorRange.Full)
    np.asarray(t)[...] = np.random.default_rng(1).integers(0, 255, t.shape)
    for other in (t.copy(), copy.deepcopy(t), pickle.loads(pickle.dumps(t))):
        assert (other.format, other.width, other.height) == (t.format, 13, 7)
        assert other.colorimetry == t.colorimetry and other.memory == MEM
        assert np.array_equal(np.asarray(other), np.asarray(t))
        np.asarray(other)[0, 0] ^= 1
        assert np.asarray(other)[0, 0] != np.asarray(t)[0, 0]
    np.asarray(copy.copy(t))[0, 0] = 9
    assert np.asarray(t)[0, 0] == 9
    q = ef.Tensor([2, 2], "int8", MEM)
    q.set_quantization_per_tensor(0.25, 1)
    part = pickle.loads(pickle.dumps(q[:, 1:]))
    assert part.shape == (2, 1) and pickle.loads(pickle.dumps(q)).quantization == q.quantization


def test_fill():
    t = ef.Tensor([3, 3], "float16", MEM)
    t.fill(1.5)
    assert (np.asarray(t) == 1.5).all()
    fails(OverflowError, lambda: ef.Tensor([2], "uint8").fill(300))


def test_value_classes():
    r = ef.Region(1, 2, 3, 4)
    r.x = 9
    assert (r.x, r.y, r.width, r.height) == (9, 2, 3, 4) and r == ef.Region(9, 2, 3, 4)
    assert r != ef.Region(0, 2, 3, 4) and r != "r" and pickle.loads(pickle.dumps(r)) == r
    fails(OverflowError, lambda: ef.Region(-1, 0, 1, 1))
    fails(TypeError, lambda: ef.Region("a", 0, 1, 1))
    for value in (ef.Quantization.per_tensor(0.5, 1), ef.Rect(1, 2, 3, 4),
                  ef.Colorimetry(space=ef.ColorSpace.Srgb)):
        assert pickle.loads(pickle.dumps(value)) == value and copy.deepcopy(value) == value


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="needs memfd")
def test_memory_that_can_shrink_is_sealed_or_refused_where_it_is_asked_for():
    processor = ef.ImageProcessor()
    calls = (lambda fd, **more: ef.Tensor.from_fd(fd, [4096], "uint8", **more),
             lambda fd, **more: processor.import_image(fd, 64, 64, ef.PixelFormat.Grey, **more))
    for call in calls:
        sealable = os.memfd_create("other", os.MFD_ALLOW_SEALING)
        sealed_for_ever = os.memfd_create("other", 0)
        try:
            for fd in (sealable, sealed_for_ever):
                os.ftruncate(fd, 4096)
                assert call(fd).shape is not None
            with pytest.raises(ef.Error, match="require_sealed") as caught:
                call(sealed_for_ever, require_sealed=True)
            assert caught.value.code == "permission"
            call(sealable, require_sealed=True)
            fails(PermissionError, lambda: os.ftruncate(sealable, 1))
        finally:
            os.close(sealable)
            os.close(sealed_for_ever)


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="needs memfd")
def test_descriptors_are_duplicated():
    t = ef.Tensor([4096], "uint8", ef.TensorMemory.SHM)
    np.asarray(t)[:4] = [1, 2, 3, 4]
    one, two = t.fd, t.fd
    assert one != two
    other = ef.Tensor.from_fd(one, [1024], "uint32", name="y")
    os.close(one)
    os.close(two)
    assert other.name == "y" and other.memory == ef.TensorMemory.SHM
    assert bytes(np.asarray(other)[:1]) == b"\1\2\3\4"
    del t
    assert np.asarray(other)[0] == 0x04030201
    fails(RuntimeError, lambda: ef.Tensor([4], mem=MEM).fd)
    fails(RuntimeError, lambda: other.dmabuf_clone())
    for fd in (-1, 10**6):
        fails(RuntimeError, lambda: ef.Tensor.from_fd(fd, [4]))
    read, write = os.pipe()
    try:
        fails(RuntimeError, lambda: ef.Tensor.from_fd(read, [4]))
    finally:
        os.close(read)
        os.close(write)


def test_a_map_of_bfloat16_is_an_array_of_its_own_memory():
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="NumPy has no bfloat16 of its own")
    tensor = ef.Tensor([2, 3], "bfloat16", ef.TensorMemory.MEM)
    tensor.fill(0)
    mapped = tensor.map()
    array = np.asarray(mapped)
    assert array.dtype == ml_dtypes.bfloat16 and array.shape == (2, 3)
    array[1, 2] = 1.5
    assert mapped[5] == 1.5 and list(mapped) == [0] * 5 + [1.5] and list(tensor.map())[5] == 1.5
    assert mapped.array().dtype == ml_dtypes.bfloat16
    with pytest.raises(BufferError, match="view"):
        mapped.unmap()  # the array looks at it
    assert np.asarray(mapped, dtype=np.float32).dtype == np.float32
    copied = np.array(mapped)
    copied[0, 0] = 7
    assert mapped[0] == 0
    del array
    mapped.unmap()
    fails(BufferError, lambda: np.asarray(mapped))
