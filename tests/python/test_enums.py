# SPDX-License-Identifier: Apache-2.0
"""Enumerations: numbers, names, texts, and what they accept."""
import copy
import enum
import json
import os
import pathlib
import pickle
import subprocess
import sys
import typing

import pytest

import halyard as ef
from helpers import fails

# Class: members in the order of their numbers, as programs store them.
NUMBERS = {
    "PixelFormat": (1, "Rgb Rgba Bgra Grey Yuyv Vyuy Nv12 Nv16 PlanarRgb PlanarRgba Nv24"),
    "TensorMemory": (0, "DMA SHM PBO MEM"),
    "Normalization": (0, "DEFAULT SIGNED UNSIGNED RAW"),
    "Rotation": (0, "Rotate0 Clockwise90 Rotate180 CounterClockwise90"),
    "Flip": (0, "NoFlip Horizontal Vertical"),
    "ColorMode": (0, "Class Instance Track"),
    "EglDisplayKind": (0, "Gbm PlatformDevice Default Surfaceless"),
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
    fails(RuntimeError, "PixelFormat", lambda: ef.PixelFormat(value))
    fails(ValueError, lambda: ef.PixelFormat(value))


def test_rotation_names_and_degrees():
    assert ef.Rotation.Rotate90 is ef.Rotation.Clockwise90
    assert ef.Rotation.Rotate270 is ef.Rotation.CounterClockwise90
    assert [int(ef.Rotation.degrees_clockwise(a)) for a in (0, 90, 180, 270, 360, 450)] == [
        0, 1, 2, 3, 0, 1]
    fails(ValueError, "angle", lambda: ef.Rotation.degrees_clockwise(45))
    fails(OverflowError, lambda: ef.Rotation.degrees_clockwise(-90))
    fails(TypeError, lambda: ef.Rotation.degrees_clockwise(90.0))


def test_numbers_in_texts():
    assert json.dumps({"kind": ef.EglDisplayKind.Default}) == '{"kind": 2}'
    assert f"{ef.PixelFormat.Rgb:02d} {ef.PixelFormat.Rgb:>16}" == "01  PixelFormat.Rgb"


@pytest.mark.parametrize("old, new, message", [
    ("    TopLeft = 3\n", "", "<enum 'Fit'>: no member for top_left"),
    ("    TopLeft = 3\n", "    TopLeft = 3\n    Tile = 4\n",
     "Fit.Tile: there is no such enumerator")])
def test_members_that_differ_from_the_enumerators_cannot_be_imported(tmp_path, old, new, message):
    (tmp_path / "halyard").mkdir()
    package = pathlib.Path(ef.__file__).parent
    for file in package.glob("*.*"):
        (tmp_path / "halyard" / file.name).symlink_to(file.resolve())
    for libraries in package.parent.glob("halyard*.libs"):  # of a wheel
        (tmp_path / libraries.name).symlink_to(libraries.resolve())
    changed = tmp_path / "halyard/_enums.py"
    text = changed.read_text()
    assert old in text
    changed.unlink()
    changed.write_text(text.replace(old, new))
    done = subprocess.run([sys.executable, "-B", "-c", "import halyard"], capture_output=True,
                          text=True, timeout=60, env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert done.returncode == 1 and message in done.stderr, done.stderr


def test_all_public_names_are_there():
    assert [name for name in ef.__all__ if not hasattr(ef, name)] == []


KINDS = [name for name in ef._enums.__all__]


@pytest.mark.parametrize("name", KINDS)
def test_every_member_has_a_word_that_type_checkers_know(name):
    kind = getattr(ef, name)
    typed = getattr(ef.typing, f"{name}Like")
    assert typing.get_args(typed)[0] is kind
    words = [word for word in typing.get_args(typing.get_args(typed)[1]) if isinstance(word, str)]
    assert [kind(word) for word in kind._word_list()] == list(kind)
    assert set(kind._word_list()) <= set(words) and {kind(word) for word in words} == set(kind)


@pytest.mark.parametrize("word, near", [
    ("rbg", "rgb"), ("RGBX", "rgb"), ("planer_rgb", "planar_rgb"), ("nv-21x", "nv21"),
    ("bayer_rgbg", "bayer_rggb"), ("yuyw", "yuyv")])
def test_a_wrong_word_is_told_the_nearest_one(word, near):
    for call in (ef.PixelFormat, lambda w: ef.Tensor.image(4, 4, w)):
        caught = fails(ef.InvalidArgumentError, lambda: call(word))
        text = str(caught)
        assert f"{word!r} is not a known pixel format; did you mean '{near}" in text
        assert "(rgb, rgba, bgra," in text and isinstance(caught, ValueError)
    fails(ValueError, r"^format: 'zzzzzz' is not a known pixel format \(rgb",
          lambda: ef.Tensor.image(4, 4, "zzzzzz"))
    fails(ValueError, "^format: ", lambda: ef.Tensor.image(4, 4, "x" * 10**6))


def test_calls_take_words_for_members():
    src, dst = ef.Tensor.image(8, 8, "rgb", "mem"), ef.Tensor.image(8, 4, "grey", "heap")
    assert src.memory is dst.memory is ef.TensorMemory.MEM
    processor = ef.ImageProcessor()
    for options in ({"fit": "letterbox"}, {"rotation": "clockwise90"}, {"rotation": 90},
                    {"rotation": -90}, {"rotation": "none", "flip": "horizontal"},
                    {"filter": "bicubic"}, {"letterbox_rule": "ultralytics"},
                    {"orientation": ("none", 180)}):
        members = {key: kind(value) if isinstance(value, str) else value for (key, value), kind in
                   zip(options.items(), [{"fit": ef.Fit, "rotation": ef.Rotation, "flip": ef.Flip,
                                          "filter": ef.Filter, "letterbox_rule": ef.LetterboxRule,
                                          "orientation": tuple}[key] for key in options])}
        members.update({"rotation": ef.Rotation._of_degrees(options["rotation"], "rotation")}
                       if isinstance(options.get("rotation"), int) else {})
        assert repr(processor.convert(src, dst, **options)) == repr(
            processor.convert(src, dst, **members))
    small = ef.Tensor.image(4, 4, "planar_rgb", dtype="float32")
    processor.convert(src, small, normalize="signed")
    c = ef.Colorimetry("srgb", "linear", "bt601", "full")
    assert (c.space, c.range) == (ef.ColorSpace.Srgb, ef.ColorRange.Full)
    src.normalize_to_numpy(__import__("numpy").zeros((8, 8, 3), "int8"), "signed")
    assert ef.TilingConfig(8, 8, fit="letterbox").fit is ef.Fit.Letterbox
    assert ef.MergeConfig("iou").metric is ef.MatchMetric.Iou
    output = ef.Output.detection(dshape=[("batch", 1), ("num_features", 9), ("num_boxes", 400)],
                                 decoder="ultralytics")
    decoder = ef.Decoder.new_from_outputs([output], nms="class_agnostic", decoder_version="yolov8")
    assert decoder.nms is ef.Nms.ClassAgnostic


@pytest.mark.parametrize("call, text", [
    (lambda p, a, b: p.convert(a, b, fit="leterbox"), "fit: 'leterbox' is not .*'letterbox'"),
    (lambda p, a, b: p.convert(a, b, flip="horizonal"), "flip: .*did you mean 'horizontal'"),
    (lambda p, a, b: p.convert(a, b, rotation="clockwise"), "rotation: .*'clockwise90'"),
    (lambda p, a, b: p.convert(a, b, rotation=45), "rotation: must be a multiple of 90"),
    (lambda p, a, b: p.convert(a, b, filter="cubic"), "filter: .*did you mean 'bicubic'"),
    (lambda p, a, b: p.convert(a, b, normalize="imagnet"), "normalize: .*did you mean 'imagenet'"),
    (lambda p, a, b: p.convert(a, b, orientation="rwa"), "orientation: .*did you mean 'raw'"),
    (lambda p, a, b: ef.Tensor([1], mem="smh"), "mem: 'smh' is not .*did you mean 'shm'"),
    (lambda p, a, b: ef.Tensor.image(4, 4, "rgb", access="readwrit"), "access: .*'readwrite'"),
    (lambda p, a, b: p.create_image(4, 4, compression="afcb"), "compression: .*'afbc'"),
    (lambda p, a, b: ef.Topic("x", role="publsher"), "role: .*did you mean 'publisher'"),
    (lambda p, a, b: ef.TensorPoolConfig(scrub="on_fre"), "scrub: .*did you mean 'on_free'"),
    (lambda p, a, b: p.set_int8_interpolation("biliner"), "mode: .*did you mean 'bilinear'"),
    (lambda p, a, b: ef.Image(4, 4, "mono9"), "encoding: .*did you mean 'mono8'")])
def test_wrong_words_name_the_argument_and_the_nearest_word(call, text):
    with pytest.raises(ValueError, match=text):
        call(ef.ImageProcessor(), ef.Tensor.image(4, 4, "rgb"), ef.Tensor.image(4, 4, "rgb"))
