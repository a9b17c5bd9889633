# SPDX-License-Identifier: Apache-2.0
"""Negotiated buffers: tensors over what was agreed, who may touch the bytes, other processes."""
import gc
import os
import signal
import socket
import threading
import time

import numpy as np
import pytest

from peers import Peer
from parties import app, shared
from helpers import fails, open_descriptors

import halyard as ef

numbers = iter(range(700, 1000))


# Memory
def test_a_buffer_is_ordinary_tensors():
    attrs = app()
    attrs.accept("NHWC")
    (buffer,) = ef.reconcile([attrs, ef.AttributeList("npu", {"t.row_align": 64})]).allocate()
    array = np.from_dlpack(buffer.tensor())
    assert array.shape == (1, 64, 100, 3) and array.strides[1] == 320
    assert array.ctypes.data % 64 == 0 and not array.any()
    with buffer.lock("write") as lock:
        np.asarray(lock)[:] = 7
    assert (array == 7).all()
    assert buffer.heap == "heap" and buffer.permission == "read_write"
    assert buffer.enforcement == "none" and buffer.attributes.count == 1
    fails(NotImplementedError, lambda: buffer.image())


def test_an_image_converts_and_decodes_where_it_lies():
    camera = ef.AttributeList("camera", {"i.w": 640, "i.h": 480, "i.pitch_align": 1024,
                                         "g.cpu": "read_write"})
    camera.accept(ef.PixelFormat.Rgb)
    (buffer,) = ef.reconcile([camera]).allocate()
    image = buffer.image()
    assert (image.width, image.height) == (640, 480)
    np.asarray(image)[:] = (10, 200, 30)
    small = ef.Tensor.image(64, 48, "rgb")
    ef.ImageProcessor().convert(image, small)
    assert (np.asarray(small) == (10, 200, 30)).all()


def test_more_or_others_than_agreed_are_refused():
    result = ef.reconcile([app(**{"g.count_max": 2}), ef.AttributeList("npu", {"g.camp": 2})])
    assert len(result.allocate()) == 2
    fails(ef.CapacityError, "2", lambda: result.allocate(3))
    fails(FileNotFoundError, "gpu", lambda: result.allocate(party="gpu"))
    fails(OverflowError, lambda: result.allocate(-1))


def test_a_tensor_s_memory_can_be_adopted():
    result = ef.reconcile([app()])
    memory = ef.Tensor((result.allocated_bytes,), "uint8")
    buffer = result.adopt(memory)
    with buffer.lock() as lock:
        np.asarray(lock)[5] = 9
    assert np.asarray(memory)[5] == 9
    fails(ValueError, "buffer", lambda: result.adopt(ef.Tensor((64,), "uint8")))
    fails(TypeError, "tensor", lambda: result.adopt(b"bytes"))


def test_frames_of_a_pool_lie_as_agreed():
    camera = ef.AttributeList("camera", {"i.w": 640, "i.h": 480, "i.pitch_align": 1024,
                                         "g.cpu": "read_write", "g.export": True})
    camera.accept("rgb")
    with ef.reconcile([camera]).pool(next(numbers), 2) as pool:
        frames = [pool.alloc_frame(), pool.alloc_frame(timeout=0.1)]
        assert np.asarray(frames[0]).strides[0] == 2048 and frames[0].format is not None
        assert "rgb 640x480" in pool.frame
        begin = time.monotonic()
        fails(ef.CapacityError, lambda: pool.alloc_frame())
        fails(TimeoutError, lambda: pool.alloc_frame(timeout=0.12))
        assert time.monotonic() - begin >= 0.1
        del frames
        pool.alloc_frame()
    with ef.TensorPool(next(numbers), 1, 4) as plain:
        assert plain.frame is None
        fails(NotImplementedError, lambda: plain.alloc_frame())
    with pytest.raises(NotImplementedError, match="memfd"):
        ef.reconcile([app(**{"g.heaps": ["heap"]})]).pool(next(numbers), 2)


# Locks
def test_a_lock_is_a_buffer_of_bytes():
    buffer = shared()
    with buffer.lock("read") as lock:
        view = memoryview(lock)
        assert view.readonly and view.nbytes == lock.size_bytes == buffer.size_bytes
        with pytest.raises(ValueError):
            np.asarray(lock)[0] = 1
        fails(BlockingIOError, lambda: buffer.lock("read"))
    fails(BufferError, "unlocked", lambda: memoryview(lock))
    fails(ValueError, "over", lambda: lock.unlock())
    fails(ValueError, lambda: lock.__enter__())
    assert lock.size_bytes == 0 and view[0] == 0


def test_views_keep_the_memory_of_a_lock():
    buffer = shared()
    lock = buffer.lock()
    array = np.asarray(lock)
    lock.unlock()
    size = buffer.size_bytes
    del lock, buffer
    gc.collect()
    array[:] = 3
    assert array.nbytes == size and (array == 3).all()


def test_unlocking_within_with_is_enough():
    buffer = shared()
    with buffer.lock("write") as lock:
        lock.sync_range(0, 64)
        fails(ValueError, lambda: lock.sync_range(0, lock.size_bytes + 1))
        lock.unlock()
    buffer.lock("write").unlock()


def test_a_lock_that_goes_unlocks():
    buffer = shared()
    lock = buffer.lock("write")
    del lock
    gc.collect()
    buffer.lock("write", timeout=0).unlock()


def test_threads_wait_for_each_other():
    buffer = shared()
    lock = buffer.lock("write")
    found = []

    def other():
        fails(TimeoutError, lambda: buffer.lock("read", timeout=0.12))
        fails(PermissionError, lambda: lock.unlock())
        found.append("waits")
        with buffer.lock("read") as mine:
            found.append(bytes(memoryview(mine)[:3]))

    thread = threading.Thread(target=other)
    thread.start()
    while not found:
        time.sleep(0.01)
    np.asarray(lock)[:3] = (1, 2, 3)
    lock.unlock()
    thread.join(20)
    assert found == ["waits", b"\x01\x02\x03"]


def test_who_asked_to_read_cannot_write():
    lists = [app(), ef.AttributeList("viewer", {"g.cpu": "read"})]
    (buffer,) = ef.reconcile(lists).allocate(party="viewer")
    buffer.lock("read").unlock()
    fails(PermissionError, lambda: buffer.lock("write"))
    fails(ValueError, "access", lambda: buffer.lock("rw"))
    fails(ValueError, "timeout", lambda: buffer.lock("read", -1))


def test_ctrl_c_ends_a_wait():
    with Peer("""
import threading, time
buffer = ef.reconcile([ef.AttributeList("app", {"t.dtype": "u8", "t.shape": [1, 1, 64, 64],
                                                "g.cpu": "read_write", "g.perm": "read_write"})]
                      ).allocate()[0]
is_locked = threading.Event()
def hold():
    lock = buffer.lock("write")
    is_locked.set()
    hear()
threading.Thread(target=hold, daemon=True).start()
is_locked.wait()
try:
    say("waits")
    buffer.lock("read")
except KeyboardInterrupt:
    say("interrupted")
    import os; os._exit(0)
""") as peer:
        assert peer.hear() == "waits"
        time.sleep(0.2)  # mostly it waits by then
        peer.process.send_signal(signal.SIGINT)
        assert peer.hear() == "interrupted"


# Operations
def test_engines_and_locks_take_turns():
    buffer = shared()
    assert buffer.status().state == "none"
    operation = buffer.submit()
    assert buffer.status().state == "pending"
    fails(TimeoutError, lambda: buffer.lock("read", timeout=0))
    fails(TimeoutError, lambda: buffer.status(0.06))
    fails(BlockingIOError, lambda: buffer.submit())
    operation.finish()
    status = buffer.status(None)
    assert status.state == "done" and status.seconds > 0 and not status.is_poisoned
    fails(ValueError, "operation: must not have ended", lambda: operation.finish())
    with buffer.lock("read"), pytest.raises(BlockingIOError):
        buffer.submit()


def test_an_operation_fails_with_its_code_or_its_exception():
    buffer = shared()
    buffer.submit().fail(17)
    assert (buffer.status().state, buffer.status().code) == ("failed", 17)
    with buffer.submit():
        pass
    assert buffer.status().state == "done"
    with pytest.raises(KeyError):
        with buffer.submit():
            raise KeyError
    assert buffer.status().state == "failed"
    buffer.submit()  # nobody keeps it
    gc.collect()
    assert buffer.status().state == "failed"


def test_a_fence_ends_an_operation():
    buffer = shared()
    reader, writer = os.pipe()
    buffer.submit_fence(reader)
    os.close(reader)
    assert buffer.status().state == "pending"
    os.write(writer, b"x")
    assert buffer.status(5).state == "done"
    os.close(writer)
    fails(ef.Error, lambda: buffer.submit_fence(-1))


# Other processes
def test_bytes_and_a_descriptor_are_a_buffer():
    before = open_descriptors()
    buffer = shared()
    np.asarray(buffer.tensor())[:] = 42
    blob, fd = buffer.export("viewer")
    seen = ef.import_buffer(blob, fd, [ef.AttributeList("viewer", {"g.cpu": "read"})])
    os.close(fd)
    assert (np.asarray(seen.tensor()) == 42).all() and seen.permission == "read"
    assert seen.attributes.digest == buffer.attributes.digest
    np.asarray(buffer.tensor())[:] = 43
    with seen.lock("read") as lock:
        assert memoryview(lock)[0] == 43
    fails(PermissionError, lambda: seen.lock("write"))
    del seen, buffer, lock
    gc.collect()
    assert open_descriptors() == before


def test_what_is_wrong_with_a_blob_is_named():
    buffer = shared()
    blob, fd = buffer.export("viewer")
    try:
        late = ef.AttributeList("late", {"t.row_align": 3000})
        fails(ef.DataError, lambda: ef.import_buffer(blob[:-1], fd))
        fails(ef.DataError, lambda: ef.import_buffer(b"", fd))
        fails(ef.CapacityError, "max_bytes", lambda: ef.import_buffer(blob, fd, max_bytes=64))
        fails(PermissionError, lambda: ef.import_buffer(blob, fd, permission="read_write"))
        fails(ValueError, r"permission: .rw. is not .*\(read, read_write\)",
              lambda: ef.import_buffer(blob, fd, permission="rw"))
        fails(ef.UnsupportedError, "mod", lambda: ef.import_buffer(blob, fd, [late]))
        fails(TypeError, "fd", lambda: ef.import_buffer(blob, None))
        with open(os.devnull) as other, pytest.raises(ef.Error):
            ef.import_buffer(blob, other.fileno())
    finally:
        os.close(fd)
    fails(FileNotFoundError, "stranger", lambda: buffer.export("stranger"))
    fails(PermissionError, lambda: buffer.export("viewer", "read_write"))
    fails(NotImplementedError,
          lambda: ef.reconcile([app(**{"g.heaps": ["heap"]})]).allocate()[0].export("app"))


def test_lists_and_results_travel_as_bytes():
    lists = [app(), ef.AttributeList("npu", {"t.row_align": 64})]
    blob = ef.encode_lists(lists)
    assert blob == ef.encode_lists(lists[::-1])
    result = ef.reconcile(ef.decode_lists(blob))
    assert result.digest == ef.reconcile(lists).digest
    assert ef.Reconciled.decode(result.encode("npu")).digest == result.digest
    fails(ef.DataError, lambda: ef.Reconciled.decode(blob))
    fails(FileNotFoundError, lambda: result.encode("gpu"))
    fails(ValueError, "gpu",
          lambda: ef.encode_lists([ef.AttributeList("gpu", engine="egl.dmabuf")]))


def test_late_parties_are_attached_or_told_why_not():
    buffer = shared()
    late = ef.AttributeList("late", {"g.cpu": "read", "t.row_align": 50})
    buffer.attributes.validate([late], heap="memfd")
    os.close(buffer.attach([late]).export("late")[1])
    odd = ef.AttributeList("odd", {"t.row_align": 64})
    caught = fails(ef.ConflictError, "100 mod 64 = 36", lambda: buffer.attach([odd]))
    assert [each["name"] for each in caught.conflicts[0]["parties"]] == ["(buffer)", "odd"]
    fails(ef.ConflictError, lambda: buffer.attributes.validate([odd]))
    fails(ValueError, "heap", lambda: buffer.attributes.validate([late], heap="attic"))


def test_two_processes_negotiate_over_a_socket():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        os.set_inheritable(theirs.fileno(), True)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                mine = [ef.AttributeList("viewer", {"g.cpu": "read", "t.row_align": 64},
                                         process=os.getpid())]
                ef.send_lists(theirs, mine)
                seen = ef.receive_buffer(theirs, mine, 20)
                theirs.sendall(b"r")
                assert theirs.recv(1) == b"w"
                with seen.lock("read"):
                    code = 0 if (np.asarray(seen.tensor()) == 77).all() else 2
            finally:
                os._exit(code)
        lists = [app(**{"g.export": True}), *ef.receive_lists(ours, 20)]
        assert lists[1].party == "viewer"
        (buffer,) = ef.reconcile(lists).allocate(party="app")
        assert buffer.heap == "memfd" and np.asarray(buffer.tensor()).strides[2] == 128
        ef.send_buffer(ours, buffer, "viewer", 20)
        assert ours.recv(1) == b"r"
        with buffer.lock("write"):
            np.asarray(buffer.tensor())[:] = 77
        ours.sendall(b"w")
        assert os.waitpid(child, 0)[1] == 0


def test_a_peer_that_says_nothing_or_has_gone():
    ours, theirs = socket.socketpair()
    with ours:
        begin = time.monotonic()
        fails(TimeoutError, lambda: ef.receive_buffer(ours, timeout=0.12))
        assert time.monotonic() - begin >= 0.1
        theirs.close()
        fails(FileNotFoundError, lambda: ef.receive_lists(ours))
        fails(TypeError, "socket", lambda: ef.receive_lists("ours"))
    with open(os.devnull) as file, pytest.raises(ef.Error):
        ef.receive_lists(file, 1)


@pytest.mark.parametrize("call", [
    lambda s: ef.receive_lists(s), lambda s: ef.receive_buffer(s),
    lambda s: ef.send_lists(s, [ef.AttributeList("a")])])
def test_sockets_that_are_not_open_are_told_at_once(call):
    closed = socket.socket(socket.AF_UNIX)
    closed.close()
    for given in (-1, closed):
        fails(ValueError, r"^socket: must be open .*-1", lambda: call(given))
