# SPDX-License-Identifier: Apache-2.0
"""Buffers, NumPy and DLPack: true strides and lengths, no copies, maps that views keep alive."""
import gc

import numpy as np
import pytest

import halyard as ef
from helpers import fails

MEM = ef.TensorMemory.MEM
CODES = dict(uint8="B", int8="b", uint16="H", int16="h", uint32="I", int32="i", uint64="Q",
             int64="q", float16="e", float32="f", float64="d", bool="?")

# Before DLPack 1.0, which NumPy 2.1 brings, a capsule cannot say that its memory is read-only.
HAS_DLPACK_1 = tuple(map(int, np.__version__.split(".")[:2])) >= (2, 1)


def padded(width=595, height=9):
    t = ef.Tensor.image(width, height, ef.PixelFormat.Nv12, mem=MEM)
    assert t.row_stride > width
    return t


@pytest.mark.parametrize("dtype", CODES)
def test_the_buffer_says_what_it_is(dtype):
    t = ef.Tensor([2, 3], dtype, MEM)
    for view in (memoryview(t), memoryview(t.map())):
        assert (view.format, view.shape, view.readonly) == (CODES[dtype], (2, 3), False)
        assert view.nbytes == t.nbytes and view.itemsize == t.itemsize and view.c_contiguous
        assert view.strides == t.strides
    assert np.asarray(t).dtype == dtype and np.shares_memory(np.asarray(t), np.asarray(t.map()))


def test_padded_rows_are_strides():
    t = padded()
    view = memoryview(t)
    assert view.nbytes == t.nbytes == len(bytes(t)) and not view.c_contiguous
    a = np.asarray(t)
    a[...] = np.arange(a.size, dtype=np.uint32).reshape(a.shape)
    assert bytes(t) == a.tobytes()
    with t.map() as m:
        fails(BufferError, lambda: np.frombuffer(m, np.uint8))
        assert len(m.numpy()) == t.nbytes  # the logical length, over padded rows
        assert m[595] == a[1, 0] and np.array_equal(m.array(), a)
    planar = np.asarray(ef.Tensor.image(8, 8, ef.PixelFormat.PlanarRgb, mem=MEM)[1:3, 2:7])
    assert planar.shape == (3, 2, 5)


def test_flat_bytes_are_writable():
    t = ef.Tensor([2, 3], "int16", MEM)
    with t.map() as m:
        m.numpy()[:] = np.arange(6, dtype=np.int16).view(np.uint8)
        assert np.frombuffer(m.numpy(), np.int16).reshape(t.shape).tolist() == [[0, 1, 2],
                                                                              [3, 4, 5]]
        np.frombuffer(m.numpy(), np.int16).fill(7)
        assert (m[5], len(m), m.shape, m.strides) == (7, 6, (2, 3), (6, 2))


def test_elements():
    for dtype, value in (("int8", -5), ("float16", 0.5), ("float32", 0.25), ("bfloat16", -1.5),
                         ("float64", 1e300), ("uint64", 2**64 - 1), ("bool", True)):
        with ef.Tensor([3], dtype, MEM).map() as m:
            m[1] = value
            assert m[1] == value and m[0] == 0
    with ef.Tensor([3], "uint8", MEM).map() as m:
        for key, kind in ((3, BufferError), (-1, OverflowError), ("a", TypeError)):
            fails(kind, lambda: m[key])
        for value, kind in ((256, OverflowError), (-1, OverflowError), ("a", TypeError),
                            (0.5, TypeError)):
            with pytest.raises(kind):
                m[0] = value


def test_a_map_closes_and_views_keep_the_memory():
    t = ef.Tensor([4], "uint8", MEM)
    with t.map() as m:
        view = np.frombuffer(m, np.uint8)
        writable = np.asarray(m)
    fails(BufferError, "unmapped", m.numpy, lambda: m[0], lambda: memoryview(m), m.__enter__,
          lambda: m.shape)
    assert len(m) == 0 and repr(m) == "Unmapped Tensor"
    writable[2] = 5
    del t, m
    gc.collect()
    assert view.tolist() == [0, 0, 5, 0]


def test_unmapping_under_views_raises():
    m = ef.Tensor([4], "uint8", MEM).map()
    views = [np.asarray(m), memoryview(m)]
    fails(BufferError, "2 view", lambda: m.unmap())
    assert m[0] == 0
    views.clear()
    m.unmap()
    m.unmap()
    fails(TypeError, lambda: ef.TensorMap())


def test_array_follows_the_rules_of_numpy_2():
    t = ef.Tensor([2, 2], "float32", MEM)
    assert np.shares_memory(t.__array__(), np.asarray(t))
    assert np.shares_memory(np.array(t, copy=False) if np.__version__ >= "2" else np.asarray(t),
                            np.asarray(t))
    assert not np.shares_memory(np.array(t), np.asarray(t))
    assert not np.shares_memory(t.__array__(copy=True), np.asarray(t))
    assert t.__array__("int16").dtype == np.int16
    fails(ValueError, lambda: t.__array__("int16", copy=False))
    assert np.shares_memory(t.numpy(), np.asarray(t)) and (np.add(t, 1) == 1).all()


def test_bfloat16():
    t = ef.Tensor([3], "bfloat16", MEM)
    fails(BufferError, "bfloat16", lambda: memoryview(t))
    ml_dtypes = pytest.importorskip("ml_dtypes")
    a = np.asarray(t)
    assert a.dtype == ml_dtypes.bfloat16
    a[1] = 1.5
    assert t.map()[1] == 1.5
    t.from_numpy(np.array([1, 2, 3], ml_dtypes.bfloat16))
    assert np.asarray(ef.Tensor.from_array(a)).tolist() == [1, 2, 3]


def test_dlpack_out():
    t = padded()
    np.asarray(t)[...] = 3
    a = np.from_dlpack(t)
    assert np.shares_memory(a, np.asarray(t)) and a.strides == np.asarray(t).strides
    assert t.__dlpack_device__() == (1, 0)
    del t
    gc.collect()
    assert (a == 3).all()
    for options in ({}, {"max_version": (1, 0)}, {"max_version": (0, 8)}, {"dl_device": (1, 0)},
                    {"copy": True, "max_version": (1, 1)}, {"stream": None}):
        ef.Tensor([4], "uint8").__dlpack__(**options)  # capsules that nobody takes are freed
    fails(BufferError, lambda: ef.Tensor([4]).__dlpack__(dl_device=(2, 0)))
    fails(RuntimeError, "stream", lambda: ef.Tensor([4]).__dlpack__(stream=1))


def test_dlpack_in():
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    t = ef.Tensor.from_dlpack(a)
    assert np.shares_memory(np.asarray(t), a) and t.shape == (2, 3)
    capsule = a.__dlpack__(**({"max_version": (1, 0)} if HAS_DLPACK_1 else {}))
    again = ef.Tensor.from_dlpack(capsule)
    fails(RuntimeError, lambda: ef.Tensor.from_dlpack(capsule))
    del a
    gc.collect()
    assert np.asarray(again).sum() == 15
    fails(TypeError, lambda: ef.Tensor.from_dlpack([1]))


@pytest.mark.parametrize("make", [
    lambda a: a, lambda a: a[::-1], lambda a: a[:, ::2], lambda a: a.T, lambda a: a[1:, 1:]])
def test_arrays_are_seen_without_a_copy(make):
    a = make(np.arange(20, dtype=np.int32).reshape(4, 5))
    t = ef.Tensor.from_array(a)
    assert np.shares_memory(np.asarray(t), a) and np.array_equal(np.asarray(t), a)
    own = ef.Tensor.from_array(a, copy=True)
    assert not np.shares_memory(np.asarray(own), a) and np.array_equal(np.asarray(own), a)


def test_read_only_memory_stays_so():
    a = np.arange(4, dtype=np.uint8)
    a.flags.writeable = False
    t = ef.Tensor.from_array(a)
    views = [np.asarray(t), np.asarray(t.map())]
    if HAS_DLPACK_1:
        views.append(np.from_dlpack(t))
    else:
        fails(BufferError, "read-only", lambda: np.from_dlpack(t))
    for view in views:
        assert not view.flags.writeable and view.tolist() == [0, 1, 2, 3]
    assert t.map().numpy().readonly
    with pytest.raises(BufferError):
        t.map()[0] = 1
    fails(RuntimeError, lambda: t.from_numpy(np.zeros(4, np.uint8)))
    fails(ValueError, lambda: t.fill(0))


@pytest.mark.parametrize("array, kind", [
    (np.zeros(3, ">f4"), RuntimeError), (np.zeros(3, "c8"), RuntimeError),
    (np.zeros(3, "U2"), RuntimeError), (np.zeros((1,) * 9), RuntimeError),
    (np.array(3.0), RuntimeError), ([1, 2], TypeError), (None, TypeError), ("ab", TypeError)])
def test_what_is_no_array(array, kind):
    fails(kind, "array", lambda: ef.Tensor.from_array(array))
