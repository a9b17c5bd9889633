# SPDX-License-Identifier: Apache-2.0
"""Arrays of others as every call takes them: what exporters leave out, contradict or repeat, and
arrays that change while Python code of another argument runs."""
import contextlib
import ctypes
import io
import mmap
from array import array

from helpers import fails
import models
import numpy as np
import pytest
from exporter import Exporter
from numpy.lib.stride_tricks import as_strided

import halyard as ef

MEM = ef.TensorMemory.MEM
PIXELS = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3)


def image(width=6, height=4, pixel_format="rgb"):
    t = ef.Tensor.image(width, height, pixel_format, mem=MEM)
    t.fill(0)
    return t


def ctypes_array(values, kind):
    """The values as nested ctypes arrays, which export no strides."""
    values = np.ascontiguousarray(values)
    for extent in reversed(values.shape):
        kind = kind * extent
    return kind.from_buffer_copy(values.tobytes())


def scores_and_labels(kind=np.asarray):
    return kind(np.array([0.9, 0.8], np.float32)), kind(np.array([1, 0], np.int64))


# Every call that takes an array: what is called with it, and the array that it takes.
BOXES = np.array([[0.1, 0.1, 0.4, 0.4], [0.5, 0.5, 0.9, 0.9]], np.float32)
TAKERS = {
    "from_array": (lambda a: np.asarray(ef.Tensor.from_array(a)).tolist(), BOXES),
    "from_numpy": (lambda a: filled([2, 4], "float32", a), BOXES),
    "decode": (lambda a: [x.tolist() for x in models.arrays(models.decoder().decode([a]))],
               models.detection_output()),
    "decode_proto": (lambda a: [x.tolist() for x in models.decoder().decode_proto([a])[:3]],
                     models.detection_output()),
    "track": (lambda a: [t.tracked_location if t else None for t in
                         ef.ByteTrack().update(a, *scores_and_labels(), 1)], BOXES),
    "sort": (lambda a: len(ef.Sort().update(a, *scores_and_labels(), 1)), BOXES),
    "merge": (lambda a: [x.tolist() for x in ef.merge_tiled_detections(
        a, *scores_and_labels(), ef.MergeConfig())], BOXES),
    "boxes": (lambda a: drawn(a, ()), BOXES),
    "masks": (lambda a: drawn(BOXES, [a]), np.full((5, 5, 1), 255, np.uint8)),
    "background": (lambda a: drawn(BOXES, (), background=as_image(a)), PIXELS),
    "to_source": (lambda a: placement().to_source(a).tolist(), BOXES),
    "to_destination": (lambda a: placement().to_destination(a).tolist(), BOXES),
    "points": (lambda a: placement().points_to_source(a).tolist(), BOXES[:, :2].copy()),
    "normalize": (lambda a: normalized(a), np.zeros((4, 6, 3), np.float32)),
    "draw_into": (lambda a: painted(a), np.zeros((4, 6, 3), np.uint8)),
}


def filled(shape, dtype, source):
    t = ef.Tensor(shape, dtype, MEM)
    t.from_numpy(source)
    return np.asarray(t).tolist()


def as_image(a):
    t = ef.Tensor.from_array(a)
    t.set_format("rgb")
    return t


def drawn(boxes, seg, background=None):
    t = image()
    ef.ImageProcessor().draw_decoded_masks(t, boxes, *scores_and_labels(), seg, background)
    return bytes(t)


def painted(a):
    t = ef.Tensor.from_array(a)
    t.set_format("rgb")
    ef.ImageProcessor().draw_decoded_masks(t, BOXES, *scores_and_labels())
    return bytes(memoryview(a).cast("B") if not isinstance(a, np.ndarray) else a)


def placement():
    return ef.ImageProcessor().convert(image(), image(12, 8))


def normalized(a):
    t = image()
    t.from_numpy(PIXELS)
    t.normalize_to_numpy(a, ef.Normalization.RAW)
    return np.asarray(a).tolist()


@pytest.mark.parametrize("name", TAKERS)
def test_arrays_of_ctypes_are_taken_by_every_call(name):
    call, values = TAKERS[name]
    kind = {"f": ctypes.c_float, "B": ctypes.c_uint8}[values.dtype.char]
    want = call(values.copy())
    assert call(ctypes_array(values, kind)) == want
    assert call(memoryview(ctypes_array(values, kind))) == want


@pytest.mark.parametrize("name", TAKERS)
def test_every_call_reads_arrays_without_strides_or_with_any(name):
    call, values = TAKERS[name]
    want = call(values.copy())
    spread = np.zeros([2 * n for n in values.shape], values.dtype)[tuple([slice(None, None, 2)] *
                                                                         values.ndim)]
    flipped = values.copy()[::-1].copy()[::-1]
    fortran = np.asfortranarray(values)
    spread[...] = values
    for same in (flipped, fortran, spread):
        if name in ("background", "draw_into") and not same.flags.c_contiguous:
            continue  # no images
        assert call(same) == want
    code = values.dtype.char.encode()
    lacks = Exporter(values.shape, None, values.itemsize, code)
    ctypes.memmove(lacks.address, values.ctypes.data, values.nbytes)
    if name not in ("normalize", "draw_into"):
        assert call(lacks) == want
    assert lacks.out == 0


@pytest.mark.parametrize("kind, dtype", [
    (ctypes.c_uint8, "uint8"), (ctypes.c_int8, "int8"), (ctypes.c_uint16, "uint16"),
    (ctypes.c_int16, "int16"), (ctypes.c_uint32, "uint32"), (ctypes.c_int32, "int32"),
    (ctypes.c_uint64, "uint64"), (ctypes.c_int64, "int64"), (ctypes.c_long, "int64"),
    (ctypes.c_float, "float32"), (ctypes.c_double, "float64"), (ctypes.c_bool, "bool")])
def test_element_types_of_ctypes(kind, dtype):
    a = (kind * 3)(1, 0, 1)
    t = ef.Tensor.from_array(a)
    assert (t.dtype, t.shape, np.asarray(t).tolist()) == (dtype, (3,), [1, 0, 1])
    t.map()[1] = 1
    assert list(a) == [1, 1, 1]


def test_other_exporters_of_the_standard_library():
    want = [1.0, 2.0, 3.0]
    file = mmap.mmap(-1, 12)
    file[:] = np.array(want, np.float32).tobytes()
    stream = io.BytesIO(bytes(file))
    for a in (array("f", want), memoryview(file).cast("f"), stream.getbuffer().cast("f")):
        assert np.asarray(ef.Tensor.from_array(a)).tolist() == want
    assert ef.Tensor.from_array(file).shape == (12,)
    assert ef.Tensor.from_array(array("l", [1, -2])).dtype == "int64"


# What an exporter may say that is not so, and whether reading refuses it.
LIES = {
    "suboffsets": dict(suboffsets=(0,)), "nine axes": dict(shape=(1,) * 9, strides=(4,) * 9),
    "a negative extent": dict(shape=(-1,), strides=(4,), length=4),
    "a negative length": dict(length=-4), "a negative item": dict(itemsize=-4, length=16),
    "negative axes": dict(ndim=-1), "a shorter item": dict(itemsize=2, strides=(2,)),
    "a longer item": dict(itemsize=8, strides=(8,)), "another format": dict(format=b"d"),
    "an unknown format": dict(format=b"Zf"), "an empty format": dict(format=b""),
    "no format": dict(format=None), "items of no bytes": dict(itemsize=0, strides=(0,)),
    "another byte order": dict(format=b">f"), "a length beyond the shape": dict(length=1 << 40),
    "a shape beyond the length": dict(shape=(1 << 40,), length=16),
    "a product beyond 64 bits": dict(shape=(1 << 40, 1 << 40), strides=(4, 4), length=16),
    "strides beyond 64 bits": dict(strides=(1 << 62,)),
    "strides below address 0": dict(strides=(-(1 << 60),)),
    "strides at the least number": dict(shape=(2,), strides=(-1 << 63,)),
    "an end beyond the address space": dict(strides=(4,), address=(1 << 64) - 8),
    "no address": dict(address=None), "no owner": dict(is_owned=False),
    "no shape for two axes": dict(shape=None, ndim=2, length=16),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_buffer_that_contradicts_itself_is_refused_and_given_back(lie):
    e = Exporter(**LIES[lie])
    boxes, (scores, labels) = BOXES, scores_and_labels()
    t = ef.Tensor([4], "float32", MEM)
    grey = image()
    for call in (lambda: ef.Tensor.from_array(e), lambda: t.from_numpy(e),
                 lambda: grey.normalize_to_numpy(e), lambda: models.decoder().decode([e]),
                 lambda: ef.ByteTrack().update(e, scores, labels, 1),
                 lambda: ef.ByteTrack().update(boxes, e, labels, 1),
                 lambda: ef.ByteTrack().update(boxes, scores, e, 1),
                 lambda: drawn(boxes, [e]), lambda: drawn(e, ()),
                 lambda: ef.ImageProcessor().draw_decoded_masks(e, boxes, scores, labels)):
        fails((RuntimeError, TypeError, ValueError, BufferError), call)
        assert e.out == 0


def test_a_null_shape_is_one_axis_over_the_length():
    e = Exporter(shape=None, strides=None, ndim=1, length=16)
    assert ef.Tensor.from_array(e).shape == (4,)


def test_raw_bytes_are_taken_of_any_contiguous_exporter():
    png = image().to_png()
    e = Exporter(shape=None, strides=None, itemsize=1, format=None, ndim=1, length=len(png))
    ctypes.memmove(e.address, png, len(png))
    for data in (png, bytearray(png), memoryview(png), array("B", png), e,
                 (ctypes.c_ubyte * len(png))(*png), np.frombuffer(png, np.uint8)):
        assert ef.Tensor.load_from_bytes(data).width == 6
    with pytest.raises(RuntimeError, match="contiguous"):
        ef.Tensor.load_from_bytes(np.zeros(99, np.uint8)[::2])
    assert e.out == 0
    e.length = -1
    fails(RuntimeError, "negative", lambda: ef.Tensor.load_from_bytes(e))


def repeated(shape=(4, 6, 3), dtype=np.uint8):
    """A writable array all of whose rows are one row."""
    base = np.arange(shape[1] * shape[2]).astype(dtype).reshape(shape[1:])
    return as_strided(base, shape, (0, *base.strides))


@pytest.mark.parametrize("make", [
    repeated, lambda: as_strided(np.zeros(99, np.uint8), (4, 6, 3), (2, 3, 1)),
    lambda: as_strided(np.zeros(99, np.uint8), (4, 6, 3), (0, 0, 0)),
    lambda: as_strided(np.zeros(99, np.uint8)[80:], (4, 6, 3), (-3, 3, 1))])
def test_arrays_whose_elements_share_bytes_are_read_and_never_written(make):
    a = make()
    assert a.flags.writeable
    want = a.tolist()
    t = ef.Tensor.from_array(a)
    assert np.asarray(t).tolist() == want and filled([4, 6, 3], "uint8", a) == want
    assert not np.asarray(t).flags.writeable
    ones = np.ones((4, 6, 3), np.uint8)
    fails(ef.AccessError, lambda: t.from_numpy(ones), lambda: image().normalize_to_numpy(a),
          lambda: ef.ImageProcessor().draw_decoded_masks(a, BOXES, *scores_and_labels()),
          lambda: ef.ImageProcessor().tile_into(image(), a, ef.TilingConfig(2, 2)),
          lambda: ef.Tensor.from_dlpack(a).from_numpy(ones))
    with pytest.raises(BufferError, match="read-only"):
        t.map()[0] = 1
    assert a.tolist() == want


class Interface:
    """Memory by NumPy's array interface alone."""

    def __init__(self, values, interface=None):
        self.values = values
        self.__array_interface__ = values.__array_interface__ if interface is None else interface


@pytest.mark.parametrize("name", TAKERS)
def test_the_array_interface_is_taken_by_every_call(name):
    call, values = TAKERS[name]
    if name in ("normalize", "draw_into"):
        return
    assert call(Interface(values[::-1].copy()[::-1]) if name != "background" else
                Interface(values)) == call(values)


def test_the_array_interface_is_seen_without_a_copy_and_kept_alive():
    a = np.arange(6, dtype=np.int32).reshape(2, 3)
    t = ef.Tensor.from_array(Interface(a.T))
    assert np.shares_memory(np.asarray(t), a) and np.asarray(t).tolist() == a.T.tolist()
    t.map()[1] = 9
    assert a[1, 0] == 9
    del a
    assert np.asarray(t).tolist() == [[0, 9], [1, 4], [2, 5]]
    for wrong in (5, {}, {"version": 3, "shape": (2,), "typestr": "<f4"},
                  {**np.zeros(3).__array_interface__, "shape": (-1,)}):
        with pytest.raises((TypeError, RuntimeError)):
            ef.Tensor.from_array(Interface(np.zeros(3), wrong))


class Interrupts:
    """Raises what every argument passes on, wherever it is asked for its elements."""

    def __init__(self, kind):
        self.kind = kind

    def __getattr__(self, name):
        if name in ("__array_interface__", "__array_struct__", "__array__", "dtype"):
            raise self.kind
        raise AttributeError(name)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, MemoryError])
def test_interrupts_of_an_array_interface_pass_through(kind):
    fails(kind, lambda: ef.Tensor.from_array(Interrupts(kind)))


class Array:
    """Becomes an array by `__array__`, which does something first."""

    def __init__(self, values, first):
        self.values, self.first = values, first

    def __array__(self, dtype=None, copy=None):
        self.first()
        return np.asarray(self.values, dtype)


def test_arrays_that_shrink_while_the_next_one_is_made():
    """Memory of the size of many pages, which is unmapped when it shrinks."""
    count = 200_000
    scores, labels = np.full(count, 0.5, np.float32), np.zeros(count, np.int32)
    for _ in range(3):
        boxes = np.full((count, 4), 0.25, np.float32)
        found = boxes.copy()
        hostile = Array(scores, lambda: boxes.resize((1, 4), refcheck=False))
        merged = ef.merge_tiled_detections(boxes, hostile, labels, ef.MergeConfig())
        assert (merged[0] == 0.25).all()
        numbers = np.full(count, 0.5, np.float32)
        hostile = Array(labels, lambda: numbers.resize(1, refcheck=False))
        merged = ef.merge_tiled_detections(found, numbers, hostile, ef.MergeConfig())
        assert (merged[1] == 0.5).all()


def test_a_list_of_outputs_that_changes_while_it_is_read():
    out = models.detection_output()
    want = models.decoder().decode([out]).xyxy.tolist()
    outputs = []

    class Output:
        def __dlpack__(self, **_):
            outputs.extend(Output() for _ in range(3))
            outputs[0] = None
            return out.__dlpack__()

    outputs.append(Output())
    assert models.decoder().decode(outputs).xyxy.tolist() == want
    assert len(outputs) == 4


def test_a_list_of_masks_that_changes_while_it_is_read():
    mask = np.full((5, 5, 1), 255, np.uint8)
    masks = []
    masks.append(Array(mask, lambda: masks.extend([None] * 9)))
    assert drawn(BOXES, masks) == drawn(BOXES, [mask])


def test_an_accumulator_that_is_finalized_by_the_placement_of_a_tile():
    placements = ef.ImageProcessor().plan_tiles(64, 64, ef.TilingConfig(32, 32))
    frame = ef.TiledFrameAccumulator((64, 64), len(placements), ef.MergeConfig())

    class Placement:
        def __getattr__(self, name):
            if name == "letterbox":
                with contextlib.suppress(ef.Error):
                    frame.finalize()
            return getattr(placements[0], name)

    fails(ef.Error, "finalized", lambda: frame.push_tile(BOXES, *scores_and_labels(), Placement()))


def test_a_span_that_its_own_arguments_close_or_change(tmp_path):
    with ef.Tracing(tmp_path / "trace.json"):
        class Text:
            def __str__(self):
                span.__exit__()
                arguments.clear()
                return "text"

        arguments = {"a": Text(), "b": Text(), "c": 1}
        span = ef._core._Span("closing", arguments)
        span.__enter__()
        span.__exit__()

        class Opens:
            def __str__(self):
                with contextlib.suppress(ValueError, RecursionError):
                    other.__enter__()
                return "text"

        other = ef._core._Span("opening", {"a": Opens()})
        fails(ValueError, "open", lambda: other.__enter__())
        other.__exit__()
    assert "closing" in (tmp_path / "trace.json").read_text()


def test_a_view_that_repeats_a_row_too_often_is_refused_before_memory_is_taken():
    rows = (1 << 24) + 1
    boxes = np.broadcast_to(np.zeros((1, 4), np.float32), (rows, 4))
    scores = np.broadcast_to(np.zeros(1, np.float32), (rows,))
    labels = np.broadcast_to(np.zeros(1, np.int64), (rows,))
    with pytest.raises(ValueError, match="boxes: must have at most 16777216 rows .16777217."):
        ef.ByteTrack().update(boxes, scores, labels, 1)
