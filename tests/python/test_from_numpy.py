# SPDX-License-Identifier: Apache-2.0
"""Copies from arrays, and images as a network's numbers."""
import numpy as np
import pytest

import halyard as ef
from helpers import fails

MEM = ef.TensorMemory.MEM
SIGNED, UNSIGNED, RAW = ef.Normalization.SIGNED, ef.Normalization.UNSIGNED, ef.Normalization.RAW


@pytest.mark.parametrize("dtype", ["uint8", "float16", "int32", "float64"])
@pytest.mark.parametrize("make", [
    lambda a: a, lambda a: a[::-1], lambda a: a[:, ::-2], lambda a: a.transpose(2, 0, 1),
    lambda a: a.transpose(1, 2, 0), lambda a: a[3:, 5:, 1:], lambda a: np.asfortranarray(a),
    lambda a: np.broadcast_to(a[:1], (4, *a.shape[1:]))])
def test_every_stride(dtype, make):
    a = make(np.arange(70 * 45 * 3).astype(dtype).reshape(70, 45, 3))
    t = ef.Tensor(a.shape, dtype, MEM)
    t.from_numpy(a)
    assert np.array_equal(np.asarray(t), a)
    flat = ef.Tensor([a.size], dtype, MEM)  # only the count must agree
    flat.from_numpy(src=a)
    assert np.array_equal(np.asarray(flat), a.ravel())


@pytest.mark.parametrize("shape", [(14, 595), (595, 14), (14 * 595,), (7, 2, 595), (35, 238)])
def test_into_padded_rows(shape):
    t = ef.Tensor.image(595, 9, ef.PixelFormat.Nv12, mem=MEM)
    a = np.arange(14 * 595).astype(np.uint8).reshape(shape)
    t.from_numpy(a)
    assert np.array_equal(np.asarray(t).ravel(), a.ravel())
    t.from_numpy(np.asfortranarray(a))
    assert np.array_equal(np.asarray(t).ravel(), a.ravel())


def test_other_sources():
    t = ef.Tensor([4], "uint8", MEM)
    other = ef.Tensor([2, 2], "uint8", MEM)
    other.fill(3)
    for source in (other, bytearray(b"\3\3\3\3"), memoryview(b"\3\3\3\3")):
        t.fill(0)
        t.from_numpy(source)
        assert (np.asarray(t) == 3).all()


@pytest.mark.parametrize("source, kind", [
    (np.zeros(4), RuntimeError), (np.zeros(3, np.uint8), RuntimeError),
    (np.zeros(0, np.uint8), RuntimeError), ([1, 2, 3, 4], TypeError), (None, TypeError),
    ("abcd", TypeError), (np.zeros(4, ">u2"), RuntimeError)])
def test_wrong_sources(source, kind):
    fails(kind, "src", lambda: ef.Tensor([4], "uint8").from_numpy(source))


@pytest.fixture(name="ramp")
def _ramp():
    t = ef.Tensor.image(16, 16, ef.PixelFormat.Rgba, mem=MEM)
    np.asarray(t)[...] = np.arange(1024).reshape(16, 16, 4) % 256
    return t


def test_normalize(ramp):
    a = np.asarray(ramp).astype(np.float64)
    for dtype, mode, zero_point, want, error in [
            ("uint8", None, None, a, 0), ("uint8", RAW, 0, a, 0), ("int8", None, None, a - 128, 0),
            ("int8", SIGNED, 127, np.clip(a - 127, -128, 127), 0),
            ("float32", None, None, a / 127.5 - 1, 1e-6),
            ("float32", UNSIGNED, None, a / 255, 1e-6), ("float32", RAW, None, a, 0),
            ("float64", SIGNED, 127, a / 127.5 - 127 / 127.5, 1e-12),
            ("float16", SIGNED, None, a / 127.5 - 1, 1e-3)]:
        for channels in (4, 3):
            dst = np.zeros((16, 40, channels), dtype)[:, :32:2]
            options = {} if mode is None else {"normalization": mode}
            ramp.normalize_to_numpy(dst, zero_point=zero_point, **options)
            assert np.abs(dst.astype(np.float64) - want[..., :channels]).max() <= error


@pytest.mark.parametrize("width", [1, 2, 3, 5, 11, 16, 21, 43, 85, 100])
def test_normalize_rows(width):
    """Pixels side by side, beside which nothing is written."""
    t = ef.Tensor.image(width, 5, ef.PixelFormat.Rgb, mem=MEM)
    a = (np.arange(5 * width * 3).reshape(5, width, 3) * 7 % 256).astype(np.uint8)
    t.from_numpy(a)
    for dtype, mode, want in [
            ("uint8", RAW, a), ("int8", SIGNED, a.astype(np.int16) - 128),
            ("float16", UNSIGNED, (a / np.float32(255)).astype(np.float16)),
            ("float32", UNSIGNED, a / np.float32(255)),
            ("float32", SIGNED, a / np.float32(127.5) - np.float32(1)),
            ("float64", UNSIGNED, a / 255.0), ("float64", SIGNED, a / 127.5 - 1.0)]:
        room = np.full((5, width + 2, 3), 99, dtype)
        t.normalize_to_numpy(room[:, 1:-1], mode)
        assert np.array_equal(room[:, 1:-1], want), (dtype, mode)
        assert (room[:, [0, -1]] == 99).all()


def test_normalize_refuses(ramp):
    read_only = np.zeros((16, 16, 4), np.uint8)
    read_only.flags.writeable = False
    for dst, mode, zero_point, kind in [
            (np.zeros((16, 16, 4), np.int16), RAW, None, TypeError),
            (np.zeros((16, 64), np.uint8), RAW, None, TypeError),
            (read_only, RAW, None, TypeError), ([0], RAW, None, TypeError),
            (np.zeros((15, 16, 4), np.uint8), RAW, None, RuntimeError),
            (np.zeros((16, 16, 2), np.uint8), RAW, None, RuntimeError),
            (np.zeros((16, 16, 4), np.uint8), SIGNED, None, RuntimeError),
            (np.zeros((16, 16, 4), np.int8), UNSIGNED, None, RuntimeError),
            (np.zeros((16, 16, 4), np.float32), RAW, 3, RuntimeError),
            (np.zeros((16, 16, 4), np.float32), SIGNED, 256, RuntimeError),
            (np.zeros((16, 16, 4), np.float32), 1, None, TypeError)]:
        fails(kind, lambda: ramp.normalize_to_numpy(dst, mode, zero_point))
    with pytest.raises(RuntimeError):
        ef.Tensor([4, 4], "uint8").normalize_to_numpy(np.zeros((4, 4, 1), np.uint8))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_normalized_rows_are_the_same_side_by_side_and_spread(dtype):
    codes = np.arange(37 * 61 * 3, dtype=np.uint64).astype(np.uint8).reshape(37, 61, 3)
    image = ef.Tensor.image(61, 37, ef.PixelFormat.Rgb, ef.TensorMemory.MEM)
    image.from_numpy(codes)
    together = np.empty((37, 61, 3), dtype)
    spread = np.empty((37, 61, 6), dtype)[:, :, ::2]
    for normalization in (ef.Normalization.UNSIGNED, ef.Normalization.SIGNED):
        image.normalize_to_numpy(together, normalization)
        image.normalize_to_numpy(spread, normalization)
        assert (together == spread).all()
        assert together.min() == (0 if normalization == ef.Normalization.UNSIGNED else -1)
        assert together.max() == 1
