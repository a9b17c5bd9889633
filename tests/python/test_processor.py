# SPDX-License-Identifier: Apache-2.0
"""ImageProcessor: conversions against NumPy, placements, arguments, life."""
import os

import numpy as np
import pytest

import halyard as ef
from helpers import fails

F = ef.PixelFormat
MEM = ef.TensorMemory.MEM


def image(array, format):
    t = ef.Tensor.image(array.shape[1], array.shape[0], format, mem=MEM)
    np.asarray(t)[...] = array
    return t


@pytest.fixture(name="rgb")
def _rgb():
    return np.random.default_rng(7).integers(0, 256, (24, 32, 3), dtype=np.uint8)


@pytest.fixture(name="processor")
def _processor():
    with ef.ImageProcessor() as p:
        yield p


def test_channels(processor, rgb):
    out = ef.Tensor.image(32, 24, F.Rgba, mem=MEM)
    processor.convert(image(rgb, F.Rgb), out)
    assert np.array_equal(np.asarray(out)[..., :3], rgb) and (np.asarray(out)[..., 3] == 255).all()


@pytest.mark.parametrize("rotation, turns", [("Rotate0", 0), ("Clockwise90", -1),
                                             ("Rotate180", 2), ("CounterClockwise90", 1)])
@pytest.mark.parametrize("flip", list(ef.Flip))
def test_flip_then_rotation(processor, rgb, rotation, turns, flip):
    mirrored = {0: rgb, 1: rgb[:, ::-1], 2: rgb[::-1]}[int(flip)]
    want = np.rot90(mirrored, turns)
    out = ef.Tensor.image(want.shape[1], want.shape[0], F.Rgb, mem=MEM)
    processor.convert(image(rgb, F.Rgb), out, ef.Rotation[rotation], flip)
    assert np.array_equal(np.asarray(out), want)


def test_crop_and_rectangles(processor, rgb):
    src = image(rgb, F.Rgb)
    out = ef.Tensor.image(8, 6, F.Rgb, mem=MEM)
    for crop in ({"source": ef.Region(4, 5, 8, 6)}, {"src_crop": ef.Rect(4, 5, 8, 6)},
                 {"source": (4, 5, 8, 6)}):
        np.asarray(out)[...] = 0
        processor.convert(src, out, **crop)
        assert np.array_equal(np.asarray(out), rgb[5:11, 4:12])
    big = ef.Tensor.image(40, 40, F.Rgb, mem=MEM)
    big.fill(9)
    processor.convert(src, big, dst_crop=ef.Rect(3, 4, 32, 24))  # around it stays as it was
    assert np.array_equal(np.asarray(big)[4:28, 3:35], rgb) and (np.asarray(big)[:4] == 9).all()
    processor.convert(src, big, dst_crop=ef.Rect(3, 4, 32, 24), dst_color=[1, 2, 3, 255])
    assert np.array_equal(np.asarray(big)[4:28, 3:35], rgb)
    assert (np.asarray(big)[:4] == [1, 2, 3]).all()


def test_letterbox_and_placement(processor, rgb):
    out = ef.Tensor.image(64, 64, F.Rgb, mem=MEM)
    place = processor.convert(image(rgb, F.Rgb), out, letterbox=[10, 20, 30, 255])
    assert place.content == ef.Region(0, 8, 64, 48) and place.source == (32, 24)
    assert place.letterbox == (0.0, 0.125, 1.0, 0.875)
    a = np.asarray(out)
    assert (a[:8] == [10, 20, 30]).all() and (a[56:] == [10, 20, 30]).all()
    boxes = np.array([[0, 8, 64, 56], [16, 20, 32, 32]], np.float32)
    back = place.to_source(boxes)
    assert back.dtype == np.float32 and back.tolist() == [[0, 0, 32, 24], [8, 6, 16, 12]]
    assert np.array_equal(place.to_destination(back), boxes)
    assert place.points_to_source([[32, 32]]).tolist() == [[16, 12]]
    assert place.to_source([0, 8, 64, 56]).shape == (4,)
    assert place.to_source(np.zeros((0, 4))).shape == (0, 4)
    fails(RuntimeError, "boxes", lambda: place.to_source([[1, 2, 3]]))


def test_floats_and_filters(processor, rgb):
    src = image(rgb, F.Rgb)
    out = ef.Tensor([3, 24, 32], "float32", MEM)
    processor.convert(src, out)
    want = rgb.transpose(2, 0, 1) / np.float32(255)
    assert np.allclose(np.asarray(out), want, atol=1e-6)
    processor.convert(src, out, normalize=ef.Normalization.SIGNED, filter="nearest",
                      antialias=True, fit=ef.Fit.Stretch)
    assert np.allclose(np.asarray(out), want * 2 - 1, atol=1e-5)
    mean, std = (0.1, 0.2, 0.3), (0.4, 0.5, 0.6)
    processor.convert(src, out, normalize=(mean, std))
    shape = (3, 1, 1)
    assert np.allclose(np.asarray(out), (want - np.reshape(mean, shape)) / np.reshape(std, shape),
                       atol=1e-5)


def test_batch_elements_and_deferred(processor, rgb):
    batch = ef.Tensor([2, 24, 32, 3], "uint8", MEM)
    for i in range(2):
        slot = batch.batch(i)
        slot.set_format(F.Rgb)
        processor.convert_deferred(image(rgb + i, F.Rgb), slot)
    processor.flush()
    assert np.array_equal(np.asarray(batch), np.stack([rgb, rgb + 1]))


def test_fences_of_the_cpu(processor, rgb):
    src, out = image(rgb, F.Rgb), ef.Tensor.image(32, 24, F.Rgb, mem=MEM)
    assert processor.convert_with_fence(src, out) is None  # written when it returns
    want = np.array(out)
    other = ef.Tensor.image(32, 24, F.Rgb, mem=MEM)
    event = os.eventfd(1)
    try:
        assert processor.convert_with_fence(src, other, wait_for=event) is None
    finally:
        os.close(event)
    assert np.array_equal(np.asarray(other), want)
    for wrong in (event, 1 << 20):
        with pytest.raises(RuntimeError, match="sync_file: must be an open descriptor"):
            processor.convert_with_fence(src, other, wait_for=wrong)
    with pytest.raises(RuntimeError, match="wait_for: must not be negative"):
        processor.convert_with_fence(src, other, wait_for=-1)
    with pytest.raises(TypeError):
        processor.convert_with_fence(src, other, wait_for="event")


def test_wrong_keywords_are_told_the_nearest_one(processor, rgb):
    src, out = image(rgb, F.Rgb), ef.Tensor.image(32, 24, F.Rgb, mem=MEM)
    for call in (processor.convert, processor.convert_deferred, processor.explain):
        with pytest.raises(TypeError, match=r"argument 'fitt'; did you mean 'fit'\?$"):
            call(src, out, fitt="letterbox")
        with pytest.raises(TypeError, match="did you mean 'letterbox'"):
            call(src, out, leterbox=[0, 0, 0, 255])
    assert "others" not in processor.convert.__doc__


def test_wrong_arguments(processor, rgb):
    src, out = image(rgb, F.Rgb), ef.Tensor.image(32, 24, F.Rgb, mem=MEM)
    for kind, args, options in [
            (RuntimeError, (src, src), {}),
            (RuntimeError, (src, out), {"source": ef.Region(0, 0, 99, 9)}),
            (RuntimeError, (src, out), {"source": ef.Region(0, 0, 9, 9),
                                        "src_crop": ef.Rect(0, 0, 9, 9)}),
            (RuntimeError, (src, out), {"dst_crop": ef.Rect(30, 0, 9, 9)}),
            (ValueError, (src, out), {"letterbox": [1, 2, 3]}),
            (OverflowError, (src, out), {"letterbox": [1, 2, 3, 256]}),
            (OverflowError, (src, out), {"letterbox": [1, 2, 3, -1]}),
            (TypeError, (src, out), {"letterbox": 5}), (ValueError, (src, out), {"rotation": 1}),
            (TypeError, (src, out), {"flip": None}), (TypeError, (src, out), {"nosuch": 1}),
            (TypeError, (None, out), {}), (TypeError, (src, rgb), {}), (TypeError, (src,), {}),
            (RuntimeError, (ef.Tensor([2, 2]), out), {})]:
        before = bytes(np.asarray(out))
        fails(kind, lambda: processor.convert(*args, **options))
        assert bytes(np.asarray(out)) == before


def test_create_and_import(processor, rgb):
    t = processor.create_image(100, 10)
    assert (t.format, t.shape, t.dtype) == (F.Rgba, (10, 100, 4), "uint8")
    assert processor.create_image(8, 8, F.PlanarRgb, "float32").shape == (3, 8, 8)
    for options in ({"access": "x"}, {"dtype": "x"}, {"compression": "x"},
                    {"compression": "any", "access": "read"}):
        fails(RuntimeError, lambda: processor.create_image(8, 8, **options))
    for fd in (-1, 10**6):
        fails(RuntimeError, "fd|descriptor", lambda: processor.import_image(fd, 8, 8, F.Rgb))
    shm = ef.Tensor([64 * 48 * 2], "uint8", ef.TensorMemory.SHM)
    fd = shm.fd
    try:
        seen = processor.import_image(fd, 32, 24, F.Rgb, "uint8", stride=128, offset=64)
        np.asarray(seen)[...] = rgb
        assert seen.row_stride == 128
        assert np.array_equal(np.asarray(shm)[64:64 + 96], rgb[0].ravel())
        fails(RuntimeError, lambda: processor.import_image(fd, 32, 24, F.Rgb, stride=95))
        fails(RuntimeError, lambda: processor.import_image(fd, 3200, 24, F.Rgb))
        fails(RuntimeError, lambda: processor.import_image(fd, 32, 24, F.Rgb, chroma_fd=fd))
        two = processor.import_image(fd, 32, 24, F.Nv12, chroma_fd=fd, chroma_offset=2048,
                                     colorimetry=ef.Colorimetry(range=ef.ColorRange.Full))
        assert two.colorimetry.range is ef.ColorRange.Full
    finally:
        os.close(fd)


def test_explain_and_close(rgb):
    p = ef.ImageProcessor(ef.EglDisplayKind.Default, threads=1)
    src, out = image(rgb, F.Rgb), ef.Tensor.image(8, 8, F.Rgb, mem=MEM)
    assert "cpu" in p.explain(src, out)
    p.close()
    p.close()
    fails(RuntimeError, "closed", lambda: p.convert(src, out), p.flush, lambda: p.explain(src, out))


def test_backends_by_name(rgb, monkeypatch):
    src = image(rgb, F.Rgb)
    out, expected = (ef.Tensor.image(8, 8, F.Rgb, mem=MEM) for _ in range(2))
    ef.ImageProcessor(backend="cpu").convert(src, expected)
    fails(ValueError, lambda: ef.ImageProcessor(backend="nosuch"))
    monkeypatch.setenv("HALYARD_ALLOW_SOFTWARE_GL", "1")
    displays = ef.probe_egl_displays()
    assert all(isinstance(d.kind, ef.EglDisplayKind) and d.description for d in displays)
    if not displays:
        pytest.skip("no OpenGL ES on this machine")
    p = ef.ImageProcessor(displays[0].kind, backend="opengl")
    assert p.explain(src, out).startswith("opengl: runs it")
    p.convert(src, out)
    difference = np.asarray(out).astype(int) - np.asarray(expected)
    assert abs(difference).max() <= 1
    made = p.create_image(16, 8, F.Rgb)
    assert made.memory in (ef.TensorMemory.PBO, ef.TensorMemory.DMA)


def test_a_backend_that_is_not_there(monkeypatch):
    ef.ImageProcessor().close()
    monkeypatch.setenv("EDGEFIRST_FORCE_BACKEND", "nosuch")
    fails(RuntimeError, "nosuch", lambda: ef.ImageProcessor())
    monkeypatch.setenv("EDGEFIRST_FORCE_BACKEND", "cpu")
    ef.ImageProcessor().close()


def test_no_backend_at_all(monkeypatch):
    for name in ("GL", "G2D", "CPU"):
        monkeypatch.setenv(f"EDGEFIRST_DISABLE_{name}", "1")
    p = ef.ImageProcessor()
    a, b = (ef.Tensor.image(8, 8, F.Rgb) for _ in range(2))
    fails(RuntimeError, "HALYARD_DISABLE_CPU", lambda: p.convert(a, b))


def test_widths_for_the_gpu():
    for args, width in [((3004, 4), 3008), ((0, 4), 0), ((595, 3), 640), ((595, 64), 595)]:
        assert ef.align_width_for_gpu_pitch(*args) == width
    for format in (F.Rgba, F.Nv12, F.Rgb, F.PlanarRgb, F.Yuyv):
        assert ef.align_width_for_pixel_format(3004, format) == 3008
    fails(OverflowError, lambda: ef.align_width_for_gpu_pitch(-1, 3))
    fails(RuntimeError, lambda: ef.align_width_for_pixel_format(8, F.Rgb, "nosuch"))
    assert ef.gpu_dma_buf_pitch_alignment_bytes() == 64


def test_about_the_machine():
    for name in ("dma", "shm", "gpu_buffer", "iosurface", "cuda", "v4l2"):
        assert isinstance(getattr(ef, f"is_{name}_available")(), bool)
    assert ef.is_iosurface_available() is False
    assert ef.version() == ef.__version__ and len(ef.build_info().splitlines()) == 2
