# SPDX-License-Identifier: Apache-2.0
"""DLPack between the C interface and NumPy, in one process and across two: same addresses, no copy,
read-only told, deleters run. Exits with 77 where NumPy is missing.

    test_dlpack.py LIBRARY [unittest argument...]
"""
import ctypes as c
import gc
import os
import subprocess
import sys
import unittest
import weakref

try:
    import numpy as np
except ImportError:
    print("SKIPPED: NumPy is not installed for", sys.executable)
    sys.exit(77)

LIBRARY = os.path.abspath(sys.argv.pop(1))
hal = c.CDLL(LIBRARY)
VERSIONED = np.lib.NumpyVersion(np.__version__) >= "2.1.0"
U8, I32, F32, MEM, SHM = 0, 5, 9, 0, 2


class Struct(c.Structure):
    """The head of DLManagedTensorVersioned, as far as this test calls into it."""


class Older(c.Structure):
    """The tail of DLManagedTensor."""


Struct._fields_ = [("major", c.c_uint32), ("minor", c.c_uint32), ("context", c.c_void_p),
                   ("deleter", c.CFUNCTYPE(None, c.POINTER(Struct)))]
Older._fields_ = [("tensor", c.c_char * 48), ("context", c.c_void_p),
                  ("deleter", c.CFUNCTYPE(None, c.POINTER(Older)))]


def declare(name, result, *arguments):
    function = getattr(hal, name)
    function.restype, function.argtypes = result, arguments


declare("hal_last_error", c.c_char_p)
declare("hal_tensor_new", c.c_void_p, c.c_int, c.POINTER(c.c_size_t), c.c_size_t, c.c_int,
        c.c_char_p)
declare("hal_tensor_from_fd", c.c_void_p, c.c_int, c.c_int, c.POINTER(c.c_size_t), c.c_size_t,
        c.c_char_p)
declare("hal_tensor_free", None, c.c_void_p)
declare("hal_tensor_clone_fd", c.c_int, c.c_void_p)
declare("hal_tensor_map_create", c.c_void_p, c.c_void_p)
declare("hal_tensor_map_data", c.c_void_p, c.c_void_p)
declare("hal_tensor_map_data_const", c.c_void_p, c.c_void_p)
declare("hal_tensor_map_unmap", None, c.c_void_p)
declare("hal_tensor_to_dlpack", c.c_void_p, c.c_void_p)
declare("hal_tensor_to_dlpack_versioned", c.c_void_p, c.c_void_p, c.c_bool)
declare("hal_tensor_from_dlpack", c.c_void_p, c.c_void_p)
declare("hal_tensor_from_dlpack_versioned", c.c_void_p, c.c_void_p)
declare("hal_copy_stats", None, c.POINTER(c.c_uint64), c.POINTER(c.c_uint64))

# Capsules keep the address of their name, so the names live as long as the module.
NAMES = {False: (b"dltensor", b"used_dltensor"),
         True: (b"dltensor_versioned", b"used_dltensor_versioned")}
DESTRUCTOR = c.CFUNCTYPE(None, c.c_void_p)
python = c.pythonapi
python.PyCapsule_New.restype = c.py_object
python.PyCapsule_New.argtypes = [c.c_void_p, c.c_char_p, DESTRUCTOR]
python.PyCapsule_SetName.argtypes = [c.py_object, c.c_char_p]
# By address: a destructor's argument has no reference left to count.
pointer_at = c.PYFUNCTYPE(c.c_void_p, c.c_void_p, c.c_char_p)(("PyCapsule_GetPointer", python))
valid_at = c.PYFUNCTYPE(c.c_int, c.c_void_p, c.c_char_p)(("PyCapsule_IsValid", python))


@DESTRUCTOR
def delete_unused(capsule):
    """What nobody consumed is given back by the capsule."""
    for struct, (name, _) in ((Older, NAMES[False]), (Struct, NAMES[True])):
        if valid_at(capsule, name):
            managed = c.cast(pointer_at(capsule, name), c.POINTER(struct))
            managed.contents.deleter(managed)


def expect(result):
    if result is None or result == -1:
        raise OSError(hal.hal_last_error().decode())
    return result


class Tensor:
    """A hal_tensor as the array API wants it: enough for numpy.from_dlpack."""

    def __init__(self, handle, versioned=VERSIONED, read_only=False):
        self.handle, self.versioned, self.read_only = expect(handle), versioned, read_only

    @classmethod
    def new(cls, dtype, shape, memory=SHM, **options):
        return cls(hal.hal_tensor_new(dtype, (c.c_size_t * len(shape))(*shape), len(shape), memory,
                                      b"from python"), **options)

    @classmethod
    def from_fd(cls, dtype, fd, shape):
        return cls(hal.hal_tensor_from_fd(dtype, fd, (c.c_size_t * len(shape))(*shape), len(shape),
                                          None))

    @classmethod
    def from_array(cls, array, versioned=VERSIONED):
        capsule = array.__dlpack__(max_version=(1, 0)) if versioned else array.__dlpack__()
        fresh, used = NAMES[versioned]
        take = hal.hal_tensor_from_dlpack_versioned if versioned else hal.hal_tensor_from_dlpack
        tensor = cls(take(pointer_at(id(capsule), fresh)))
        python.PyCapsule_SetName(capsule, used)
        return tensor

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if self.versioned:
            managed = hal.hal_tensor_to_dlpack_versioned(self.handle, self.read_only)
        else:
            managed = hal.hal_tensor_to_dlpack(self.handle)
        return python.PyCapsule_New(expect(managed), NAMES[self.versioned][0], delete_unused)

    def address(self):
        mapped = expect(hal.hal_tensor_map_create(self.handle))
        data = hal.hal_tensor_map_data_const(mapped)
        hal.hal_tensor_map_unmap(mapped)
        return data

    def fd(self):
        return expect(hal.hal_tensor_clone_fd(self.handle))

    def free(self):
        hal.hal_tensor_free(self.handle)
        self.handle = None


def address_of(array):
    return array.__array_interface__["data"][0]


def copies():
    count = c.c_uint64()
    hal.hal_copy_stats(c.byref(count), None)
    return count.value


def mappings(fd):
    """Mappings of the memory behind a descriptor in this process."""
    inode = str(os.fstat(fd).st_ino)
    with open("/proc/self/maps", encoding="utf-8") as lines:
        return sum(line.split()[4] == inode for line in lines)


class FromHalyard(unittest.TestCase):
    def check_shared(self, versioned):
        before = copies()
        tensor = Tensor.new(F32, (2, 3), versioned=versioned)
        array = np.from_dlpack(tensor)
        self.assertEqual((array.shape, array.dtype, array.strides), ((2, 3), np.float32, (12, 4)))
        self.assertEqual(address_of(array), tensor.address())
        self.assertTrue((array == 0).all())
        other = np.from_dlpack(tensor)
        data = (c.c_float * 6).from_address(tensor.address())
        data[5] = 1.5
        self.assertEqual(array[1, 2], 1.5)
        if array.flags.writeable:
            array[0, 1] = -2
            self.assertEqual(data[1], -2)
            self.assertEqual(other[0, 1], -2)
        self.assertEqual(copies(), before)
        tensor.free()
        self.assertEqual(array[1, 2], 1.5, "the bytes outlive the tensor")
        return array

    def test_a_capsule_of_the_older_form(self):
        self.check_shared(False)

    @unittest.skipUnless(VERSIONED, "NumPy before 2.1 does not know DLPack 1.0")
    def test_a_capsule_of_the_versioned_form(self):
        self.assertTrue(self.check_shared(True).flags.writeable)

    @unittest.skipUnless(VERSIONED, "NumPy before 2.1 does not know DLPack 1.0")
    def test_the_read_only_flag_gives_a_read_only_array(self):
        tensor = Tensor.new(I32, (4,), read_only=True)
        array = np.from_dlpack(tensor)
        self.assertFalse(array.flags.writeable)
        with self.assertRaises(ValueError):
            array[0] = 1
        tensor.free()

    def check_released(self, versioned, drop):
        tensor = Tensor.new(U8, (5000,), versioned=versioned)
        fd = tensor.fd()
        self.addCleanup(os.close, fd)
        held = [tensor.__dlpack__() if drop else np.from_dlpack(tensor)]
        tensor.free()
        gc.collect()
        self.assertEqual(mappings(fd), 1, "the consumer holds the bytes")
        held.clear()
        gc.collect()
        self.assertEqual(mappings(fd), 0, "the deleter has let go of them")

    def test_the_deleter_runs_when_numpy_drops_its_array(self):
        self.check_released(False, drop=False)
        if VERSIONED:
            self.check_released(True, drop=False)

    def test_the_deleter_runs_when_nobody_takes_the_capsule(self):
        self.check_released(False, drop=True)
        self.check_released(True, drop=True)

    def test_every_element_type_of_numpy(self):
        names = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64",
                 "float16", "float32", "float64")
        for value, name in enumerate(names):
            tensor = Tensor.new(value, (3,), MEM, versioned=False)
            self.assertEqual(np.from_dlpack(tensor).dtype, np.dtype(name))
            tensor.free()
        tensor = Tensor.new(12, (3,), MEM, versioned=False)
        self.assertEqual(np.from_dlpack(tensor).dtype, np.dtype("bool"))
        tensor.free()

    def test_no_elements(self):
        tensor = Tensor.new(F32, (2, 0, 3), MEM, versioned=False)
        self.assertEqual(np.from_dlpack(tensor).shape, (2, 0, 3))
        tensor.free()

    def test_a_thousand_rounds_leave_no_descriptor_and_no_mapping(self):
        def counts():
            gc.collect()
            with open("/proc/self/maps", encoding="utf-8") as lines:
                return len(os.listdir("/proc/self/fd")), sum("memfd" in line for line in lines)
        before = counts()
        for _ in range(1000):
            tensor = Tensor.new(U8, (100,))
            array = np.from_dlpack(tensor)
            tensor.free()
            self.assertEqual(array[99], 0)
        del array
        self.assertEqual(counts(), before)


class FromNumpy(unittest.TestCase):
    def check_taken(self, versioned):
        before = copies()
        array = np.arange(6, dtype=np.int32).reshape(2, 3)
        gone = weakref.ref(array)
        tensor = Tensor.from_array(array, versioned)
        self.assertEqual(tensor.address(), address_of(array))
        data = (c.c_int32 * 6).from_address(tensor.address())
        data[4] = 44
        self.assertEqual(array[1, 1], 44)
        array[0, 0] = -7
        self.assertEqual(data[0], -7)
        self.assertEqual(copies(), before)
        del array
        gc.collect()
        self.assertIsNotNone(gone(), "the tensor holds the array")
        tensor.free()
        gc.collect()
        self.assertIsNone(gone(), "NumPy's deleter has run")

    def test_an_array_in_the_older_form(self):
        self.check_taken(False)

    @unittest.skipUnless(VERSIONED, "NumPy before 2.1 does not know DLPack 1.0")
    def test_an_array_in_the_versioned_form(self):
        self.check_taken(True)

    @unittest.skipUnless(VERSIONED, "NumPy before 2.1 does not know DLPack 1.0")
    def test_a_read_only_array_is_not_writable_here(self):
        array = np.arange(4, dtype=np.uint8)
        array.flags.writeable = False
        tensor = Tensor.from_array(array)
        mapped = expect(hal.hal_tensor_map_create(tensor.handle))
        self.assertIsNone(hal.hal_tensor_map_data(mapped))
        self.assertEqual(hal.hal_tensor_map_data_const(mapped), address_of(array))
        hal.hal_tensor_map_unmap(mapped)
        with self.assertRaisesRegex(OSError, "read-only"):
            tensor.__dlpack__()
        tensor.free()

    def test_a_reversed_and_cut_array_comes_back_as_it_was(self):
        array = np.arange(24, dtype=np.int16).reshape(4, 6)[::-1, 1:6:2]
        tensor = Tensor.from_array(array)
        back = np.from_dlpack(tensor)
        tensor.free()
        self.assertEqual(address_of(back), address_of(array))
        self.assertEqual(back.strides, array.strides)
        self.assertTrue((back == array).all())

    def test_a_complex_array_is_refused_by_name_and_not_leaked(self):
        array = np.zeros(3, dtype=np.complex64)
        gone = weakref.ref(array)
        with self.assertRaisesRegex(OSError, "complex of 64 bits"):
            Tensor.from_array(array, versioned=False)
        del array
        gc.collect()
        self.assertIsNone(gone())


class AcrossProcesses(unittest.TestCase):
    CHILD = "import sys; fd = int(sys.argv.pop(2)); import test_dlpack; test_dlpack.add_one(fd)"

    @unittest.skipUnless(VERSIONED, "NumPy before 2.1 makes all arrays from DLPack read-only")
    def test_numpy_in_another_process_writes_what_this_one_reads(self):
        tensor = Tensor.new(I32, (4, 5))
        array = np.from_dlpack(tensor)
        array[:] = np.arange(20).reshape(4, 5)
        fd = tensor.fd()
        self.addCleanup(os.close, fd)
        before = copies()
        command = [sys.executable, "-B", "-c", self.CHILD, LIBRARY, str(fd)]
        done = subprocess.run(command, pass_fds=[fd], text=True, capture_output=True, check=False,
                              cwd=os.path.dirname(os.path.abspath(__file__)))
        self.assertEqual((done.returncode, done.stdout), (0, "copies: 0\n"), done.stderr)
        self.assertEqual(list(array.ravel()), list(range(1, 21)))
        self.assertEqual(copies(), before)
        tensor.free()


def add_one(fd):
    """The child: adds 1 to each element in place, through its own tensor over the descriptor."""
    tensor = Tensor.from_fd(I32, fd, (4, 5))
    array = np.from_dlpack(tensor)
    array += 1
    tensor.free()
    print("copies:", copies())


if __name__ == "__main__":
    print("NumPy", np.__version__, "on", LIBRARY)
    unittest.main()
