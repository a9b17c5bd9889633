# SPDX-License-Identifier: Apache-2.0
"""Memory of tensors as Python sees it: windows no wider than the elements, maps that Python code
closes while an element is read, objects that were never made, cycles, iteration."""
import contextlib
import ctypes
import gc
import subprocess
import sys
import weakref

from helpers import fails
import models
import numpy as np
import pytest
from exporter import View, api
from numpy.lib.stride_tricks import as_strided

import halyard as ef
from halyard import _core

MEM = ef.TensorMemory.MEM


def reach(a):
    """Address of the lowest byte and of that behind the highest one."""
    steps = [(n - 1) * s for n, s in zip(a.shape, a.strides)]
    first = a.__array_interface__["data"][0]
    return (first + sum(s for s in steps if s < 0),
            first + sum(s for s in steps if s > 0) + a.itemsize)


ORDERED = [lambda a: a, lambda a: a[1:], lambda a: a[:, 2:7], lambda a: a[::2], lambda a: a[:, ::3],
           lambda a: a[:1, ::-1][:, :1], lambda a: a[:, :, None], lambda a: a[2:3].transpose(1, 0),
           lambda a: a.reshape(2, 3, 10)[:, :, 1:4], lambda a: a.ravel()]
UNORDERED = [lambda a: a[::-1], lambda a: a[:, ::-1], lambda a: a[::-2, ::-3], lambda a: a.T,
             lambda a: np.broadcast_to(a[:1], (5, 10)),
             lambda a: np.broadcast_to(a[0, :1], 1 << 22),
             lambda a: as_strided(a, (3, 4), (a.itemsize, a.itemsize)),
             lambda a: a.reshape(2, 3, 10).transpose(0, 2, 1), lambda a: a.ravel()[::-1]]


@pytest.mark.parametrize("dtype", ["u1", "f4"])
@pytest.mark.parametrize("make", ORDERED)
def test_flat_bytes_lie_among_the_elements(make, dtype):
    a = make(np.arange(60).astype(dtype).reshape(6, 10))
    t = ef.Tensor.from_array(a)
    m = t.map()
    flat = np.asarray(m.numpy())
    assert flat.nbytes == a.nbytes == t.nbytes and len(m) == a.size
    assert reach(a)[0] <= reach(flat)[0] and reach(flat)[1] <= reach(a)[1]
    if a.flags.c_contiguous:
        assert bytes(flat) == a.tobytes()


@pytest.mark.parametrize("dtype", ["u1", "f4"])
@pytest.mark.parametrize("make", UNORDERED)
def test_flat_bytes_of_flipped_repeated_and_transposed_elements_are_refused(make, dtype):
    a = make(np.arange(60).astype(dtype).reshape(6, 10))
    m = ef.Tensor.from_array(a).map()
    fails(BufferError, "asarray", lambda: m.numpy())
    flat = type(ef.Tensor([1]).map().numpy().obj)
    fails(TypeError, flat)
    for view in (np.asarray(m), np.asarray(memoryview(m)), m.array(),
                 ef.Tensor.from_array(a).numpy(), np.from_dlpack(ef.Tensor.from_array(a.copy()))):
        assert np.array_equal(view, a)
    assert len(m) == a.size and m[a.size - 1] == a.flat[a.size - 1]


def test_flat_bytes_of_a_flipped_part_of_a_tensor_are_refused():
    t = ef.Tensor([6, 10], "uint8", MEM)
    for part in (t[::-1], t[:, ::-1], t[2:5, ::-2]):
        fails(BufferError, "asarray", lambda: part.map().numpy())
    assert len(t[1:3, 2:4].map().numpy()) == 4


@pytest.mark.parametrize("make", ORDERED + UNORDERED)
def test_no_other_view_of_a_tensor_leaves_its_elements(make):
    a = make(np.arange(60, dtype="u2").reshape(6, 10))
    t = ef.Tensor.from_array(a)
    for source in (t, t.map()):
        for flags in range(0, 0x200, 8):
            try:
                view = memoryview(source) if flags == 0 else view_with(source, flags)
            except BufferError:
                continue
            b = np.asarray(view)
            assert reach(a)[0] <= reach(b)[0] and reach(b)[1] <= reach(a)[1]


def view_with(source, flags):
    """What a buffer of these flags shows, as bytes."""
    view = View()
    if api.PyObject_GetBuffer(ctypes.py_object(source), ctypes.byref(view), flags) != 0:
        raise BufferError  # ctypes raises what was set
    shown = np.frombuffer((ctypes.c_char * view.len).from_address(view.buf), np.uint8) \
        if not view.strides else np.lib.stride_tricks.as_strided(
            np.frombuffer((ctypes.c_char * view.itemsize).from_address(view.buf), np.uint8),
            [*view.shape[:view.ndim], view.itemsize], [*view.strides[:view.ndim], 1])
    api.PyBuffer_Release(ctypes.byref(view))
    return shown


def run_python(program):
    done = subprocess.run([sys.executable, "-X", "faulthandler", "-c", program], text=True,
                          capture_output=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


HOSTILE = """
import halyard as ef, numpy as np
class Value:
    def __init__(self, value): self.value = value
    def __index__(self):
        close()
        return self.value
    def __float__(self):
        close()
        return float(self.value)
    def __bool__(self):
        close()
        return True
def close():
    try: m.unmap()
    except BufferError: m.__exit__(None, None, None)
def expect(call):
    global m, t
    # Memory of its own pages: it is gone from the process when it is freed.
    t = ef.Tensor([1 << 20], DTYPE, ef.TensorMemory.MEM)
    m = t.map()
    del t
    try: call()
    except BufferError as error: assert "unmapped" in str(error), error
    else: raise AssertionError("a closed map was read")
for DTYPE in ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16",
              "bfloat16", "float32", "float64", "bool"):
    expect(lambda: m[Value(7)])
    expect(lambda: m.__setitem__(7, Value(1)))
    expect(lambda: m.__setitem__(Value(7), 1))
    expect(lambda: m.__setitem__(Value(7), Value(1)))
"""


def test_a_map_that_its_index_or_value_closes():
    run_python(HOSTILE)


def test_an_index_that_closes_the_map_and_frees_the_array_behind_it():
    run_python(HOSTILE.split("def expect")[0] + """
import weakref
a = np.zeros(1 << 22, np.uint8).view(type("A", (np.ndarray,), {}))
gone = weakref.ref(a)
m = ef.Tensor.from_array(a).map()
del a
try: m[Value(1 << 21)]
except BufferError: pass
assert gone() is None
""")


CLASSES = sorted((c for c in vars(_core).values() if isinstance(c, type)), key=lambda c: c.__name__)


def without_init(cls):
    class Sub(cls):
        def __init__(self, *_, **__):
            pass
    return Sub()


@pytest.mark.parametrize("make", [lambda c: c.__new__(c), without_init])
@pytest.mark.parametrize("cls", [*CLASSES, type(ef.Tensor([1]).map().numpy().obj)],
                         ids=lambda c: c.__name__)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_objects_that_were_never_made_are_refused(cls, make):
    try:
        made = make(cls)
    except TypeError:
        return  # no such object can be had
    arguments = [(), (1,), (1, 1), (made,), (BOXES, SCORES, LABELS), (BOXES, SCORES, LABELS, 1),
                 ([models.detection_output()],), ("rgb",), (image(), image())]
    inherited = set(dir(type("Plain", (), {})))
    for name in set(dir(cls)) - inherited | {"__repr__", "__eq__", "__hash__", "__reduce__"}:
        member = None
        try:
            member = getattr(made, name)
        except Exception:  # a property
            continue
        if not callable(member) or name == "__init__" or isinstance(vars(cls).get(name),
                                                                    staticmethod):
            continue
        for values in arguments:
            with contextlib.suppress(Exception):
                member(*values)
    for look in (memoryview, bytes, np.asarray, list, len, str, repr, lambda x: x == made,
                 lambda x: x.value, ef.Tensor.from_array, lambda x: image().from_numpy(x),
                 lambda x: ef.ImageProcessor().convert(x, x),
                 lambda x: models.decoder().decode([x])):
        with contextlib.suppress(Exception):
            look(made)
    if "__getbuffer__" in dir(cls) or issubclass(cls, (ef.Tensor, ef.TensorMap)):
        fails((BufferError, TypeError), lambda: memoryview(made))
    gc.collect()


BOXES = np.array([[0.1, 0.1, 0.4, 0.4]], np.float32)
SCORES, LABELS = np.ones(1, np.float32), np.zeros(1, np.int32)


def image():
    return ef.Tensor.image(4, 4, "rgb", mem=MEM)


def test_maps_and_flat_bytes_cannot_be_made_by_a_program():
    m = ef.Tensor([4], "uint8", MEM).map()
    for cls in (ef.TensorMap, type(m.numpy().obj)):
        fails(TypeError, cls, lambda: cls.__new__(cls), lambda: without_init(cls),
              lambda: object.__new__(cls))


class Array(np.ndarray):
    """An array that attributes can be set of."""


def array(shape=1000, dtype=np.uint8):
    return np.zeros(shape, dtype).view(Array)


CYCLES = {
    "a tensor": lambda a: ef.Tensor.from_array(a),
    "a reshaped tensor": lambda a: reshaped(ef.Tensor.from_array(a)),
    "a part of a tensor": lambda a: ef.Tensor.from_array(a)[1:],
    "an image": lambda a: with_format(ef.Tensor.from_array(a), "grey"),
    "a semi-planar image": lambda a: with_format(ef.Tensor.from_array(a), "nv12"),
    "a memoryview of a tensor": lambda a: memoryview(ef.Tensor.from_array(a)),
    "several views of one tensor": lambda a: views(ef.Tensor.from_array(a)),
    "a list of tensors": lambda a: [ef.Tensor.from_array(a), ef.Tensor.from_array(a)],
    "an instance of a subclass": lambda a: Named.of(a),
    "the dictionary of a span": lambda a: _core._Span("name", {"a": a}),
}


def reshaped(t):
    return t.reshape(-1)


def with_format(t, pixel_format):
    t.set_format(pixel_format)
    return t


def views(t):
    return [t, memoryview(t), memoryview(t)[1:], memoryview(t).cast("B")]


class Named(ef.Tensor):
    @classmethod
    def of(cls, a):
        made = cls([1])
        made.inner = ef.Tensor.from_array(a)
        return made


# NumPy's collector does not look behind ndarray.base, so views that are ndarrays are not here.
@pytest.mark.parametrize("name", CYCLES)
def test_a_cycle_through_an_array_is_collected(name):
    gone = []
    for _ in range(20):
        a = array((12, 10, 1) if name == "an image" else (15, 10))
        a.held = CYCLES[name](a)
        gone.append(weakref.ref(a))
    del a
    gc.collect()
    assert all(g() is None for g in gone)


def test_what_is_still_used_is_not_collected():
    """Whoever holds the tensor, a part of it, a map or a view holds the array."""
    for hold in (lambda t: t, lambda t: t[1:], lambda t: t.map(), lambda t: memoryview(t),
                 lambda t: np.asarray(t), lambda t: t.map().numpy(), lambda t: np.from_dlpack(t),
                 lambda t: t.__dlpack__(), lambda t: ef.Tensor.from_array(np.asarray(t)),
                 lambda t: (t[:5], t[5:])):
        a = array()
        a[:] = 7
        gone = weakref.ref(a)
        a.held = ef.Tensor.from_array(a)
        kept = hold(a.held)
        del a
        for _ in range(3):
            gc.collect()
        assert gone() is not None and (gone() == 7).all()
        assert gone().held.map()[3] == 7
        del kept
        gone().held = None
        gc.collect()
        assert gone() is None


def test_the_collector_counts_no_reference_twice():
    """Tensors of one array in a cycle, one of them kept: all others must stay whole."""
    a = array()
    a[:] = 9
    a.tensors = [ef.Tensor.from_array(a) for _ in range(5)]
    a.parts = [a.tensors[0][1:], a.tensors[1][2:]]
    a.more = [t.map() for t in a.tensors]
    kept = a.tensors[3]
    gone = weakref.ref(a)
    del a
    for _ in range(3):
        gc.collect()
    assert np.asarray(kept).tolist() == [9] * 1000 and gone() is not None
    for t in gone().tensors:
        assert np.asarray(t).tolist() == [9] * 1000


def test_a_cycle_through_an_open_map_ends_with_the_map():
    """The collector does not see what maps hold; to close the map is enough."""
    a = array()
    a.held = ef.Tensor.from_array(a)
    with a.held.map() as m:
        a.map = m
        gone = weakref.ref(a)
        del a
        gc.collect()
        assert gone() is not None
    del m
    gc.collect()
    assert gone() is None


def test_a_map_is_iterated_to_its_end():
    t = ef.Tensor([2, 3], "int16", MEM)
    t.from_numpy(np.arange(6, dtype=np.int16))
    m = t.map()
    assert list(m) == [0, 1, 2, 3, 4, 5] and list(reversed(m)) == [5, 4, 3, 2, 1, 0]
    assert [*iter(m)] == [x for x in m] and sum(m) == 15 and max(m) == 5
    assert 4 in m and 6 not in m and "a" not in m
    flipped = ef.Tensor.from_array(np.arange(4)[::-1]).map()
    assert list(flipped) == [3, 2, 1, 0]
    assert list(zip(m, flipped)) == [(0, 3), (1, 2), (2, 1), (3, 0)]


def test_an_index_beyond_the_last_element_is_both_errors():
    m = ef.Tensor([3], "uint8", MEM).map()
    for kind in (IndexError, BufferError):
        fails(kind, "below 3", lambda: m[3], lambda: m.__setitem__(3, 0), lambda: m[2**63])
    fails(OverflowError, lambda: m[-1])
    elements = iter(m)
    assert next(elements) == 0
    m.unmap()
    fails(BufferError, "unmapped", lambda: next(elements))


def test_a_tensor_that_the_collector_has_emptied_has_no_elements():
    """Code that runs while a cycle is taken apart may still meet such a tensor."""
    slot = ctypes.pythonapi.PyType_GetSlot
    slot.restype, slot.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_int]
    tp_clear = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object)(slot(ef.Tensor, 51))
    a = array((4, 6, 3))
    t = ef.Tensor.from_array(a)
    held = t[1:]
    tp_clear(t)
    assert t.shape == (4, 6, 3)  # the part holds the memory too, so it is no cycle
    del held
    view = memoryview(t)
    gone = weakref.ref(a)
    del a
    tp_clear(t)
    assert gone() is not None and view.tobytes() == bytes(72)  # the view keeps what it shows
    del view
    assert gone() is None and t.shape == () and t.size == 0 and len(t) == 0
    for look in (memoryview, np.asarray, lambda t: t.map(), lambda t: t[0], lambda t: t.to_png(),
                 lambda t: t.from_numpy(np.zeros(0)), lambda t: t.decode_image(b"x"),
                 lambda t: t.__dlpack__(), lambda t: t.set_format("rgb"), lambda t: t.batch(0),
                 lambda t: t.normalize_to_numpy(np.zeros((0, 0, 3), np.uint8)),
                 lambda t: ef.ImageProcessor().convert(t, t),
                 lambda t: models.decoder().decode([t])):
        fails((BufferError, RuntimeError, IndexError), lambda: look(t))
