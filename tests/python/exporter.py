# SPDX-License-Identifier: Apache-2.0
"""Objects with a buffer (PEP 3118) that says whatever a test wants, also what no honest exporter
says. Made with ctypes, for Python code cannot fill in a Py_buffer before Python 3.12."""
import ctypes

api = ctypes.pythonapi


class View(ctypes.Structure):
    """Py_buffer."""

    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.c_void_p), ("len", ctypes.c_ssize_t),
                ("itemsize", ctypes.c_ssize_t), ("readonly", ctypes.c_int),
                ("ndim", ctypes.c_int), ("format", ctypes.c_char_p),
                ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
                ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
                ("suboffsets", ctypes.POINTER(ctypes.c_ssize_t)), ("internal", ctypes.c_void_p)]


class _Slot(ctypes.Structure):
    _fields_ = [("slot", ctypes.c_int), ("function", ctypes.c_void_p)]


class _Spec(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("basicsize", ctypes.c_int),
                ("itemsize", ctypes.c_int), ("flags", ctypes.c_uint),
                ("slots", ctypes.POINTER(_Slot))]


def sizes(numbers):
    """An array of Py_ssize_t; None stays None."""
    return None if numbers is None else (ctypes.c_ssize_t * max(len(numbers), 1))(*numbers)


@ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(View), ctypes.c_int)
def _get(self, view, flags):
    v = view.contents
    self.flags = flags
    v.buf, v.len, v.itemsize = self.address, self.length, self.itemsize
    v.readonly, v.ndim, v.format = self.readonly, self.ndim, self.format
    v.shape, v.strides, v.suboffsets = self.shape, self.strides, self.suboffsets
    v.internal = None
    v.obj = id(self) if self.is_owned else None
    if self.is_owned:
        api.Py_IncRef(ctypes.py_object(self))
        self.out += 1
    return 0


@ctypes.PYFUNCTYPE(None, ctypes.py_object, ctypes.POINTER(View))
def _release(self, view):
    self.out -= 1


_slots = (_Slot * 3)(_Slot(1, ctypes.cast(_get, ctypes.c_void_p)),
                     _Slot(2, ctypes.cast(_release, ctypes.c_void_p)), _Slot(0, None))
_spec = _Spec(b"exporter.Base", 0, 0, 1 << 10, _slots)  # Py_TPFLAGS_BASETYPE
api.PyType_FromSpec.restype = ctypes.py_object
_Base = api.PyType_FromSpec(ctypes.byref(_spec))


class Exporter(_Base):
    """`out` counts the buffers that are out. `memory` is 64 KiB, element 0 lies at its middle."""

    def __init__(self, shape=(4,), strides=(4,), itemsize=4, format=b"f", length=None, ndim=None,
                 readonly=0, suboffsets=None, address=0, is_owned=True):
        self.memory = ctypes.create_string_buffer(1 << 16)
        count = 1
        for extent in shape or ():
            count *= extent
        self.length = count * itemsize if length is None else length
        self.ndim = len(shape or ()) if ndim is None else ndim
        self.shape, self.strides, self.suboffsets = sizes(shape), sizes(strides), sizes(suboffsets)
        self.itemsize, self.format, self.readonly = itemsize, format, readonly
        self.address = ctypes.addressof(self.memory) + (1 << 15) if address == 0 else address
        self.out, self.is_owned = 0, is_owned
