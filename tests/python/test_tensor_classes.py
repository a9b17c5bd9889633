# SPDX-License-Identifier: Apache-2.0
"""halyard.Tensor has NumPy's semantics, halyard.edgefirst.Tensor those of EdgeFirst HAL; each call
gives the class of its module, and every call takes both."""
import copy
import gc
import multiprocessing
import pickle
import weakref

import numpy as np
import pytest

import halyard
import halyard.edgefirst as ef
from helpers import fails
import models

MEM = halyard.TensorMemory.MEM
CLASSES = [halyard.Tensor, ef.Tensor]


def test_what_the_two_say_of_their_sizes():
    own, other = halyard.Tensor([2, 3], "float32", MEM), ef.Tensor([2, 3], "float32", MEM)
    assert (own.shape, own.size, own.nbytes, own.strides) == ((2, 3), 6, 24, (12, 4))
    assert type(own.dtype) is type(np.dtype("f4")) and own.dtype is own.dtype
    assert own.dtype == np.float32 and own.dtype == "float32" and str(own.dtype) == "float32"
    assert (other.shape, other.size, other.nbytes, other.strides) == ([2, 3], 24, 24, [12, 4])
    assert other.dtype == "float32" and type(other.dtype) is str
    assert str(other) == "Tensor(dtype=float32, shape=[2, 3], memory=Mem)"
    assert own.reshape([3, 2]).shape == (3, 2) and own.shape == (2, 3)
    assert other.reshape([3, 2]) is None and other.shape == [3, 2]
    fails(OverflowError, lambda: other.reshape([-1]))


def test_both_are_tensors_of_a_module_and_none_of_the_other():
    assert not issubclass(ef.Tensor, halyard.Tensor) and not issubclass(halyard.Tensor, ef.Tensor)
    assert issubclass(halyard.TensorHandle, halyard.Tensor)
    assert (ef.Tensor.__module__, ef.Tensor.__qualname__) == ("halyard.edgefirst", "Tensor")
    assert (halyard.Tensor.__module__, halyard.Tensor.__name__) == ("halyard", "Tensor")
    fails(TypeError, lambda: halyard._core._Tensor([2]))


@pytest.mark.parametrize("kind", CLASSES)
def test_parts_and_copies_are_of_the_same_class(kind, tmp_path):
    t, image = kind([2, 3, 4], "uint8", MEM), kind.image(16, 8, "rgb", MEM)
    image.save_png(tmp_path / "x.png")
    made = [t[0], t[0, 1:], t[..., 1], t.batch(1), t.copy(), copy.copy(t), copy.deepcopy(t), *t,
            image[2:4], image.view(halyard.Region(0, 0, 4, 4)), kind.from_array(np.zeros(3)),
            kind.from_array(t), kind.from_array(t, True), kind.from_dlpack(np.zeros(3)),
            kind.load(tmp_path / "x.png"), kind.load_from_bytes(image.to_png()),
            pickle.loads(pickle.dumps(t)), pickle.loads(pickle.dumps(image))]
    assert {type(one) for one in made} == {kind}


@pytest.mark.parametrize("module", [halyard, ef])
def test_calls_give_the_class_of_their_module(module, tmp_path):
    processor = module.ImageProcessor()
    tiles = module.TilingConfig(16, 16)
    decoder = module.Decoder.new_from_outputs(
        [module.Output.detection(shape=[1, 17, 400]).with_normalized(True),
         module.Output.protos(shape=[1, 8, 16, 16])], 0.25, 0.45, input_dims=(64, 64))
    outputs = [np.zeros((1, 17, 400), np.float32), np.zeros((1, 8, 16, 16), np.float32)]
    outputs[0][0, :4, 3], outputs[0][0, 4, 3] = 0.5, 0.9
    protos = decoder.decode_proto(outputs).protos
    array = np.zeros((4, 4), np.float32)
    module.Tensor.image(16, 8, "rgb").save_png(tmp_path / "x.png")
    made = [processor.create_image(8, 8), processor.alloc_tile_batch(2, tiles),
            processor.alloc_tile_batch(2, tiles, memory="mem"), protos.take_protos(),
            protos.take_mask_coefficients(), module.load(tmp_path / "x.png"),
            module.tensor(array), module.from_numpy(array), module.asarray(array),
            module.asarray(halyard.Tensor([2])), module.asarray(ef.Tensor([2]))]
    if module.is_shm_available():
        shared = module.Tensor([4096], "uint8", "shm")
        made += [module.Tensor.from_fd(shared.fd, [4096], "uint8"),
                 processor.import_image(shared.fd, 32, 32, "grey")]
    assert {type(one) for one in made} == {module.Tensor}


@pytest.mark.parametrize("own", CLASSES)
@pytest.mark.parametrize("other", CLASSES)
def test_every_call_takes_both(own, other, tmp_path):
    src, dst = own.image(32, 32, "rgb", MEM), other.image(16, 16, "rgb", MEM)
    src.fill(7)
    halyard.ImageProcessor().convert(src, dst)
    assert (np.asarray(dst) == 7).all()
    ef.ImageProcessor().convert(src, dst, letterbox=[0, 0, 0, 255])
    box = (np.array([[0.1, 0.1, 0.9, 0.9]], np.float32), [0.9], [0])
    ef.ImageProcessor().draw_decoded_masks(own.image(16, 16, "rgb", MEM), *box, background=dst)
    halyard.ImageProcessor().tile_into(src, other.image(16, 64, "rgb", MEM),
                                       halyard.TilingConfig(16, 16, overlap=0))
    found = models.decoder().decode([own.from_array(models.detection_output())])
    assert len(found) == len(models.OBJECTS)
    other.image(4, 4, "rgb").from_numpy(own([4, 4, 3], "uint8"))
    halyard.imwrite(tmp_path / "x.png", dst)
    shared = other.from_array(src)
    np.asarray(shared)[:] = 9
    assert (np.asarray(src) == 9).all() and shared.format is halyard.PixelFormat.Rgb
    assert np.from_dlpack(other.from_dlpack(src)).shape == (32, 32, 3)


def _send(connection, kind):
    """Stays until the tensor is there: it is this process that hands its descriptor out."""
    tensor = kind([4, 3], "uint8", "shm" if halyard.is_shm_available() else "mem")
    tensor.fill(8)
    connection.send(tensor)
    connection.recv()


@pytest.mark.parametrize("kind", CLASSES)
def test_the_class_travels_between_processes(kind):
    here, there = multiprocessing.Pipe()
    sender = multiprocessing.Process(target=_send, args=(there, kind))
    sender.start()
    got = here.recv()
    here.send(None)
    sender.join(20)
    assert type(got) is kind and (np.asarray(got) == 8).all()


def test_pickles_keep_the_orientation():
    image = halyard.Tensor.image(4, 2, "rgb", MEM)
    image.orientation = ("horizontal", 90)
    assert pickle.loads(pickle.dumps(image)).orientation == image.orientation


@pytest.mark.parametrize("kind", CLASSES)
def test_subclasses_weak_references_and_cycles(kind):
    class Named(kind):
        pass

    t = Named([2, 2])
    assert isinstance(t, kind) and type(t[0]) is kind and t.nbytes == 16
    gone = weakref.ref(t)
    del t
    assert gone() is None

    class Holder(np.ndarray):
        pass

    held = np.zeros(8).view(Holder)
    held.tensor = kind.from_array(held)
    gone = weakref.ref(held)
    del held
    gc.collect()
    assert gone() is None


def test_handles_have_numpys_semantics_too():
    with halyard.TensorPool(0x7E5, 1, 4) as pool:
        handle = pool.alloc((2, 3), "uint8")
        assert (handle.shape, handle.size, handle.dtype) == ((2, 3), 6, np.uint8)
        assert handle.reshape(-1).shape == (6,) and isinstance(handle, halyard.Tensor)
        assert handle.descriptor().shape == (2, 3) and handle.descriptor().dtype == np.uint8
        message = halyard.Image(8, 4, "mono8", pool=pool)
        assert message.shape == (4, 8, 1) and message.dtype == np.uint8
        del handle, message


@pytest.mark.parametrize("given, name", [
    ("f4", "float32"), ("<f4", "float32"), ("float", "float64"), (float, "float64"),
    (bool, "bool"), ("?", "bool"), (np.float16, "float16"), (np.dtype("u2"), "uint16"),
    ("u8", "uint64"), ("i1", "int8"), ("B", "uint8"), ("half", "float16"), (np.intp, "int64"),
    ("bfloat16", "bfloat16")])
@pytest.mark.parametrize("kind", CLASSES)
def test_dtypes_are_what_numpy_takes(kind, given, name):
    assert kind([2], given, MEM)._dtype_name == name
    assert halyard.Tensor.image(2, 2, "grey", dtype=given)._dtype_name == name


@pytest.mark.parametrize("given, kind, text", [
    ("f32", ValueError, "'f32' is not a known element type; did you mean 'float32'"),
    ("flaot32", ValueError, "did you mean 'float32'"),
    ("f16", ValueError, "did you mean 'float16'"),
    ("complex64", ValueError, "'complex64' is not a known element type \\("),
    (object, ValueError, "object"),
    (">f4", NotImplementedError, "byte order"), (None, TypeError, "dtype"),
    (3, TypeError, "dtype: must be an element type"), ([], (TypeError, ValueError), "dtype")])
def test_dtypes_that_there_are_none_of(given, kind, text):
    fails(kind, text, lambda: halyard.Tensor([2], given))


def test_bfloat16_has_its_dtype_where_ml_dtypes_is():
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="NumPy has no bfloat16 of its own")
    assert halyard.Tensor([2], "bfloat16").dtype == np.dtype(ml_dtypes.bfloat16)
    assert ef.Tensor([2], ml_dtypes.bfloat16).dtype == "bfloat16"


def test_from_numpy_shares_memory():
    array = np.arange(12, dtype=np.int16).reshape(3, 4)
    tensor = halyard.from_numpy(array)
    assert (tensor.shape, tensor.dtype, tensor.is_writable) == ((3, 4), array.dtype, True)
    array[1, 2] = 99
    np.asarray(tensor)[0, 0] = 55
    assert np.asarray(tensor)[1, 2] == 99 and array[0, 0] == 55
    rotated = halyard.from_numpy(array[::-1, ::2])
    assert rotated.strides == array[::-1, ::2].strides and np.asarray(rotated)[0, 0] == array[2, 0]
    array.flags.writeable = False
    fixed = halyard.from_numpy(array)
    assert not fixed.is_writable and not np.asarray(fixed).flags.writeable
    with pytest.raises(ValueError):
        np.asarray(fixed)[0, 0] = 1
    fails(PermissionError, lambda: fixed.from_numpy(np.zeros((3, 4), np.int16)))
    del array
    gc.collect()
    assert np.asarray(tensor)[0, 0] == 55


@pytest.mark.parametrize("wrong, kind", [
    ([1, 2], TypeError), (b"abc", TypeError), (memoryview(b"abc"), TypeError), (3, TypeError),
    (np.float32(3), TypeError), (np.array(3.0), ValueError), (np.zeros(3, object), RuntimeError),
    (np.zeros(3, complex), ValueError), (np.zeros(3, ">i4"), ValueError)])
def test_from_numpy_refuses_what_is_no_array(wrong, kind):
    fails(kind, "array", lambda: halyard.from_numpy(wrong))


class Interface:
    def __init__(self, array):
        self.array = array
        self.__array_interface__ = array.__array_interface__


class Dlpack:
    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_asarray_takes_all_that_has_memory():
    array = np.arange(6, dtype=np.uint8)
    for given in (array, memoryview(array), Interface(array), Dlpack(array), bytearray(array)):
        tensor = halyard.asarray(given)
        np.asarray(tensor)[0] = 77
        assert tensor.shape == (6,) and np.asarray(memoryview(tensor))[0] == 77
        assert isinstance(given, bytearray) or array[0] == 77
        own = halyard.asarray(given, copy=True)
        np.asarray(own)[0] = array[0] = 1
    assert halyard.asarray(tensor) is tensor and halyard.asarray(tensor, copy=True) is not tensor
    for wrong in ([1, 2], 3, None, "text", b"bytes"):
        fails(TypeError, "array", lambda: halyard.asarray(wrong))


def test_array_takes_the_arguments_of_numpy_2():
    t = halyard.Tensor([3], "int16", MEM)
    assert np.shares_memory(t.__array__(), np.asarray(t))
    assert not np.shares_memory(t.__array__(copy=True), np.asarray(t))
    assert t.__array__(np.float32).dtype == np.float32 and t.__array__(copy=False).size == 3
    fails(ValueError, "copy", lambda: t.__array__(np.float32, copy=False))
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
        assert np.shares_memory(np.asarray(t, copy=False), np.asarray(t))
        assert not np.shares_memory(np.array(t, copy=True), np.asarray(t))
