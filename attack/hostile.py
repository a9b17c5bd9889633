# SPDX-License-Identifier: Apache-2.0
"""Python objects that do harm while they are converted, and false headers, for the programs of
this folder. Every false header contradicts itself; a wrong address, which nobody can detect, is not
among them."""
import array
import contextlib
import ctypes
import enum
import gc
import mmap

import numpy as np

import halyard

CONVERSIONS = ("__index__", "__int__", "__float__", "__len__", "__getitem__", "__iter__",
               "__fspath__", "__array__", "__bool__", "__str__", "__complex__", "__enter__",
               "__array_interface__", "__dlpack__", "__dlpack_device__", "__buffer__", "__eq__",
               "__hash__", "__contains__", "__reversed__", "__length_hint__")
IMAGE = halyard.Tensor.image(2, 2, "grey").to_png()
INTERRUPTS = (KeyboardInterrupt, MemoryError, RecursionError)


class Hook:
    """Every conversion first runs `act` and then returns `answer`. Remembers what it raised."""

    def __init__(self, act, answer):
        self.act, self.answer, self.raised, self.asked = act, answer, None, 0

    def reply(self, *_, **__):
        self.asked += 1
        try:
            self.act()
        except BaseException as error:
            self.raised = type(error)
            raise
        return self.answer

    __array_interface__ = property(reply)


for _name in CONVERSIONS:
    if _name != "__array_interface__":
        setattr(Hook, _name, Hook.reply)


class IndexHook(Hook):
    """A Hook that is an integer and nothing else."""

    __getitem__ = __iter__ = __len__ = __array__ = __dlpack__ = __fspath__ = None


def raising(kind):
    def act():
        raise kind("an argument raises this")
    return act


def harm(chance, kept):
    """Something that a conversion may do to the objects that a call uses."""
    def everything():
        for thing in kept:
            way = chance.choice(("unmap", "close", "decode", "finalize", "take_protos", "release",
                                 "clear_quantization"))
            method = getattr(thing, way, None)
            with contextlib.suppress(Exception):
                if way == "decode":
                    thing.decode_image(IMAGE)  # changes the tensor's shape
                elif method is not None:
                    method()

    def forget():
        kept.clear()
        gc.collect()

    return chance.choice([everything, everything, forget, gc.collect,
                          *(raising(kind) for kind in INTERRUPTS), raising(KeyError)])


def hook(chance, kept):
    answer = chance.choice([0, 1, 2, -1, 3, 2**70, 0.5, "x", b"", None, [1, 2], (0,),
                            np.zeros(4, np.float32), iter([1, 2, 3, 4])])
    return chance.choice([Hook, IndexHook])(harm(chance, kept), answer)


class DlTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.c_void_p),
                ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64)]


class DlManaged(ctypes.Structure):
    _fields_ = [("tensor", DlTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_CAPSULE_NAMES = [b"dltensor", b"used_dltensor", b"dltensor_versioned", b"", b"other"]


class DlpackLiar:
    """A producer with an impossible header; keeps the header's memory alive."""

    alive = []  # a capsule's memory must outlive the capsule

    def __init__(self, chance):
        room = (ctypes.c_float * 64)()
        shape = (ctypes.c_int64 * 16)()
        strides = (ctypes.c_int64 * 16)(*chance.choice([[2, 1], [1], [2**62, 1], [0, 0], [-2, -1]]))
        lie = chance.choice(["null data", "rank", "null shape", "device", "lanes", "bits", "offset",
                             "shape", "name", "type"])
        tensor = DlTensor(ctypes.addressof(room) + 128, 1, 0, 2, 2, 32, 1, ctypes.addressof(shape),
                          None, 0)
        shape[0], shape[1] = 2, 2
        if lie == "shape":
            shape[0] = chance.choice([-1, -2**63, 2**62, 2**63 - 1])
            shape[1] = 2**62
        changes = {"null data": ("data", None), "rank": ("ndim", chance.choice([-1, 9, 2**31 - 1])),
                   "null shape": ("shape", None), "device": ("device_type", chance.choice([2, 99])),
                   "lanes": ("lanes", chance.choice([0, 2, 65535])),
                   "bits": ("bits", chance.choice([0, 1, 7, 255])),
                   "offset": ("byte_offset", chance.choice([1, 2**64 - 1, 2**63])),
                   "type": ("code", chance.choice([3, 5, 99, 255]))}
        if lie in changes:
            setattr(tensor, *changes[lie])
        if chance.random() < 0.2 and lie != "shape":
            tensor.strides = ctypes.addressof(strides)
            tensor.data = None
        self.managed = DlManaged(tensor, None, None)
        self.name = chance.choice(_CAPSULE_NAMES[1:]) if lie == "name" else b"dltensor"
        self.device = chance.choice([(1, 0), (1, 0), (2, 0), (99, -1), (2**40, 0), "cpu", (1,),
                                     None])
        self.used = chance.random() < 0.3
        self.lie = lie
        DlpackLiar.alive.append((room, shape, strides, self.managed, self.name))

    def __dlpack__(self, **_):
        if self.name == b"dltensor_versioned":  # a header of the other form: version 0
            blank = (ctypes.c_uint64 * 32)()
            DlpackLiar.alive.append(blank)
            return _new_capsule(ctypes.addressof(blank), self.name, None)
        capsule = _new_capsule(ctypes.addressof(self.managed), self.name, None)
        if self.used:
            self.__dict__.setdefault("first", capsule)
            return self.first
        return capsule

    def __dlpack_device__(self):
        return self.device


class InterfaceLiar:
    """An __array_interface__ that contradicts itself."""

    def __init__(self, chance):
        self.keep = np.zeros(64, np.float32)
        said = {"version": 3, "typestr": "<f4", "shape": (2, 2), "strides": None,
                "data": (self.keep.ctypes.data, False)}
        key = chance.choice(list(said))
        said[key] = chance.choice([None, (-1, 2), (2, 2, 2), "x", 2**70, (2**62, 2**62), (0, False),
                                   {}, -1, ("a", "b"), "|O8", "<f9", (4, 4, 4, 4, 4)])
        if key == "data" and isinstance(said[key], tuple) and said[key][:1] != (0,):
            said[key] = None  # an address that nobody can check
        numbers = said[key] if isinstance(said[key], tuple) else ()
        if (key in ("shape", "strides") and numbers and isinstance(numbers[0], int)
                and min(numbers) >= 0):
            said[key] = (-1, 2)  # other values would be accepted, and lead anywhere
        self.__array_interface__ = said


def buffers(chance):
    """Exporters of buffers other than NumPy: ctypes, array, mmap, views and casts of them."""
    element = chance.choice([ctypes.c_float, ctypes.c_ubyte, ctypes.c_double, ctypes.c_int64,
                             ctypes.c_char, ctypes.c_bool])
    grid = ((element * 4) * chance.choice([1, 2, 5]))()
    flat = (element * chance.choice([0, 1, 8, 64]))()
    kind = chance.choice("bBhHiIlLqQfd")
    room = mmap.mmap(-1, 4096)
    return chance.choice([
        grid, flat, memoryview(grid), array.array(kind, range(24)), room, memoryview(room)[::3],
        memoryview(room).cast(kind), memoryview(bytes(64)).cast("f"),
        memoryview(bytearray(96))[::-1],
        memoryview(bytearray(96)).cast("B", [4, 8, 3]), memoryview(bytearray(0)),
        ctypes.c_float(1.5), (ctypes.c_float * 0)(), memoryview(bytearray(64)).toreadonly()])


def strange_array(chance):
    """Unusual NumPy arrays: overlapping, endless, of another byte order."""
    base = np.arange(4096, dtype=chance.choice(["u1", "f4", "i8", ">f4", "f2"]))
    lib = np.lib.stride_tricks
    size = base.itemsize
    return chance.choice([
        lambda: np.broadcast_to(base[:1], (chance.choice([2, 2**20, 2**40]),)),
        lambda: np.broadcast_to(base[:4], (2**38, 4)),
        lambda: lib.as_strided(base, (64, 64), (size, size)),
        lambda: lib.as_strided(base[2000:], (8, 4), (-size * 4, size)),
        lambda: lib.as_strided(base, (4, 4), (0, 0)),
        lambda: lib.as_strided(base, (16, 3), (size * 3 + 1, size)),
        lambda: base[::-1], lambda: base[:64].reshape(8, 8).T, lambda: base[:0].reshape(0, 4),
        lambda: base[:0].reshape(4, 0, 2**40), lambda: base[:4].view(np.ndarray)[None, ::-1],
        lambda: np.rec.array(np.zeros(4, [("a", "f4"), ("b", "u1")])).a,
        lambda: base[:16].byteswap().view(base.dtype.newbyteorder()),
    ])()


def uninitialised(chance):
    """Objects of the package's classes, and of subclasses, whose __init__ has not run."""
    classes = [item for item in [*vars(halyard).values(), *vars(halyard._core).values()]
               if isinstance(item, type) and item.__module__.startswith("halyard")
               and not issubclass(item, (BaseException, type, enum.Enum))]
    made = chance.choice(classes)
    if chance.random() < 0.3:
        with contextlib.suppress(TypeError):
            made = type("Heir", (made,), {"__init__": lambda *_: None})
    try:
        return made.__new__(made)
    except Exception:
        return None


def thing(chance, kept):
    """Any of the objects above."""
    return chance.choice([lambda: hook(chance, kept), lambda: hook(chance, kept),
                          lambda: buffers(chance), lambda: strange_array(chance),
                          lambda: DlpackLiar(chance), lambda: InterfaceLiar(chance),
                          lambda: uninitialised(chance)])()
