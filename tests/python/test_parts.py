# SPDX-License-Identifier: Apache-2.0
"""Parts of tensors: what t[n], slices and batch(n) keep, and what they never reach. Tensors over
one memory: which calls see it."""
import contextlib

import numpy as np
import pytest

import halyard as ef
from helpers import fails

F = ef.PixelFormat
MEM = ef.TensorMemory.MEM


def jpeg(width, height, value=200):
    image = ef.Tensor.image(width, height, F.Grey, MEM)
    np.asarray(image)[...] = value
    return image.to_jpeg()


WAYS = {"batch": lambda t, n: t.batch(n), "index": lambda t, n: t[n],
        "numpy index": lambda t, n: t[np.int64(n)], "ellipsis": lambda t, n: t[n, ...],
        "slice": lambda t, n: t[n:n + 1], "negative": lambda t, n: t[n - len(t)]}


@pytest.mark.parametrize("way", WAYS)
def test_decoding_into_a_part_never_reaches_its_neighbours(way):
    t = ef.Tensor([3, 100, 100], "uint8", MEM)
    part = WAYS[way](t, 0)
    with pytest.raises(ef.CapacityError, match="needs 15000 bytes, there are 10000"):
        part.decode_image(jpeg(150, 100))
    assert not np.asarray(t).any()
    part.decode_image(jpeg(200, 50))
    values = np.asarray(t)
    assert values[0].all() and not values[1:].any()


def test_a_strided_view_has_no_bytes_between_its_rows():
    rows = np.zeros((100, 150), np.uint8)
    for view in (rows[0:100:2], rows[:, :90], rows[::-1], rows[:, ::-1], rows.T,
                 np.broadcast_to(rows[:1], (100, 150))):
        t = ef.Tensor.from_array(view)
        with contextlib.suppress(ef.Error):
            t.decode_image(jpeg(150, 80))
        t = ef.Tensor.from_dlpack(view) if view.flags.writeable else t
        fails(ef.Error, lambda: t.decode_image(jpeg(150, 80)))
    assert not rows.any()
    column = rows[10:20]
    ef.Tensor.from_array(column).decode_image(jpeg(150, 10))
    assert rows[10:20].all() and rows.sum() == rows[10:20].sum()


def test_a_strided_image_of_the_same_size_is_filled_in_place():
    rows = np.zeros((100, 150), np.uint8)
    t = ef.Tensor.from_array(rows[:, :90].reshape(100, 90, 1))
    t.set_format("grey")
    t.decode_image(jpeg(90, 100))
    assert rows[:, :90].all() and not rows[:, 90:].any()


@pytest.mark.parametrize("way", ["batch", "index", "numpy index", "ellipsis"])
def test_parts_keep_quantization_and_colours(way):
    t = ef.Tensor([3, 4, 5], "uint8", MEM, name="head")
    t.colorimetry = ef.Colorimetry(space=ef.ColorSpace.Srgb)
    t.set_quantization_per_tensor(0.5, 3)
    part = WAYS[way](t, 1)
    assert part.quantization == ef.Quantization.per_tensor(0.5, 3)
    assert part.colorimetry == t.colorimetry and part.name == "head"
    t.set_quantization_per_channel([1, 2, 3, 4, 5], [0, 1, 2, 3, 4], 2)
    assert WAYS[way](t, 1).quantization == ef.Quantization.per_channel(
        [1, 2, 3, 4, 5], [0, 1, 2, 3, 4], 1)
    t.set_quantization_per_channel([1, 2, 3], [4, 5, 6], 0)
    assert WAYS[way](t, 1).quantization == ef.Quantization.per_tensor(2, 5)


def test_slices_narrow_the_scales_of_their_axis():
    t = ef.Tensor([3, 4, 5], "int8", MEM)
    t.set_quantization_per_channel([1, 2, 3, 4], [0, 1, 2, 3], 1)
    assert t[:, 1:3].quantization == ef.Quantization.per_channel([2, 3], [1, 2], 1)
    assert t[0, ::-2].quantization == ef.Quantization.per_channel([4, 2], [3, 1], 0)
    assert t[:, 2].quantization == ef.Quantization.per_tensor(3, 2)
    assert t[..., 1:].quantization == t.quantization


def test_a_decoder_gives_one_result_for_all_ways_to_an_element():
    decoder = ef.Decoder.new_from_outputs(
        [ef.Output.detection(shape=[1, 6, 4]).with_normalized(True)], 0.25, 0.45,
        input_dims=(64, 64))
    heads = ef.Tensor([2, 1, 6, 4], "uint8", MEM)
    heads.set_quantization_per_tensor(1 / 255, 0)
    values = np.asarray(heads)
    values[1, 0, :, 2] = (128, 128, 64, 64, 250, 3)
    expected = decoder.decode([heads.batch(1)])
    assert len(expected) == 1
    for way in ("index", "numpy index", "ellipsis"):
        found = decoder.decode([WAYS[way](heads, 1)])
        assert found == expected


def image_over(array):
    t = ef.Tensor.from_array(array)
    t.set_format("rgb")
    return t


def overlapping():
    """Pairs of tensors over one memory, that no two names of one buffer tell apart."""
    array = np.arange(64 * 64 * 3, dtype=np.uint32).astype(np.uint8).reshape(64, 64, 3)
    yield "two of one array", image_over(array), image_over(array)
    yield "views", image_over(array[:40]), image_over(array[20:60])
    yield "columns", image_over(array[:, :40]), image_over(array[:, 39:])
    for memory in ("MEM", "SHM"):
        if memory == "SHM" and not ef.is_shm_available():
            continue
        t = ef.Tensor.image(64, 64, "rgb", ef.TensorMemory[memory])
        yield "asarray " + memory, t, image_over(np.asarray(t))
        dlpack = ef.Tensor.from_dlpack(np.from_dlpack(t))
        dlpack.set_format("rgb")
        yield "dlpack " + memory, t, dlpack


@pytest.mark.parametrize("pair", list(overlapping()), ids=lambda pair: pair[0])
def test_convert_refuses_images_that_share_bytes(pair):
    _, src, dst = pair
    p = ef.ImageProcessor()
    before = np.asarray(dst).copy()
    for source, target in ((src, dst), (dst, src)):
        fails(ef.Error, "share|overlap|same",
              lambda: p.convert(source, target, flip=ef.Flip.Horizontal))
        fails(ef.Error, lambda: p.convert_deferred(source, target))
    p.flush()
    assert np.array_equal(np.asarray(dst), before)


def test_convert_serves_parts_of_one_array_that_share_no_byte():
    array = np.zeros((64, 64, 3), np.uint8)
    array[:, :32] = 9
    array[::2] += 1
    p = ef.ImageProcessor()
    p.convert(image_over(array[:, :32]), image_over(array[:, 32:]))
    assert np.array_equal(array[:, :32], array[:, 32:])
    p.convert(image_over(array[:32]), image_over(array[32:]))
    p.convert(image_over(array[::2]), image_over(array[1::2]))
    assert (array == array[0, 0]).all()
