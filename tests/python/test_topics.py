# SPDX-License-Identifier: Apache-2.0
"""Topic: all types of messages, limits, errors, other processes. Waiting: test_topic_waits.py."""
import asyncio
import json
import os
import subprocess

import numpy as np
import pytest

from peers import Peer, next_name, pair
from helpers import address, ends_in_child, fails, open_descriptors, resident_bytes

import halyard as ef

POSE = np.dtype([("number", "u8"), ("speed", "f4"), ("check", "u4")], align=True)


def test_a_tensor_travels_without_a_copy_and_is_read_only():
    sender, receiver = pair()
    handle = sender.alloc_tensor((4, 5), "uint8")
    np.asarray(handle)[:] = 3
    sender.send_handle(handle)
    assert not handle.is_writable and not np.asarray(handle).flags.writeable
    found = receiver.recv_handle()
    assert isinstance(found, ef.TensorHandle) and found.shape == (4, 5)
    array = np.asarray(found)
    assert not array.flags.writeable and address(array) == address(np.asarray(handle))
    with pytest.raises(ValueError):
        array[0] = 1
    fails(ef.AccessError, lambda: found.from_numpy(np.zeros((4, 5), "uint8")))
    assert np.from_dlpack(found).flags.writeable is False
    assert sender.stats().copied == 0 and receiver.recv() is None
    assert (receiver.stats().received, sender.stats().sent, receiver.lost) == (1, 1, 0)


def test_arrays_and_other_tensors_are_copied_into_the_pool():
    sender, receiver = pair()
    array = np.arange(12, dtype="int16").reshape(3, 4)
    sender.send(array)
    sender.send(ef.Tensor([2], "float32"))
    assert (np.asarray(receiver.recv()) == array).all() and receiver.recv().shape == (2,)
    assert sender.stats().copied == 2
    fails(ef.InvalidArgumentError, "pool", lambda: sender.send_handle(ef.Tensor([2], "float32")))


def test_frames_go_into_convert_as_they_are():
    sender, receiver = pair()
    frame = sender.pool.alloc_image(64, 48, "nv12")
    np.asarray(frame)[:] = 128
    sender.send(frame)
    found = receiver.recv()
    assert found.format == ef.PixelFormat.Nv12
    out = ef.Tensor.image(32, 24, "rgb")
    ef.ImageProcessor().convert(found, out)
    assert np.asarray(out).std() == 0


def test_bytes():
    sender, receiver = pair(bytes)
    for message in (b"", b"hello", bytearray(b"x" * 100000), memoryview(b"abc")):
        sender.send(message)
        assert receiver.recv() == bytes(message)
    fails(TypeError, "message", lambda: sender.send("text"))
    sender.send(b"no tensor")
    fails(TypeError, "tensor", lambda: receiver.recv_handle())


def test_plain_structs():
    sender, receiver = pair(POSE, message_name="test.Pose")
    sender.send((7, 1.5, 3))
    sender.send({"number": 8, "speed": 2.5, "check": 4})
    sender.send(np.array((9, 3.5, 5), POSE))
    found = [receiver.recv() for _ in range(3)]
    assert [one["number"] for one in found] == [7, 8, 9] and found[1]["speed"] == 2.5
    assert found[0].dtype == POSE
    for wrong, text in (({"number": 8}, "fields"), (np.zeros(2, POSE), "message"),
                        (np.zeros((), [("x", "f4")]), "message")):
        fails(ef.InvalidArgumentError, text, lambda: sender.send(wrong))


def test_structs_of_another_name_or_layout_never_meet():
    name = next_name()
    with ef.Topic(name, POSE, message_name="test.Pose"):
        with pytest.raises(ef.Error, match="wanted test.Other, found test.Pose"):
            ef.Topic(name, POSE, message_name="test.Other")
        packed = np.dtype([("number", "u8"), ("speed", "f4"), ("check", "u4")])
        fails(ef.Error, "layout", lambda: ef.Topic(name, packed, message_name="test.Pose"))
        fails(ef.Error, "message", lambda: ef.Topic(name))


def test_serializers():
    codec = ef.Serializer("test.Json", lambda item: json.dumps(item).encode(), json.loads)
    sender, receiver = pair(codec)
    raw = ef.Topic(sender.name, ef.Serializer("test.Json", bytes, bytes))
    sender.send({"a": [1, 2]})
    assert receiver.recv() == {"a": [1, 2]}
    raw.send(b"{nonsense")
    sender.send([1])
    assert receiver.recv() == [1] and receiver.lost == 1
    assert receiver.stats().corrupt == 1 and "serializer" in receiver.stats().last_error


def test_other_exceptions_of_a_serializer_reach_the_program():
    def fail(data):
        raise KeyError("mine")
    sender, receiver = pair(ef.Serializer("test.Fails", bytes, fail))
    sender.send(b"1")
    fails(KeyError, "mine", lambda: receiver.recv())


def test_what_is_lost_is_counted():
    sender, receiver = pair(bytes, depth=4)
    for i in range(10):
        sender.send(b"%d" % i)
    assert receiver.recv() == b"6" and receiver.lost == 6 and receiver.stats().lost == 6


def test_latest_only_history_and_own_messages():
    name = next_name()
    sender = ef.Topic(name, bytes, depth=8, history=3, receives_own=True)
    for i in range(6):
        sender.send(b"%d" % i)
    late = ef.Topic(name, bytes)
    assert [late.recv() for _ in range(4)] == [b"3", b"4", b"5", None]
    newest = ef.Topic(name, bytes, latest_only=True)
    assert newest.recv() == b"5" and newest.recv() is None
    assert [sender.recv() for _ in range(7)] == [b"%d" % i for i in range(6)] + [None]


def test_overflow_rules():
    sender, receiver = pair(bytes, depth=1, overflow="drop_newest")
    sender.send(b"1")
    fails(ef.CapacityError, lambda: sender.send(b"2"))
    assert sender.stats().refused == 1 and receiver.recv() == b"1"
    assert sender.stats().overflow == "drop_newest"


def test_a_closed_topic_says_so():
    with ef.Topic(next_name()) as topic:
        handle = topic.alloc_tensor([4])
        pool = topic.pool
    fails(ef.Error, f"{topic.name} is closed", topic.recv, lambda: topic.send(handle), topic.stats,
          topic.fileno, topic.has_message, lambda: topic.alloc_tensor([4]), lambda: topic.pool,
          topic.__enter__, lambda: asyncio.run(topic.recv_async(1)))
    topic.close()
    assert topic.lost == 0 and "closed" in repr(topic) and pool.stats().allocated_slots == 1


@pytest.mark.parametrize("name, options, kind, text", [
    ("", {}, ef.InvalidArgumentError, "name"), ("a b", {}, ef.InvalidArgumentError, "name"),
    ("../x", {}, ef.InvalidArgumentError, "name"), ("x" * 201, {}, ef.InvalidArgumentError, "name"),
    (3, {}, TypeError, "name"), (None, {"depth": 0}, ef.InvalidArgumentError, "depth"),
    (None, {"depth": 5000}, ef.InvalidArgumentError, "depth: .*4096"),
    (None, {"depth": 4, "history": 5}, ef.InvalidArgumentError, "history"),
    (None, {"max_endpoints": 0}, ef.InvalidArgumentError, "max_endpoints"),
    (None, {"overflow": "explode"}, ef.InvalidArgumentError, "overflow"),
    (None, {"role": "king"}, ef.InvalidArgumentError, "role"),
    (None, {"block_timeout": -1}, ef.InvalidArgumentError, "block_timeout"),
    (None, {"pool": 3}, TypeError, "pool"), (None, {"type": int}, TypeError, "type"),
    (None, {"type": POSE}, ef.InvalidArgumentError, "message_name"),
    (None, {"type": np.dtype("f4")}, ef.InvalidArgumentError, "type"),
    (None, {"type": np.dtype([("a", "O")])}, ef.InvalidArgumentError, "type"),
    (None, {"type": np.dtype([("a", ">f4")])}, ef.InvalidArgumentError, "type")])
def test_wrong_arguments_are_named(name, options, kind, text):
    fails(kind, text, lambda: ef.Topic(next_name() if name is None else name, **options))


def test_other_limits_than_the_topic_has_are_an_error():
    name = next_name()
    with ef.Topic(name, depth=4):
        caught = fails(ef.Error, "depth.*wanted 8, found 4", lambda: ef.Topic(name, depth=8))
        assert caught.code == "exists"
        assert ef.Topic(name).stats().depth == 4


def test_roles_and_the_pool_s_limits():
    name = next_name()
    sender = ef.Topic(name, role="publisher", pool=ef.TensorPoolConfig(8, 16))
    receiver = ef.Topic(name, role="subscriber")
    assert sender.pool.max_slots == 16 and receiver.pool == sender.pool
    assert (sender.stats().publishers, sender.stats().subscribers) == (0, 1)
    fails(ef.UnsupportedError, "subscriber", lambda: receiver.send(np.zeros(2)))
    fails(ef.CapacityError, lambda: sender.send(np.zeros(2 << 20)))


def test_nothing_leaks():
    sender, receiver = pair(depth=8)
    plain, reader = pair(POSE, message_name="test.Pose")
    for _ in range(2000):
        sender.send(sender.alloc_tensor((64, 64)))
        receiver.recv()
    before, descriptors = resident_bytes(), open_descriptors()
    for i in range(50000):
        sender.send(sender.alloc_tensor((64, 64)))
        plain.send((i, 0, 0))
        assert receiver.recv() is not None and reader.recv() is not None
    assert resident_bytes() - before < 8 << 20 and open_descriptors() == descriptors
    assert sender.pool.stats().allocated_slots <= 8


def test_topics_that_come_and_go_leak_nothing():
    for _ in range(20):
        pair(bytes)
    descriptors = open_descriptors()
    for _ in range(100):
        pair(bytes)
    assert open_descriptors() <= descriptors


def test_a_child_of_fork_is_told():
    sender, receiver = pair(bytes)
    sender.send(b"1")

    def ask():
        fails(ef.UnsupportedError, "fork", lambda: sender.send(b"2"), receiver.recv,
              lambda: receiver.recv(None), receiver.stats, receiver.fileno, lambda: receiver.pool)
        receiver.close()
        return 0

    assert ends_in_child(ask) == 0
    assert receiver.recv() == b"1"


PUBLISHER = """
topic = ef.Topic({name!r})
hear()
for i in range({count}):
    handle = topic.alloc_tensor((100, 100), "uint8")
    np.asarray(handle)[:] = i
    topic.send(handle)
    del handle
say("sent", topic.stats().copied)
hear()
"""


def test_two_processes():
    receiver = ef.Topic(next_name())
    with Peer(PUBLISHER.format(name=receiver.name, count=3)) as peer:
        peer.say("begin")
        frames = [receiver.recv(20) for _ in range(3)]
        assert [int(np.asarray(frame)[99, 99]) for frame in frames] == [0, 1, 2]
        assert peer.hear() == "sent 0" and not any(frame.is_writable for frame in frames)
        peer.say("end")
        peer.end()
    # What was received stays, also when its publisher has ended.
    assert (np.asarray(frames[2]) == 2).all()


def test_a_publisher_that_is_killed_leaves_what_it_has_sent():
    receiver = ef.Topic(next_name())
    with Peer(PUBLISHER.format(name=receiver.name, count=2)) as peer:
        peer.say("begin")
        assert peer.hear() == "sent 0"
        peer.kill()
    assert (np.asarray(receiver.recv(20)) == 0).all() and (np.asarray(receiver.recv(20)) == 1).all()
    assert receiver.recv(0.2) is None
    with Peer(PUBLISHER.format(name=receiver.name, count=1)) as peer:
        peer.say("begin")
        assert receiver.recv(20) is not None


def test_a_program_in_cpp_shares_a_plain_struct():
    program = os.environ.get("PLAIN_PEER", "")
    if not os.path.exists(program):
        pytest.skip("the peer in C++ is not built")
    pose = np.dtype([("x", "f8"), ("y", "f8"), ("heading", "f4"), ("number", "u4"),
                     ("is_valid", "u1")], align=True)
    with subprocess.Popen([program], stdout=subprocess.PIPE, text=True) as peer:
        assert peer.stdout.readline() == "joined\n"
        topic = ef.Topic("cpp/pose", pose, message_name="robot.Pose")
        for number in range(1, 50, 2):
            topic.send((1.5, 2, 0.25, number, 1))
            assert topic.recv(20).tolist() == (3.5, 2.0, 0.25, number + 1, 1)
        with pytest.raises(ef.Error, match="wanted 40, found 32"):
            ef.Topic("cpp/pose", np.dtype([("x", "f8", (5,))]), message_name="robot.Pose")
        topic.send({"x": 0, "y": 0, "heading": 0, "number": 0, "is_valid": 0})
        assert peer.wait(20) == 0
