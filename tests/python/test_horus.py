# SPDX-License-Identifier: Apache-2.0
"""halyard.horus: HORUS's signatures, and the Python page of its TensorPool document as it stands.
``import horus`` is served by halyard.horus.install(), which puts the module in sys.modules."""
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import peers  # noqa: F401  sets the namespace
from helpers import address, fails, run_python

import halyard as ef
from halyard import horus

numbers = iter(range(100, 1000))

PAGE = '''
import horus
# Create tensor pool
pool = horus.TensorPool(pool_id=1, size_mb=1024, max_slots=1024)
# Allocate CPU tensor
handle = pool.alloc(shape=(1080, 1920, 3), dtype="float32")
# Use numpy arrays directly
import numpy as np
arr = np.array([1.0, 2.0, 3.0], dtype=np.float32)
# Convert to framework tensors as needed
import torch
torch_tensor = torch.from_numpy(arr) # Zero-copy
'''

CHECK = '''
assert handle.shape == (1080, 1920, 3) and handle.dtype == "float32"
assert pool.pool_id == 1 and pool.stats()["allocated_slots"] == 1
assert torch_tensor.data_ptr() == arr.__array_interface__["data"][0]
'''

# The same for a frame of a pool, with PyTorch of any age.
FRAMES = '''
seen = torch.from_dlpack(handle)
seen[0, 0] = 7
assert seen.data_ptr() == np.asarray(handle).__array_interface__["data"][0]
topic = halyard.Topic("horus/frames", receives_own=True)
topic.send(handle)
frame = topic.recv(20)
try:
    again = torch.from_dlpack(frame)
except BufferError as error:
    assert "read-only" in str(error), error
    import warnings
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = torch.from_numpy(np.asarray(frame))
assert again.data_ptr() == seen.data_ptr() and float(again[0, 0, 2]) == 7
print("the same memory")
'''


def run(program, python=sys.executable):
    start = "import halyard\nfrom halyard import horus as _horus\n_horus.install()\n"
    return subprocess.run([python, "-B", "-c", start + program], capture_output=True, text=True,
                          timeout=200)


def python_with_torch():
    for python in (sys.executable, "/usr/bin/python3"):
        if pathlib.Path(python).exists() and not subprocess.run(
                [python, "-c", "import halyard, torch"], capture_output=True).returncode:
            return python
    return pytest.skip("torch is not installed")


def test_the_page_runs_as_it_stands():
    done = run(PAGE + CHECK, python_with_torch())
    assert done.returncode == 0, done.stderr


def test_the_page_runs_up_to_torch_without_it():
    page = PAGE[:PAGE.index("# Convert to framework")]
    done = run(page + CHECK[:CHECK.index("assert torch")])
    assert done.returncode == 0, done.stderr


def test_frames_go_into_torch_without_a_copy():
    done = run(PAGE + FRAMES, python_with_torch())
    assert done.returncode == 0 and done.stdout == "the same memory\n", done.stderr


def test_install_refuses_when_another_horus_is_there():
    done = run("assert __import__('horus') is halyard.horus")
    assert done.returncode == 0, done.stderr
    done = run_python("-c", "import sys, types\nsys.modules['horus'] = types.ModuleType('horus')\n"
                      "import halyard\nhalyard.horus.install()\n", timeout=200)
    assert "RuntimeError: horus is imported already" in done.stderr


def test_pools():
    pool = horus.TensorPool(next(numbers), 16, 8)
    handle = pool.alloc(shape=(4, 4), dtype="uint8")
    assert isinstance(handle, horus.TensorHandle) and isinstance(handle, horus.Tensor)
    stats = pool.stats()
    assert stats["allocated_slots"] == 1 and stats["max_slots"] == 8
    assert stats["pool_size"] == stats["used_bytes"] + stats["free_bytes"] == 16 << 20
    fails(ef.Error, "max_slots", lambda: horus.TensorPool(pool.pool_id, 16, 9))


def test_tensors():
    tensor = horus.Tensor((2, 3))
    assert tensor.dtype == "float32" and not np.asarray(tensor).any() and tensor.refcount >= 1
    array = np.arange(6, dtype="int16").reshape(2, 3)
    made = horus.Tensor.from_numpy(array)
    assert (made.numpy() == array).all()
    descriptor = made.descriptor()
    again = horus.Tensor.from_descriptor(descriptor.pool_id, bytes(descriptor))
    assert address(again.numpy()) == address(made.numpy())
    assert horus.Tensor.empty((2,), "int8").shape == (2,)
    assert str(horus.Device.cuda(1)) == "cuda:1" and str(horus.Device.cpu()) == "cpu"
    assert horus.cuda_available() == (horus.cuda_device_count() > 0)


def test_images():
    image = horus.Image(48, 64)
    assert (image.height, image.width, image.encoding, image.channels) == (48, 64, "rgb8", 3)
    assert not image.to_numpy().any() and image.to_numpy().shape == (48, 64, 3)
    image.fill([255, 0, 0])
    image.set_pixel(1, 0, [1, 2, 3])
    image.frame_id = "camera"
    image.timestamp_ns = 5
    assert image.pixel(0, 0) == (255, 0, 0) and image.frame_id == "camera"
    assert image.roi(0, 0, 2, 1) == bytes([255, 0, 0, 1, 2, 3])
    assert address(np.asarray(image)) == address(image.as_tensor().numpy())
    assert address(np.from_dlpack(image)) == address(image.to_numpy())
    assert horus.Image.from_numpy(np.ones((4, 5), "uint16")).encoding == "mono16"
    assert horus.Image.from_bytes(b"abcdef", 2, 3, "mono8").pixel(2, 1) == (ord("f"),)
    assert image.device == "cpu" and not image.is_gpu() and isinstance(image.message, ef.Image)
    fails(ef.Error, "value", lambda: image.fill([1, 2]))


def test_point_clouds_and_depth_images():
    cloud = horus.PointCloud(num_points=10, fields=4)
    assert len(cloud) == 10 and cloud.has_intensity and not cloud.to_numpy().any()
    cloud.to_numpy()[3] = 1, 2, 3, 4
    assert cloud.point_at(3) == [1, 2, 3, 4]
    fails(IndexError, "index", lambda: cloud.point_at(10))
    assert horus.PointCloud.from_numpy(np.zeros((5, 3), "float32")).is_xyz
    for name, is_meters in (("float32", True), ("meters", True), ("uint16", False), ("mm", False)):
        depth = horus.DepthImage(4, 6, name)
        assert (depth.height, depth.width, depth.is_meters) == (4, 6, is_meters)
    depth.set_depth(5, 3, 1.25)
    assert depth.get_depth(5, 3) == 1.25 and depth.depth_statistics().count == 1
    assert horus.DepthImage.from_numpy(np.ones((2, 2))).dtype == "float32"


def test_topics():
    for kind, message in ((horus.Image, horus.Image(4, 6)), (horus.PointCloud, horus.PointCloud(3)),
                          (horus.DepthImage, horus.DepthImage(4, 6))):
        name = f"horus.{kind.__name__}"
        sender, receiver = horus.Topic(kind, 8, name), horus.Topic(kind, endpoint=name)
        assert sender.send(message, node=None) and sender.name == name
        found = receiver.recv(node=None)
        assert isinstance(found, kind) and receiver.recv() is None
        assert address(found.to_numpy()) == address(message.to_numpy())
        assert not found.to_numpy().flags.writeable
    assert horus.Topic(horus.Image).name == "image"
    sender, receiver = horus.Topic(horus.Tensor, endpoint="t"), horus.Topic(horus.Tensor,
                                                                           endpoint="t")
    sender.send(sender.alloc_tensor((3,), "uint8"))
    assert receiver.recv().shape == (3,)
    fails(TypeError, "type", lambda: horus.Topic(int))
    receiver.close()
    fails(ef.Error, "closed", lambda: receiver.recv())
