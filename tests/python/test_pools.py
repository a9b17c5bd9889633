# SPDX-License-Identifier: Apache-2.0
"""TensorPool, TensorHandle and what names them: views without a copy, limits, other processes."""
import contextlib
import pickle
import threading
import time

import numpy as np
import pytest

from peers import Peer
from helpers import address, ends_in_child, fails, in_threads, open_descriptors, resident_bytes

import halyard as ef

numbers = iter(range(1, 1000))


@pytest.fixture
def pool():
    with ef.TensorPool(next(numbers), 64, 64) as made:
        yield made


def test_a_handle_is_a_tensor_of_the_pool(pool):
    handle = pool.alloc((4, 3), "float32")
    assert isinstance(handle, ef.Tensor) and isinstance(handle, ef.TensorHandle)
    assert handle.shape == (4, 3) and handle.dtype == "float32" and handle.memory.name == "SHM"
    assert handle.pool == pool and handle.device == ef.Device.cpu() and handle.is_writable
    assert handle.refcount == 1
    fails(TypeError, lambda: ef.TensorHandle())


def test_the_array_interface_shows_the_same_bytes(pool):
    handle = pool.alloc((4, 3), "uint16")
    array = np.asarray(handle)
    array[:] = np.arange(12).reshape(4, 3)
    interface = handle.__array_interface__
    assert interface["version"] == 3 and interface["shape"] == (4, 3)
    assert interface["typestr"] == "<u2" and interface["data"] == (address(array), False)

    class Asker:  # knows the interface alone, as PIL does
        __array_interface__ = interface
        keeps = handle

    assert (np.asarray(Asker()) == array).all()
    assert not hasattr(pool.alloc((2,), "bfloat16"), "__array_interface__")


def test_numpy_and_dlpack_see_the_same_bytes(pool):
    handle = pool.alloc((4, 3), "float32")
    array = np.asarray(handle)
    array[:] = 7
    other = np.from_dlpack(handle)
    assert address(array) == address(other) and other[3, 2] == 7
    assert array.flags.writeable and handle.refcount > 1
    del array, other
    assert handle.refcount == 1
    with handle.map() as mapped:
        assert mapped[11] == 7


def test_an_empty_shape_is_one_element_and_images_have_a_format(pool):
    assert pool.alloc([]).shape == (1,)
    image = pool.alloc_image(64, 48, "rgb")
    assert isinstance(image, ef.TensorHandle) and (image.width, image.height) == (64, 48)
    out = pool.alloc_image(32, 24, "rgb")
    np.asarray(image)[:] = 200
    ef.ImageProcessor().convert(image, out)
    assert (np.asarray(out) == 200).all()


def test_parts_share_the_slot(pool):
    handle = pool.alloc((4, 6), "int32")
    array = np.asarray(handle)
    array[:] = np.arange(24).reshape(4, 6)
    part = handle.slice_first_dim(1, 3)
    assert part.shape == (2, 6) and (np.asarray(part) == array[1:3]).all()
    assert handle.view((8, 3)).shape == (8, 3)
    rotated = handle.permute((1, 0))
    assert (np.asarray(rotated) == array.T).all() and address(np.asarray(rotated)) == address(array)
    assert isinstance(ef.TensorHandle.of(handle[2]), ef.TensorHandle)
    image = pool.alloc_image(8, 8, "rgb")
    corner = image.view(ef.Region(2, 2, 4, 4))
    assert corner.width == 4 and isinstance(corner, ef.TensorHandle)


@pytest.mark.parametrize("call, text", [
    (lambda h: h.slice_first_dim(3, 2), "start"), (lambda h: h.view((5, 5)), "shape"),
    (lambda h: h.permute((0, 0)), "order"), (lambda h: h.permute((0,)), "order"),
    (lambda h: ef.TensorHandle.of(ef.Tensor([2])), "pool")])
def test_wrong_parts_are_refused(pool, call, text):
    fails(ef.InvalidArgumentError, text, lambda: call(pool.alloc((4, 6))))


def test_stats_are_typed(pool):
    handle = pool.alloc((1024, 1024), "uint8")
    stats = pool.stats()
    assert (stats.pool_id, stats.max_slots, stats.pool_size) == (pool.pool_id, 64, 64 << 20)
    assert stats.allocated_slots == 1 and stats.used_bytes == 1 << 20 and stats.processes == 1
    assert stats.free_bytes == (64 << 20) - (1 << 20) and stats.total_refcount == 1
    assert stats.peak_used_bytes >= 1 << 20 and stats.failed_allocations == 0
    assert stats.reserved_bytes >= stats.used_bytes and not stats.is_under_pressure
    assert stats.slot_utilization == 1 / 64 and stats.data_utilization == 1 / 64
    assert "1/64 slots" in stats.summary()
    rest = [pool.alloc((1,), "uint8") for _ in range(55)]
    assert pool.stats().is_under_pressure and len(rest) == 55
    del handle, rest
    assert pool.stats().allocated_slots == 0


@pytest.mark.parametrize("arguments, keywords, text", [
    ((1, 0), {}, "size_mb"), ((1, -1), {}, "size_mb"), ((1, float("nan")), {}, "size_mb"),
    ((1, 64, 0), {}, "max_slots"), ((1, 64, 1 << 21), {}, "max_slots"),
    ((1, 64, 64), {"slot_alignment": 48}, "slot_alignment"),
    ((1, 64, 64), {"scrub": "always"}, "scrub")])
def test_wrong_limits_are_named(arguments, keywords, text):
    fails(ef.InvalidArgumentError, text, lambda: ef.TensorPool(*arguments, **keywords))


def test_wrong_numbers_and_types_are_named():
    fails(OverflowError, "pool_id", lambda: ef.TensorPool(-1))
    fails(TypeError, "size_mb", lambda: ef.TensorPool(1, "large"))
    fails(ef.MissingFileError, lambda: ef.TensorPool.open(987654))


def test_another_limit_than_the_pool_has_is_an_error(pool):
    with pytest.raises(ef.Error, match="max_slots.*wanted 65, found 64") as caught:
        ef.TensorPool(pool.pool_id, 64, 65)
    assert caught.value.code == "exists"
    assert ef.TensorPool.open(pool.pool_id) == pool
    assert ef.TensorPool(pool.pool_id, 64, 64) == pool


@pytest.mark.parametrize("shape, dtype, device, kind, text", [
    ([0], "uint8", "cpu", ef.InvalidArgumentError, "shape"),
    ([1] * 9, "uint8", "cpu", ef.InvalidArgumentError, "shape"),
    ([4], "complex64", "cpu", ef.InvalidArgumentError, "dtype"),
    ([4], "uint8", "cuda:0", ef.UnsupportedError, "device"),
    ([4], "uint8", "tpu", ef.InvalidArgumentError, "device"),
    ([65 << 20], "uint8", "cpu", ef.CapacityError, "pool"),
    ("abc", "uint8", "cpu", TypeError, "shape"), ([4], "uint8", 3, TypeError, "device")])
def test_wrong_tensors_are_refused(pool, shape, dtype, device, kind, text):
    fails(kind, text, lambda: pool.alloc(shape, dtype, device))


def test_waiting_for_room_ends_with_the_time_or_with_room():
    with ef.TensorPool(next(numbers), 1, 2) as pool:
        held = [pool.alloc([4]), pool.alloc([4])]
        fails(ef.CapacityError, "slots", lambda: pool.alloc([4]))
        begin = time.monotonic()
        fails(ef.WaitTimeoutError, lambda: pool.alloc([4], timeout=0.15))
        assert 0.14 < time.monotonic() - begin < 60
        threading.Timer(0.2, held.clear).start()
        assert pool.alloc([4], timeout=20).shape == (4,)
        fails(ef.InvalidArgumentError, "timeout", lambda: pool.alloc([4], timeout=-1))


def test_a_closed_pool_says_so_and_its_tensors_stay():
    with ef.TensorPool(next(numbers), 16, 16) as pool:
        handle = pool.alloc([8], "uint8")
        np.asarray(handle)[:] = 5
    assert (np.asarray(handle) == 5).all() and handle.pool is None
    fails(ef.Error, "pool: is closed", lambda: pool.alloc([8]), pool.stats, lambda: pool.pool_id,
          pool.__enter__, lambda: pool.attach(b"\0" * 168))
    pool.close()


def test_descriptors_are_168_bytes_with_fields(pool):
    handle = pool.alloc((4, 3), "float64")
    descriptor = handle.descriptor()
    assert len(bytes(descriptor)) == 168 and len(descriptor) == 168
    assert descriptor.pool_id == pool.pool_id and descriptor.shape == (4, 3)
    assert descriptor.strides == (24, 8) and descriptor.dtype == "float64"
    assert descriptor.size == 96 and descriptor.generation % 2 == 1
    assert descriptor.device == ef.Device("cpu") and not descriptor.is_read_only
    again = pickle.loads(pickle.dumps(descriptor))
    assert again == descriptor == ef.TensorDescriptor(bytes(descriptor))
    assert hash(again) == hash(descriptor)
    pool.validate(descriptor)
    pool.validate(bytes(descriptor))
    attached = pool.attach(descriptor)
    assert address(np.asarray(attached)) == address(np.asarray(handle))
    del handle, attached
    fails(ef.MissingFileError, "gone", lambda: pool.validate(descriptor))


def test_descriptors_of_nonsense_are_refused(pool):
    handle = pool.alloc((4, 3))
    good = bytes(handle.descriptor())
    fails(ef.InvalidArgumentError, "descriptor: must have 168 bytes",
          lambda: pool.attach(good[:-1]))
    fails(ef.DataError, lambda: pool.attach(good[:33] + b"\xff" + good[34:]))
    fails(ef.InvalidArgumentError, "another pool", lambda: pool.attach(b"\xee" + good[1:]))
    fails(TypeError, lambda: pool.attach(17))
    random = np.random.default_rng(1)
    for _ in range(300):
        hostile = bytearray(good)
        hostile[random.integers(168)] = random.integers(256)
        with contextlib.suppress(ef.Error):
            pool.attach(bytes(hostile))


def test_devices_have_names():
    assert str(ef.Device("GPU:1")) == "cuda:1" and ef.Device("gpu:1") == ef.Device.cuda(1)
    assert ef.Device.cuda(1).is_cuda() and ef.Device().is_cpu() and ef.Device.cuda(3).id == 3
    assert {ef.Device.cuda(1), ef.Device("cuda:1")} == {ef.Device.cuda(1)}
    fails(ef.InvalidArgumentError, "name", lambda: ef.Device("abacus"))
    assert ef.cuda_available() == (ef.cuda_device_count() > 0)


def test_another_process_reads_without_a_copy_and_cannot_write(pool):
    handle = pool.alloc((3,), "int64")
    np.asarray(handle)[:] = 1, 2, 3
    with Peer(f"""
pool = ef.TensorPool.open({pool.pool_id})
handle = pool.attach(bytes.fromhex(hear()))
array = np.asarray(handle)
say(array.tolist(), array.flags.writeable, handle.is_writable, pool.is_owner, handle.refcount)
hear()
say(array.tolist())
""") as peer:
        peer.say(bytes(handle.descriptor()).hex())
        assert peer.hear() == "[1, 2, 3] False False False 2"
        np.asarray(handle)[:] = 4, 5, 6
        peer.say("go on")
        assert peer.hear() == "[4, 5, 6]"
        peer.end()


def test_what_a_killed_process_held_is_back(pool):
    with Peer(f"""
pool = ef.TensorPool({pool.pool_id}, 64, 64)
held = [pool.alloc((1 << 20,), "uint8") for _ in range(20)]
say("held")
hear()
""") as peer:
        assert peer.hear() == "held"
        assert pool.stats().allocated_slots == 20 and pool.stats().processes == 2
        peer.kill()
        end = time.monotonic() + 60
        while pool.stats().processes > 1 and time.monotonic() < end:
            time.sleep(0.01)
        assert pool.stats().allocated_slots == 0 and pool.stats().used_bytes == 0


def test_a_child_of_fork_reads_and_is_told_that_the_pool_is_its_parent_s(pool):
    handle = pool.alloc([4], "uint8")
    np.asarray(handle)[:] = 9

    def ask():
        fails(ef.UnsupportedError, "fork", lambda: pool.alloc([4]), pool.stats,
              lambda: pool.attach(b"\0" * 168))
        anew = ef.TensorPool.open(pool.pool_id)
        is_right = anew.alloc([4]).pool == anew and anew.stats().processes == 2
        return 0 if is_right and np.asarray(handle)[3] == 9 else 1

    assert ends_in_child(ask) == 0


def test_handles_travel_by_value_in_pickles(pool):
    handle = pool.alloc((2, 2), "uint8")
    np.asarray(handle)[:] = [[1, 2], [3, 4]]
    again = pickle.loads(pickle.dumps(handle))
    assert isinstance(again, ef.Tensor) and np.asarray(again).tolist() == [[1, 2], [3, 4]]


def test_nothing_leaks(pool):
    for _ in range(1000):
        np.asarray(pool.alloc((64, 64)))[0] = 1
    before, descriptors = resident_bytes(), open_descriptors()
    for _ in range(100000):
        handle = pool.alloc((64, 64))
        handle.descriptor()
    del handle
    assert resident_bytes() - before < 8 << 20 and open_descriptors() == descriptors
    assert pool.stats().allocated_slots == 0


def test_threads_share_a_pool(pool):
    failures = []

    def work(value):
        for _ in range(500):
            handle = pool.alloc((16, 16), "uint8")
            array = np.asarray(handle)
            array[:] = value
            if not (array == value).all():
                failures.append(value)

    in_threads(work, range(6))
    assert not failures and pool.stats().allocated_slots == 0


def test_the_default_pool_is_this_process_s_own():
    pool = ef.default_pool()
    assert pool.is_owner and pool == ef.default_pool() and pool.pool_id >= 1 << 31
    assert pool.slot_alignment == 64 and pool.max_slots == 1024 and pool.pool_size == 1 << 30
