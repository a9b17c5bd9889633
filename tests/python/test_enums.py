# SPDX-License-Identifier: Apache-2.0
"""Enumerations: numbers, names, texts, and what they accept."""
import copy
import enum
import json
import pickle

import pytest

import halyard as ef

# Class: members in the order of their numbers, as programs store them.
NUMBERS = {
    "PixelFormat": (1, "Rgb Rgba Bgra Grey Yuyv Vyuy Nv12 Nv16 PlanarRgb PlanarRgba Nv24"),
    "TensorMemory": (0, "DMA SHM PBO MEM"),
    "Normalization": (0, "DEFAULT SIGNED UNSIGNED RAW"),
    "Rotation": (0, "Rotate0 Clockwise90 Rotate180 CounterClockwise90"),
    "Flip": (0, "NoFlip Horizontal Vertical"),
    "ColorMode": (0, "Class Instance Track"),
    "EglDisplayKind": (0, "Gbm PlatformDevice Default"),
    "Nms": (0, "ClassAgnostic ClassAware Auto"),
    "DecoderType": (0, "Ultralytics ModelPack"),
    "DecoderVersion": (0, "Yolov5 Yolov8 Yolo11 Yolo26"),
    "DimName": (0, "Batch Height Width NumClasses NumFeatures NumBoxes NumProtos "
                   "NumAnchorsXFeatures Padding BoxCoords"),
    "Fit": (0, "Stretch Letterbox"),
    "MatchMetric": (0, "Iou Ios"),
    "ColorSpace": (0, "Bt709 Bt2020 Srgb Smpte170m"),
    "ColorTransfer": (0, "Bt709 Srgb Pq Hlg Linear"),
    "ColorEncoding": (0, "Bt601 Bt709 Bt2020"),
    "ColorRange": (0, "Full Limited"),
    "DctMethod": (0, "Accurate Fast"),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_members_have_the_numbers_that_programs_store(name):
    kind = getattr(ef, name)
    assert issubclass(kind, enum.IntEnum) and kind.__module__ == "halyard"
    first, members = NUMBERS[name]
    for number, member in enumerate(members.split(), first):
        item = getattr(kind, member)
        assert (item, int(item), item.value, item.name) == (number, number, number, member)
        assert str(item) == repr(item) == f"{item}" == f"{name}.{member}"
        assert kind(number) is item and kind(member.upper()) is item
        assert pickle.loads(pickle.dumps(item)) is item and copy.deepcopy(item) is item
    assert len({*kind}) == len(kind)  # hashable, and numbers are not used twice


@pytest.mark.parametrize("text, member", [
    ("RGB", "Rgb"), ("RGB ", "Rgb"), ("yuyv", "Yuyv"), ("Y800", "Grey"), ("GRAY", "Grey"),
    ("8BPS", "PlanarRgb"), ("PLANAR_RGB", "PlanarRgb"), ("PLANARRGBA", "PlanarRgba"),
    ("nv12", "Nv12"), ("bgr", "Bgr"), ("i420", "I420")])
def test_formats_by_name(text, member):
    assert ef.PixelFormat(text) is ef.PixelFormat[member]


@pytest.mark.parametrize("value", ["nosuch", "", 0, 99, -1, None, 1.5])
def test_no_such_member(value):
    with pytest.raises(RuntimeError, match="PixelFormat"):
        ef.PixelFormat(value)
    with pytest.raises(ValueError):
        ef.PixelFormat(value)


def test_rotation_names_and_degrees():
    assert ef.Rotation.Rotate90 is ef.Rotation.Clockwise90
    assert ef.Rotation.Rotate270 is ef.Rotation.CounterClockwise90
    assert [int(ef.Rotation.degrees_clockwise(a)) for a in (0, 90, 180, 270, 360, 450)] == [
        0, 1, 2, 3, 0, 1]
    with pytest.raises(ValueError, match="angle"):
        ef.Rotation.degrees_clockwise(45)
    with pytest.raises(OverflowError):
        ef.Rotation.degrees_clockwise(-90)
    with pytest.raises(TypeError):
        ef.Rotation.degrees_clockwise(90.0)


def test_numbers_in_texts():
    assert json.dumps({"kind": ef.EglDisplayKind.Default}) == '{"kind": 2}'
    assert f"{ef.PixelFormat.Rgb:02d} {ef.PixelFormat.Rgb:>16}" == "01  PixelFormat.Rgb"


def test_all_public_names_are_there():
    assert [name for name in ef.__all__ if not hasattr(ef, name)] == []
