# SPDX-License-Identifier: Apache-2.0
"""Tensors on a CUDA device, with a CUDA runtime without a device (tests/support/cuda): addresses
are memory of this process. FAKE_CUDART names its file."""
import ctypes
import gc
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import halyard as ef

os.environ["HALYARD_ALLOW_SOFTWARE_GL"] = "1"
FAKE = os.environ.get("FAKE_CUDART")
DLTENSOR_VERSIONED = b"dltensor_versioned"

if FAKE is None:
    pytest.skip("FAKE_CUDART does not name a CUDA runtime", allow_module_level=True)
# Its soname is the first name that the library looks for.
cuda = ctypes.CDLL(FAKE)
cuda.fake_cuda_faults.restype = ctypes.c_char_p


@pytest.fixture(autouse=True)
def nothing_left():
    cuda.fake_cuda_reset()
    yield
    gc.collect()
    # Pixel buffers are deleted in order on a thread of OpenGL: a map of another comes after that.
    with pixels().map():
        pass
    assert cuda.fake_cuda_faults() == b""
    assert cuda.fake_cuda_mapped() == 0
    assert cuda.fake_cuda_live() == 0
    cuda.fake_cuda_reset()


def pixels(shape=(4, 6), dtype="float32"):
    try:
        return ef.Tensor(shape, dtype, mem="pbo")
    except ef.UnsupportedError as error:
        pytest.skip(str(error))


def calls(name):
    return cuda.fake_cuda_calls(name.encode())


def at(address, shape, dtype=np.float32):
    """The elements at an address of the fake device."""
    count = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = (ctypes.c_char * count).from_address(address)
    return np.frombuffer(memory, dtype).reshape(shape)


def test_a_runtime_with_a_device_is_available():
    assert ef.is_cuda_available() is True


def test_without_a_runtime_nothing_is_on_a_device():
    program = ("import halyard as ef\n"
               "print(ef.is_cuda_available(), ef.Tensor((3,), 'uint8', mem='pbo').cuda_map())")
    environment = {k: v for k, v in os.environ.items() if k != "FAKE_CUDART"}
    fake = {"LD_LIBRARY_PATH": os.path.dirname(FAKE), "FAKE_CUDA_DEVICES": "0"}
    done = subprocess.run([sys.executable, "-c", program], env={**environment, **fake},
                          capture_output=True, text=True, check=True)
    assert done.stdout == "False None\n"


def test_memory_without_an_address_is_none():
    for memory in ("mem", "shm"):
        assert ef.Tensor((4,), "uint8", mem=memory).cuda_map() is None
    assert calls("cudaGraphicsGLRegisterBuffer") == 0


def test_a_map_has_an_address_a_size_and_an_end():
    tensor = pixels()
    with tensor.map() as m:
        np.asarray(m)[...] = np.arange(24).reshape(4, 6)
    m = tensor.cuda_map()
    assert isinstance(m, ef.CudaMap)
    assert m.size == len(m) == 96 and m.device_ptr % 256 == 0
    seen = at(m.device_ptr, (4, 6))
    np.testing.assert_array_equal(seen, np.arange(24).reshape(4, 6))
    seen[1, 2] = -1
    m.release()
    m.release()
    assert m.device_ptr == 0 and m.size == 0 and len(m) == 0
    assert np.asarray(tensor)[1, 2] == -1


def test_a_map_is_a_context_manager_and_keeps_its_tensor():
    with pixels().cuda_map() as m:
        gc.collect()
        assert m.device_ptr != 0 and cuda.fake_cuda_mapped() == 1
    assert m.device_ptr == 0 and cuda.fake_cuda_mapped() == 0


def test_only_cuda_map_makes_maps():
    with pytest.raises(TypeError):
        ef.CudaMap()


def test_cuda_and_the_cpu_exclude_each_other():
    tensor = pixels()
    with tensor.cuda_map():
        with pytest.raises(ef.BusyError):
            tensor.map()
        with pytest.raises(ef.BusyError):
            tensor.cuda_map()
    with tensor.map():
        with pytest.raises(ef.BusyError):
            tensor.cuda_map()
    with tensor.cuda_map():
        pass


def test_what_cuda_refuses_is_none_and_what_fails_raises():
    tensor = pixels()
    cuda.fake_cuda_fail(b"cudaGraphicsGLRegisterBuffer", 801, 1)
    assert tensor.cuda_map() is None
    cuda.fake_cuda_fail(b"cudaGraphicsGLRegisterBuffer", 2, 1)
    with pytest.raises(ef.OutOfMemoryError):
        tensor.cuda_map()
    cuda.fake_cuda_fail(b"cudaGraphicsMapResources", 999, 1)
    with pytest.raises(ef.Error, match="cannot map"):
        tensor.cuda_map()
    with tensor.cuda_map():
        pass


def test_streams_are_handles():
    tensor = pixels()
    with tensor.cuda_map(stream=4096) as m:
        assert m.__cuda_array_interface__["stream"] == 4096
    for wrong, error in ((2, ef.InvalidArgumentError), (-1, OverflowError), ("a", TypeError)):
        with pytest.raises(error):
            tensor.cuda_map(stream=wrong)


def test_the_array_interface_describes_the_elements():
    tensor = pixels()
    with tensor.cuda_map() as m:
        assert m.__cuda_array_interface__ == {
            "version": 3, "typestr": "<f4", "shape": (4, 6), "strides": None,
            "data": (m.device_ptr, False), "stream": 1}
    with pytest.raises(BufferError):
        m.__cuda_array_interface__


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64",
                                   "int64", "float16", "float32", "float64", "bool"])
def test_the_array_interface_names_types_as_numpy_does(dtype):
    with pixels((3,), dtype).cuda_map() as m:
        assert np.dtype(m.__cuda_array_interface__["typestr"]) == np.dtype(dtype)


def test_bfloat16_has_dlpack_alone():
    with pixels((3,), "bfloat16").cuda_map() as m:
        assert not hasattr(m, "__cuda_array_interface__")
        assert m.__dlpack__(max_version=(1, 0)) is not None


def test_parts_have_an_offset_and_strides():
    tensor = pixels()
    part = tensor[1:3, 2:5]
    with part.cuda_map() as m:
        interface = m.__cuda_array_interface__
        assert interface["shape"] == (2, 3) and interface["strides"] == (24, 4)
        assert m.size == 96 - 32
        address, shape, strides, _ = dlpack_of(m)
        assert address == m.device_ptr and shape == [2, 3] and strides == [6, 1]


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class Managed(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32 * 2), ("context", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", DLTensor)]


def read_capsule(capsule):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return Managed.from_address(get(capsule, DLTENSOR_VERSIONED)).tensor


def dlpack_of(m, **arguments):
    capsule = m.__dlpack__(max_version=(1, 0), **arguments)
    t = read_capsule(capsule)
    return t.data, t.shape[:t.ndim], t.strides[:t.ndim], (t.device_type, t.device_id)


def test_dlpack_is_on_the_device():
    cuda.fake_cuda_set(b"devices", 2)
    cuda.fake_cuda_set(b"gl_device", 1)
    with pixels().cuda_map() as m:
        assert m.__dlpack_device__() == (2, 1)
        assert dlpack_of(m) == (m.device_ptr, [4, 6], [6, 1], (2, 1))
        assert dlpack_of(m, dl_device=(2, 1), copy=False)[3] == (2, 1)
        assert m.__dlpack__() is not None
        for wrong in ({"dl_device": (1, 0)}, {"dl_device": (2, 0)}, {"copy": True}):
            with pytest.raises(BufferError):
                m.__dlpack__(**wrong)
    for call in (m.__dlpack__, m.__dlpack_device__):
        with pytest.raises(BufferError):
            call()
    # The worker of OpenGL is on the first device again.
    cuda.fake_cuda_set(b"gl_device", 0)
    with pixels().cuda_map() as m:
        assert m.__dlpack_device__() == (2, 0)


def test_dlpack_orders_other_streams_after_the_maps():
    with pixels().cuda_map() as m:
        for stream in (None, 1, -1):
            m.__dlpack__(stream=stream)
        assert calls("cudaStreamSynchronize") == 0
        m.__dlpack__(stream=2)
        m.__dlpack__(stream=4096)
        assert calls("cudaStreamSynchronize") == 2
        for wrong in (0, -2):
            with pytest.raises(ef.InvalidArgumentError):
                m.__dlpack__(stream=wrong)
        with pytest.raises(TypeError):
            m.__dlpack__(stream="a")
        cuda.fake_cuda_fail(b"cudaStreamSynchronize", 700, 1)
        with pytest.raises(ef.Error, match="700"):
            m.__dlpack__(stream=2)


def test_exports_keep_the_mapping():
    tensor = pixels()
    m = tensor.cuda_map()
    capsule = m.__dlpack__(max_version=(1, 0))
    m.release()
    assert cuda.fake_cuda_mapped() == 1
    at(read_capsule(capsule).data, (4, 6))[3, 5] = 8
    with pytest.raises(ef.BusyError):
        tensor.map()
    del capsule
    assert cuda.fake_cuda_mapped() == 0
    assert np.asarray(tensor)[3, 5] == 8


def test_images_whose_planes_lie_apart_have_no_single_address():
    pixels()
    image = ef.Tensor.image(64, 32, "nv12", mem="pbo").view(ef.Region(0, 0, 32, 16))
    with image.cuda_map() as m:
        assert m.device_ptr != 0
        assert not hasattr(m, "__cuda_array_interface__")
        with pytest.raises(BufferError):
            m.__dlpack__()


def test_threads_map_in_turns():
    tensor, served, failures = pixels(), [], []

    def work():
        for _ in range(50):
            try:
                with tensor.cuda_map() as m:
                    served.append(m.device_ptr)
            except ef.BusyError:
                pass
            except Exception as error:  # noqa: BLE001
                failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert served and not failures


def test_a_child_of_fork_does_not_use_cuda():
    tensor = pixels()
    with tensor.cuda_map():
        pass
    child = os.fork()
    if child == 0:
        code = 1
        try:
            assert ef.is_cuda_available() is False
            with pytest.raises(ef.Error):
                tensor.cuda_map()
            assert cuda.fake_cuda_faults() == b""
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
