# SPDX-License-Identifier: Apache-2.0
"""Source and destination that share bytes, and normalize_to_numpy over any strides: the results are
those of arrays that lie apart."""
import random

import numpy as np
import pytest

import halyard as ef

MEM = ef.TensorMemory.MEM
N = ef.Normalization
ROOM = 400


def random_view(chance, shape, flat):
    """A view of `shape` somewhere in the bytes of `flat`, of random order, direction and gaps."""
    item = flat.itemsize
    order = list(range(len(shape)))
    chance.shuffle(order)
    strides, step = [0] * len(shape), item
    for axis in order:
        step *= chance.choice([1, 1, 1, 2])
        strides[axis] = step
        step *= shape[axis]
    lowest = 0
    for axis, extent in enumerate(shape):
        if chance.random() < 0.3:
            strides[axis] = -strides[axis]
            lowest += -strides[axis] * (extent - 1)
    room = flat.size * item - sum(abs(s) * (n - 1) for s, n in zip(strides, shape)) - item
    if room < 0:
        return random_view(chance, shape, flat)
    offset = lowest + chance.randrange(0, room // item + 1) * item
    return np.ndarray(shape, flat.dtype, flat, offset, strides)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64"])
def test_from_numpy_of_overlapping_memory_is_what_numpy_makes_of_it(dtype):
    chance = random.Random(dtype)
    for _ in range(400):
        shape = chance.choice([(24,), (4, 6), (2, 3, 4), (6, 4), (1, 24)])
        flat = np.arange(ROOM).astype(dtype)
        twin = flat.copy()
        state = chance.getstate()
        source, to = random_view(chance, shape, flat), random_view(chance, shape, flat)
        chance.setstate(state)
        same_source, same_to = random_view(chance, shape, twin), random_view(chance, shape, twin)
        same_to[...] = same_source.copy()
        ef.Tensor.from_array(to).from_numpy(source)
        assert np.array_equal(flat, twin), (shape, source.strides, to.strides)


@pytest.mark.parametrize("way", [-7, -1, 0, 1, 7])
@pytest.mark.parametrize("size", [100, 1 << 16])
def test_from_numpy_moves_contiguous_memory(size, way):
    base = np.random.default_rng(0).integers(0, 255, size + 20, np.uint8)
    want = base.copy()
    want[10:10 + size] = base[10 + way:10 + way + size].copy()
    ef.Tensor.from_array(base[10:10 + size]).from_numpy(base[10 + way:10 + way + size])
    assert np.array_equal(base, want)


def test_from_numpy_flips_a_tensor_onto_itself():
    t = ef.Tensor([300], "uint16", MEM)
    t.from_numpy(np.arange(300, dtype=np.uint16))
    for source in (np.asarray(t)[::-1], t[::-1], ef.Tensor.from_array(np.asarray(t)[::-1])):
        want = np.asarray(t)[::-1].tolist()
        t.from_numpy(source)
        assert np.asarray(t).tolist() == want


@pytest.mark.skipif(not ef.is_shm_available(), reason="needs shared memory")
def test_from_numpy_flips_shared_memory_that_is_mapped_twice():
    t = ef.Tensor([1 << 14], "uint8", ef.TensorMemory.SHM)
    again = ef.Tensor.from_fd(t.fd, [1 << 14], "uint8")
    values = np.random.default_rng(0).integers(0, 255, 1 << 14, np.uint8)
    t.from_numpy(values)
    t.from_numpy(again[::-1])
    assert np.array_equal(np.asarray(again), values[::-1])
    t[5:].from_numpy(again[:-5])
    assert np.array_equal(np.asarray(t)[5:], values[::-1][:-5])


CODES = np.random.default_rng(3).integers(0, 256, (37, 61, 4)).astype(np.uint8)
SOURCES = {
    "contiguous": lambda a: a.copy(),
    "channels reversed": lambda a: a[..., ::-1].copy()[..., ::-1],
    "channels first": lambda a: np.moveaxis(np.moveaxis(a, 2, 0).copy(), 0, 2),
    "every second channel": lambda a: np.repeat(a, 2, 2)[..., ::2],
    "rows reversed": lambda a: a[::-1].copy()[::-1],
    "columns reversed": lambda a: a[:, ::-1].copy()[:, ::-1],
    "transposed": lambda a: a.transpose(1, 0, 2).copy().transpose(1, 0, 2),
    "all reversed": lambda a: a[::-1, ::-1, ::-1].copy()[::-1, ::-1, ::-1],
    "padded rows": lambda a: np.pad(a, ((0, 0), (0, 3), (0, 0)))[:, :-3],
    "padded columns": lambda a: np.pad(a, ((0, 0), (0, 0), (1, 2)))[:, :, 1:-2],
    "fortran": lambda a: np.asfortranarray(a),
    "one channel for all": lambda a: np.broadcast_to(a[..., :1], a.shape),
}
MODES = [("uint8", N.RAW), ("int8", N.SIGNED), ("float16", N.SIGNED), ("float16", N.UNSIGNED),
         ("float16", N.RAW), ("float32", N.SIGNED), ("float32", N.UNSIGNED), ("float32", N.RAW),
         ("float64", N.SIGNED), ("float64", N.UNSIGNED)]


def bits(a):
    return np.ascontiguousarray(a).tobytes()


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("source", SOURCES)
def test_normalize_honours_every_stride_of_the_image(source, channels):
    a = SOURCES[source](CODES[..., :channels])
    t = ef.Tensor.from_array(a)
    plain = ef.Tensor.from_array(np.ascontiguousarray(a))
    for dtype, mode in MODES:
        want = np.zeros(a.shape, dtype)
        plain.normalize_to_numpy(want, mode)
        for make in SOURCES.values():
            dst = make(np.zeros(a.shape, dtype))
            if not dst.flags.writeable:
                continue
            t.normalize_to_numpy(dst, mode)
            assert bits(dst) == bits(want), (dtype, mode)


def test_normalize_of_a_flipped_tensor_reads_within_it():
    t = ef.Tensor.image(8, 8, "rgb", mem=MEM)
    a = CODES[:8, :8, :3]
    t.from_numpy(a)
    part = ef.Tensor.from_array(np.asarray(t))[..., ::-1]
    dst = np.zeros((8, 8, 3), np.uint8)
    part.normalize_to_numpy(dst, N.RAW)
    assert np.array_equal(dst, a[..., ::-1])


@pytest.mark.parametrize("mode", [N.SIGNED, N.UNSIGNED, N.RAW])
def test_halves_are_those_that_numpy_rounds(mode):
    codes = np.arange(256, dtype=np.uint8).reshape(16, 16, 1)
    t = ef.Tensor.from_array(codes)
    v = codes.astype(np.float32)
    for zero in (None, 0, 1, 127, 255) if mode == N.SIGNED else (None,):
        offset = np.float32(1) if zero is None else np.float32(zero) / np.float32(127.5)
        want = {N.SIGNED: v / np.float32(127.5) - offset, N.UNSIGNED: v / np.float32(255),
                N.RAW: v}[mode].astype(np.float16)
        dst = np.zeros((16, 16, 1), np.float16)
        t.normalize_to_numpy(dst, mode, zero)
        assert dst.tobytes() == want.tobytes()


@pytest.mark.parametrize("make", [lambda a: a, lambda a: a[::-1], lambda a: a[..., ::-1],
                                  lambda a: a[:, ::-1], lambda a: a.transpose(1, 0, 2)])
def test_normalize_onto_the_image_itself(make):
    a = CODES[:30, :30, :3].copy()
    want = make(np.zeros_like(a).view(np.int8))
    ef.Tensor.from_array(a.copy()).normalize_to_numpy(want)
    ef.Tensor.from_array(a).normalize_to_numpy(make(a.view(np.int8)))
    assert np.array_equal(make(a.view(np.int8)), want)


def test_normalize_into_floats_that_begin_in_the_image():
    room = np.zeros(5 * 300, np.uint8)
    room[:300] = np.arange(300)
    want = np.zeros((10, 10, 3), np.float32)
    ef.Tensor.from_array(room[:300].reshape(10, 10, 3).copy()).normalize_to_numpy(want)
    dst = room[100:1300].view(np.float32).reshape(10, 10, 3)
    ef.Tensor.from_array(room[:300].reshape(10, 10, 3)).normalize_to_numpy(dst)
    assert np.array_equal(dst, want)


@pytest.mark.parametrize("offset", [0, 1, 5000, 12_000])
@pytest.mark.parametrize("encode", [lambda t: t.to_png(0), lambda t: t.to_jpeg(90)])
def test_a_file_that_lies_in_the_tensor_it_is_decoded_into(encode, offset):
    original = ef.Tensor.image(64, 64, "rgb", mem=MEM)
    original.from_numpy(np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8))
    data = np.frombuffer(encode(original), np.uint8)
    apart, within = (ef.Tensor([60_000], "uint8", MEM) for _ in range(2))
    apart.decode_image(data)
    source = np.asarray(within)[offset:offset + data.size]
    source[:] = data
    within.decode_image(source)
    assert np.array_equal(np.asarray(within), np.asarray(apart))
