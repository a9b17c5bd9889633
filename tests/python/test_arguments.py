# SPDX-License-Identifier: Apache-2.0
"""Arguments whose own code raises, never ends or is no text: what reaches the program."""
import itertools
import json
import os
import pickle

import numpy as np
import pytest

import halyard as ef
import models
from helpers import fails, open_descriptors

F = ef.PixelFormat
MEM = ef.TensorMemory.MEM


class Raising:
    """Raises `error` from every conversion that Python knows."""

    def __init__(self, error):
        self.error = error

    def _raise(self, *args):
        raise self.error

    __index__ = __float__ = __int__ = __fspath__ = __getitem__ = __len__ = __iter__ = _raise
    __bool__ = _raise


class RaisingArray:
    """Raises `error` where NumPy asks for an array; NumPy itself hides what `__len__` raises."""

    def __init__(self, error):
        self.error = error

    def __array__(self, dtype=None, copy=None):
        raise self.error


class RaisingAttributes(Raising):
    def __getattr__(self, name):
        raise self.error


def image():
    return ef.Tensor.image(8, 8, "rgb", MEM)


def calls_with(bad):
    """Every kind of argument that is converted by its own code."""
    t = ef.Tensor([4, 3], "uint8", MEM)
    float_tensor = ef.Tensor([4, 3], "float32", MEM)
    p = ef.ImageProcessor()
    src, dst = image(), image()
    decoder = models.decoder()
    array = RaisingArray(bad.error)
    box = [0.0, 0.0, 1.0, 1.0]
    uuid = "0" * 32
    attributes = RaisingAttributes(bad.error)
    boxes, scores, classes = np.zeros((0, 4)), np.zeros(0), np.zeros(0, np.int64)
    config = ef.TilingConfig(8, 8)
    return {
        "shape": lambda: ef.Tensor(bad), "extent": lambda: ef.Tensor([bad, 3]),
        "reshape": lambda: t.reshape(bad), "index": lambda: t[bad], "keys": lambda: t[0, bad],
        "slice": lambda: t[bad:3], "batch": lambda: t.batch(bad),
        "image": lambda: ef.Tensor.image(bad, 4, "rgb"),
        "from_fd": lambda: ef.Tensor.from_fd(bad, [1]),
        "region": lambda: src.view(bad), "x": lambda: ef.Region(bad, 0, 1, 1),
        "rect": lambda: ef.Rect(0, bad, 1, 1),
        "letterbox": lambda: p.convert(src, dst, letterbox=bad),
        "colour": lambda: p.convert(src, dst, letterbox=[0, 0, bad, 255]),
        "source": lambda: p.convert(src, dst, source=bad),
        "antialias": lambda: p.convert(src, dst, antialias=bad),
        "mean": lambda: p.convert(src, dst, normalize=(bad, [1, 1, 1])),
        "std": lambda: p.convert(src, dst, normalize=([1, 1, 1], [1, bad, 1])),
        "threads": lambda: ef.ImageProcessor(threads=bad),
        "opacity": lambda: p.draw_decoded_masks(dst, boxes, scores, classes, opacity=bad),
        "boxes": lambda: p.draw_decoded_masks(dst, array, scores, classes),
        "scores": lambda: p.draw_decoded_masks(dst, boxes, array, classes),
        "classes": lambda: p.draw_decoded_masks(dst, boxes, scores, array),
        "draw letterbox": lambda: p.draw_decoded_masks(dst, boxes, scores, classes, letterbox=bad),
        "colors": lambda: p.set_class_colors(bad), "color": lambda: p.set_class_colors([bad]),
        "channel": lambda: p.set_class_colors([[1, 2, 3, bad]]),
        "tiling": lambda: p.plan_tiles(8, 8, attributes),
        "plan": lambda: p.plan_tiles(bad, 8, config),
        "path": lambda: ef.Tensor.load(bad), "save": lambda: src.save_png(bad),
        "quality": lambda: src.to_jpeg(bad), "compression": lambda: src.to_png(bad),
        "scale": lambda: t.set_quantization_per_tensor(bad, 0),
        "zero point": lambda: t.set_quantization_per_tensor(1.0, bad),
        "scales": lambda: t.set_quantization_per_channel(bad, [0] * 3, 1),
        "one scale": lambda: t.set_quantization_per_channel([1, 1, bad], [0] * 3, 1),
        "points": lambda: t.set_quantization_per_channel([1, 1, 1], bad, 1),
        "axis": lambda: t.set_quantization_per_channel_symmetric([1, 1, 1], bad),
        "per tensor": lambda: ef.Quantization.per_tensor(bad, 1),
        "per channel": lambda: ef.Quantization.per_channel([1, bad], [0, 0], 0),
        "score threshold": lambda: setattr(decoder, "score_threshold", bad),
        "iou threshold": lambda: setattr(decoder, "iou_threshold", bad),
        "max_det": lambda: setattr(decoder, "max_det", bad),
        "max_boxes": lambda: decoder.decode([float_tensor], bad),
        "input_dims": lambda: models.decoder(input_dims=bad),
        "input width": lambda: models.decoder(input_dims=(bad, 4)),
        "multi_label": lambda: models.decoder(multi_label=bad),
        "outputs": lambda: ef.Decoder.new_from_outputs(bad),
        "output shape": lambda: ef.Output.boxes(shape=bad),
        "dshape": lambda: ef.Output.boxes(dshape=[bad]),
        "output scale": lambda: ef.Output.boxes(shape=[1]).with_quantization(bad, 1),
        "anchors": lambda: ef.Output.detection(shape=[1]).with_anchors(bad),
        "anchor": lambda: ef.Output.detection(shape=[1]).with_anchors([[1, bad]]),
        "location": lambda: ef.TrackInfo(uuid, bad, 1, 0, 0),
        "coordinate": lambda: ef.TrackInfo(uuid, [0, 0, bad, 1], 1, 0, 0),
        "count": lambda: ef.TrackInfo(uuid, box, bad, 0, 0),
        "created": lambda: ef.TrackInfo(uuid, box, 1, bad, 0),
        "score": lambda: ef.ActiveTrackInfo(ef.TrackInfo(uuid, box, 1, 0, 0), box, bad, 1),
        "high_conf": lambda: ef.ByteTrack(bad), "lifespan": lambda: ef.ByteTrack(lifespan_ns=bad),
        "inertia": lambda: ef.OcSort(inertia=bad), "min_hits": lambda: ef.Sort(min_hits=bad),
        "overlap": lambda: ef.tile_grid(8, 8, 8, 8, bad),
        "frame": lambda: ef.tile_grid(bad, 8, 8, 8),
        "pad": lambda: ef.TilingConfig(8, 8, pad=bad),
        "array": lambda: t.__array__(copy=bad), "dlpack": lambda: t.__dlpack__(max_version=bad),
        "align": lambda: ef.align_width_for_gpu_pitch(bad, 3),
    }


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, MemoryError, ZeroDivisionError])
@pytest.mark.parametrize("name", calls_with(Raising(KeyError())))
def test_what_the_code_of_an_argument_raises_reaches_the_program(name, kind):
    error = kind("of the argument's own")
    raised = fails(kind, lambda: calls_with(Raising(error))[name]())
    assert raised is error


@pytest.mark.parametrize("name", calls_with(Raising(KeyError())))
def test_objects_of_the_wrong_type_are_type_errors(name):
    if name in ("antialias", "multi_label", "array"):
        pytest.skip("every object is true or false")
    with pytest.raises((TypeError, AttributeError)):
        calls_with(Raising(TypeError("no number")))[name]()


def test_the_type_error_of_a_conversion_is_kept_as_the_cause():
    with pytest.raises(TypeError, match="^n: must be an int, not Raising$") as raised:
        ef.Tensor([2, 2]).batch(Raising(TypeError("mine")))
    assert str(raised.value.__cause__) == "mine"


class Counted:
    """An endless sequence that counts what is read of it."""

    def __init__(self, item):
        self.item, self.read = item, 0

    def __iter__(self):
        for _ in itertools.count():
            self.read += 1
            yield self.item


def endless_calls():
    t = ef.Tensor([4, 3], "uint8", MEM)
    p = ef.ImageProcessor()
    src, dst = image(), image()
    none = np.zeros((0, 4)), np.zeros(0), np.zeros(0, np.int64)
    output = ef.Output.detection(shape=[1])
    return {  # what reads it, an item, the most items that may be read
        "shape": (ef.Tensor, 1, 9), "reshape": (t.reshape, 1, 9),
        "region": (src.view, 1, 5), "from_fd": (lambda s: ef.Tensor.from_fd(0, s), 1, 9),
        "letterbox": (lambda s: p.convert(src, dst, letterbox=s), 1, 5),
        "dst_color": (lambda s: p.convert(src, dst, dst_color=s), 1, 5),
        "mean": (lambda s: p.convert(src, dst, normalize=(s, [1, 1, 1])), 1, 4),
        "place": (lambda s: p.convert(src, dst, place=s), 1, 5),
        "draw letterbox": (lambda s: p.draw_decoded_masks(dst, *none, letterbox=s), 0.5, 5),
        "color": (lambda s: p.set_class_colors([s]), 1, 5),
        "scales": (lambda s: t.set_quantization_per_channel(s, [0] * 3, 1), 1.0, 4),
        "points": (lambda s: t.set_quantization_per_channel([1, 1, 1], s, 1), 1, 4),
        "all scales": (lambda s: ef.Quantization.per_channel_symmetric(s, 0), 1.0, 2**20 + 1),
        "input_dims": (lambda s: models.decoder(input_dims=s), 1, 3),
        "outputs": (ef.Decoder.new_from_outputs, output, 4097),
        "output shape": (lambda s: ef.Output.boxes(shape=s), 1, 9),
        "dshape": (lambda s: ef.Output.boxes(dshape=s), (ef.DimName.Batch, 1), 9),
        "dim": (lambda s: ef.Output.boxes(dshape=[s]), ef.DimName.Batch, 3),
        "anchors": (output.with_anchors, (1, 1), 4097),
        "anchor": (lambda s: output.with_anchors([s]), 1, 3),
        "location": (lambda s: ef.TrackInfo("0" * 32, s, 1, 0, 0), 1, 5),
        "frame_dims": (lambda s: ef.TiledFrameAccumulator(s, 1, ef.MergeConfig()), 1, 3),
        "pad": (lambda s: ef.TilingConfig(8, 8, pad=s), 1, 5),
        "origin": (lambda s: ef.TilePlacement(0, 1, s, (1, 1), (1, 1)), 1, 3),
        "shared strides": (lambda s: ef.Tensor._from_shared(
            0, ("uint8", [1], s, 0, 0, 0, None, [])), 1, 2),
    }


@pytest.mark.parametrize("name", endless_calls())
def test_sequences_are_read_up_to_the_first_item_too_many(name):
    call, item, most = endless_calls()[name]
    endless = Counted(item)
    fails((ValueError, TypeError), lambda: call(endless))
    assert endless.read <= most


def test_class_colours_are_read_as_far_as_they_are_taken():
    colors = Counted((1, 2, 3, 4))
    ef.ImageProcessor().set_class_colors(colors)
    assert colors.read == 21


def test_long_sequences_say_how_many_were_expected():
    fails(ef.InvalidArgumentError, r"1 to 8 axes \(more than 8\)", lambda: ef.Tensor(range(10**9)))
    with pytest.raises(ef.InvalidArgumentError, match=r"R G B A \(3\)"):
        ef.ImageProcessor().convert(image(), image(), letterbox=[1, 2, 3])


LATIN = os.fsdecode(b"\xff.jpg")


def test_messages_keep_their_class_whatever_bytes_they_carry(tmp_path):
    fails(FileNotFoundError, r"\\xff.jpg", lambda: ef.Tensor.load(LATIN))
    fails(ef.MissingFileError, lambda: ef.load(LATIN))
    for text in ('{"outputs": \u00e9}', '{"\u00e9', '["\x00\u00e9\u20ac\U0001f600'):
        fails(ef.DataError, lambda: ef.Decoder.new_from_json_str(text))
        fails(ef.Error, lambda: ef.Decoder.new_from_yaml_str(text))
    for text in ("a" + "\u00e9" * 60, "\u20ac" * 40, "\U0001f600" * 40):
        with pytest.raises(ef.DataError, match="\u00e9|\u20ac|\U0001f600") as raised:
            ef.TrackInfo(text, [0, 0, 1, 1], 1, 0, 0)
        assert "\\x" not in str(raised.value)
    with pytest.raises(ef.MissingFileError):
        image().save_png(os.path.join(str(tmp_path), "no", LATIN))
    with pytest.raises(ef.MissingFileError):
        with ef.Tracing(os.path.join(str(tmp_path), "no", LATIN)):
            pass


LONE = "\udcff"


@pytest.mark.parametrize("call", [
    lambda: ef.Tensor((4,), name=LONE), lambda: ef.Tensor.from_fd(0, (4,), name=LONE),
    lambda: ef.Tensor((4,))._set_name(LONE), lambda: ef.Decoder.new_from_json_str(LONE),
    lambda: ef.Decoder.new_from_yaml_str(LONE), lambda: ef.TrackInfo(LONE, [0] * 4, 1, 0, 0),
    lambda: ef.Tensor.image(4, 4, "rgb", access=LONE), lambda: ef.Tensor((4,), LONE),
    lambda: ef.Tensor.image(4, 4, LONE), lambda: ef.ImageProcessor().set_int8_interpolation(LONE),
    lambda: ef.ImageProcessor().create_image(4, 4, access=LONE),
    lambda: ef.ImageProcessor().create_image(4, 4, compression=LONE),
    lambda: ef.ImageProcessor().convert(image(), image(), normalize=LONE)])
def test_texts_with_lone_surrogates_are_value_errors(call):
    fails(ValueError, call)


def test_spans_show_any_text(tmp_path):
    path = tmp_path / "trace.json"
    with ef.Tracing(path):
        with ef.span("n", text="\u00e9" * 40, lone=LONE, **{LONE: 1}):
            pass
    shown = next(event for event in json.loads(path.read_bytes())["traceEvents"]
                 if event["name"] == "n")["args"]
    assert len(shown["text"]) % 23 == 0  # of 47 bytes, whole characters
    assert shown["lone"] == "\\udcff" and shown["\\udcff"] == 1


def test_wrong_types_inside_configurations_are_type_errors():
    class Config:
        metric, threshold, class_agnostic = ef.MatchMetric.Ios, "x", False
        max_det, score_threshold = 1, 0.0
        tile_w = tile_h = 8
        overlap, fit, pad = 0.2, ef.Fit.Stretch, "four"

    none = np.zeros((0, 4)), np.zeros(0), np.zeros(0, np.int64)
    fails(TypeError, lambda: ef.merge_tiled_detections(*none, Config()),
          lambda: ef.ImageProcessor().plan_tiles(8, 8, Config()),
          lambda: ef.Decoder.new_from_outputs([3]),
          lambda: setattr(ef.Tensor([4], "uint8"), "quantization", 3))


def shared():
    return ef.Tensor.image(8, 4, "nv12", ef.TensorMemory.SHM)


@pytest.mark.skipif(not ef.is_shm_available(), reason="needs shared memory")
def test_states_of_shared_tensors_are_checked_value_by_value():
    t = shared()
    state = t._shared_state()
    same = ef.Tensor._from_shared(t._borrowed_fd, state)
    assert (same.width, same.height, same.format) == (8, 4, F.Nv12)
    plain = ef.Tensor([4, 3], "uint8", ef.TensorMemory.SHM)
    assert ef.Tensor._from_shared(plain._borrowed_fd, plain._shared_state()).shape == (4, 3)
    files = open_descriptors()
    odd = [None, -1, 2**70, 2**63, "x", b"", (), [], {}, [[]], [(1,)], [(1, 2, 3)], [(-1, 2)],
           [(2**40, 64), (0, 64)], 1.5, [2**62] * 3, Raising(TypeError()), "nosuch", "rgb",
           "float64"]
    for tensor in (t, plain):
        whole, fd = tensor._shared_state(), tensor._borrowed_fd
        for count in range(9):
            if count != 8:
                fails(ValueError, "8 values", lambda: ef.Tensor._from_shared(fd, whole[:count]))
        fails(ValueError, lambda: ef.Tensor._from_shared(fd, whole + (1,)))
        for i in range(8):
            for value in odd:
                try:
                    made = ef.Tensor._from_shared(fd, whole[:i] + (value,) + whole[i + 1:])
                    np.asarray(made).sum()
                    made = None
                except (ef.Error, TypeError, ValueError, OverflowError, BufferError):
                    pass
        for number in (-1, 2**31, None, "x", 10**6):
            with pytest.raises((ef.Error, TypeError, OverflowError)):
                ef.Tensor._from_shared(number, whole)
    assert open_descriptors() == files
    assert np.asarray(t).shape == (6, 8)  # its own descriptor was not closed


def test_states_of_quantizations_are_checked():
    q = ef.Quantization.per_channel([1, 2], [3, 4], 0)
    assert pickle.loads(pickle.dumps(q)) == q
    symmetric = ef.Quantization.per_channel_symmetric([1, 2], 1)
    assert pickle.loads(pickle.dumps(symmetric)) == symmetric
    for state in ((), ([1],), ([1], [2], 3, 4), ([], [], None), ([1, 2], [1], 0), (1, 2, 3),
                  ([1, "x"], [], 0), ([1, 2], [0, 2**40], 0), ([1, 2], [], -1)):
        with pytest.raises((ef.Error, TypeError, OverflowError)):
            ef.Quantization.__new__(ef.Quantization).__setstate__(state)
