# SPDX-License-Identifier: Apache-2.0
"""Images that lie on their side: loaded with their orientation, converted and read upright."""
import struct

import numpy as np
import pytest

import halyard as ef
from helpers import fails

F = ef.PixelFormat
MEM = ef.TensorMemory.MEM
# What shows an image with the EXIF tag upright, in NumPy's words.
UPRIGHT = {1: lambda p: p, 2: lambda p: p[:, ::-1], 3: lambda p: p[::-1, ::-1],
           4: lambda p: p[::-1], 5: lambda p: p.swapaxes(0, 1),
           6: lambda p: p.swapaxes(0, 1)[:, ::-1], 7: lambda p: p[::-1, ::-1].swapaxes(0, 1),
           8: lambda p: p.swapaxes(0, 1)[::-1]}


@pytest.fixture(name="jpeg")
def _jpeg():
    y, x = np.mgrid[0:48, 0:64]
    t = ef.Tensor.from_array(np.stack([x * 4, y * 5, (x + y) * 2], -1).astype(np.uint8))
    t.set_format(F.Rgb)
    return t.to_jpeg(quality=95)


def with_exif(tag, jpeg):
    tiff = struct.pack("<2sHI HHHIHH I", b"II", 42, 8, 1, 0x112, 3, 1, tag, 0, 0)
    block = b"Exif\0\0" + tiff
    return jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(block) + 2) + block + jpeg[2:]


@pytest.mark.parametrize("tag", range(1, 9))
def test_imread_is_upright_as_opencvs_is(tmp_path, jpeg, tag):
    path = tmp_path / "photo.jpg"
    path.write_bytes(with_exif(tag, jpeg))
    stored = ef.imread(path, raw=True)
    assert stored.shape == (48, 64, 3)
    upright = ef.imread(path)
    assert np.array_equal(upright, UPRIGHT[tag](stored))
    assert ef.imread(path, F.Grey).shape[:2] == upright.shape[:2]
    cv2 = pytest.importorskip("cv2")
    assert np.array_equal(ef.imread(path, F.Bgr), cv2.imread(str(path)))
    raw = cv2.imread(str(path), cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION)
    assert np.array_equal(ef.imread(path, F.Bgr, raw=True), raw)


@pytest.mark.parametrize("tag", range(1, 9))
@pytest.mark.parametrize("format", [None, F.Rgb, F.Yuyv])
def test_loaded_images_are_converted_upright(tmp_path, jpeg, tag, format):
    path = tmp_path / "photo.jpg"
    path.write_bytes(with_exif(tag, jpeg))
    frame = ef.load(path, format)
    assert (frame.width, frame.height) == (64, 48)
    assert frame.upright_size == ((64, 48) if tag < 5 else (48, 64))
    shown = ef.Tensor.image(*frame.upright_size, F.Rgb, mem=MEM)
    placed = ef.ImageProcessor().convert(frame, shown)
    assert np.abs(np.asarray(shown).astype(int) - ef.imread(path)).mean() < 4
    assert shown.orientation == (ef.Flip.NoFlip, ef.Rotation.Rotate0)
    assert placed.source == frame.upright_size
    assert placed.to_source([1, 2, 30, 40]).tolist() == [1, 2, 30, 40]
    # Pixels as they are stored, where that is asked for.
    stored = ef.Tensor.image(64, 48, F.Rgb, mem=MEM)
    ef.ImageProcessor().convert(frame, stored, orientation="raw")
    assert np.abs(np.asarray(stored).astype(int) - ef.imread(path, raw=True)).mean() < 4


def test_files_that_are_saved_say_how_they_lie(tmp_path, jpeg):
    for tag in range(1, 9):
        path = tmp_path / "photo.jpg"
        path.write_bytes(with_exif(tag, jpeg))
        frame = ef.load(path, F.Rgb)
        frame.save_png(tmp_path / "a.png")
        frame.save_jpeg(tmp_path / "a.jpg")
        for name in ("a.png", "a.jpg"):
            assert ef.load(tmp_path / name).orientation == frame.orientation
        assert np.array_equal(ef.imread(tmp_path / "a.png"), ef.imread(path))
        assert np.array_equal(ef.imread(tmp_path / "a.png"),
                              _png(frame._repr_png_(), tmp_path / "shown.png"))


def _png(data, path):
    path.write_bytes(data)
    return ef.imread(path, raw=True)


def test_decode_image_reports_and_leaves_the_turn_to_its_caller(jpeg):
    t = ef.Tensor.image(64, 64, F.Rgba, mem=MEM)
    t.orientation = (ef.Flip.Horizontal, ef.Rotation.Rotate180)
    info = t.decode_image(with_exif(6, jpeg))
    assert (info.width, info.height, info.rotation_degrees) == (64, 48, 90)
    assert t.orientation == (ef.Flip.NoFlip, ef.Rotation.Rotate0)
    upright = ef.Tensor.image(48, 64, F.Rgb, mem=MEM)
    ef.ImageProcessor().convert(t, upright, rotation=ef.Rotation.Clockwise90)
    again = ef.Tensor.image(48, 64, F.Rgb, mem=MEM)
    ef.ImageProcessor().convert(t, again, orientation=info)
    assert np.array_equal(np.asarray(upright), np.asarray(again))


def test_the_orientation_is_a_property(jpeg):
    t = ef.Tensor.load_from_bytes(with_exif(7, jpeg))
    assert t.orientation == (ef.Flip.Horizontal, ef.Rotation.Clockwise90)
    assert t.copy().orientation == t.orientation
    t.orientation = None
    assert t.orientation == (ef.Flip.NoFlip, ef.Rotation.Rotate0)
    t.orientation = ef.Tensor.peek_image_info(with_exif(8, jpeg))
    assert t.orientation == (ef.Flip.NoFlip, ef.Rotation.CounterClockwise90)
    for wrong, kind in ((6, TypeError), ((ef.Flip.NoFlip,), TypeError), ("upright", ValueError)):
        with pytest.raises(kind, match="orientation"):
            t.orientation = wrong
    t.orientation = ("horizontal", 90)
    assert t.orientation == (ef.Flip.Horizontal, ef.Rotation.Clockwise90)
    t.orientation = "raw"
    assert t.orientation == (ef.Flip.NoFlip, ef.Rotation.Rotate0)
    t.orientation = (ef.Flip.NoFlip, ef.Rotation.CounterClockwise90)
    dst = ef.Tensor.image(64, 48, F.Rgb, mem=MEM)
    dst.orientation = t.orientation
    fails(ValueError, "dst: carries an orientation", lambda: ef.ImageProcessor().convert(t, dst))
