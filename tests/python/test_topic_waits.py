# SPDX-License-Identifier: Apache-2.0
"""Waiting for messages: timeouts, threads, Ctrl-C, descriptors, WaitSet, asyncio."""
import asyncio
import contextlib
import gc
import os
import select
import signal
import threading
import time

import numpy as np
import pytest

from peers import Peer, next_name, pair
from helpers import fails

import halyard as ef

def test_block_waits_for_the_subscriber():
    sender, receiver = pair(bytes, depth=1, overflow="block", block_timeout=0.1)
    sender.send(b"1")
    begin = time.monotonic()
    fails(ef.WaitTimeoutError, lambda: sender.send(b"2"))
    fails(ef.WaitTimeoutError, lambda: sender.send(b"2", timeout=0.6))
    assert 0.7 <= time.monotonic() - begin < 60 and sender.stats().refused == 2
    threading.Timer(0.3, receiver.recv).start()
    sender.send(b"3", timeout=20)
    assert receiver.recv(20) == b"3"


def test_timeouts():
    _, receiver = pair(bytes)
    begin = time.monotonic()
    assert receiver.recv() is None and receiver.recv(0) is None
    assert receiver.recv(0.15) is None
    assert 0.14 < time.monotonic() - begin < 60
    for wrong in (-1, float("nan")):
        fails(ef.InvalidArgumentError, "timeout", lambda: receiver.recv(wrong))
    fails(TypeError, "timeout", lambda: receiver.recv("soon"))


def test_other_threads_run_while_one_waits():
    sender, receiver = pair(bytes)
    found = []
    thread = threading.Thread(target=lambda: found.append(receiver.recv(None)))
    thread.start()
    end = time.monotonic() + 0.3
    steps = 0
    while time.monotonic() < end:
        steps += 1
    assert steps > 1000 and not found
    sender.send(b"now")
    thread.join(20)
    assert found == [b"now"]


def test_many_threads_on_one_topic():
    sender, receiver = pair(np.dtype([("number", "u8")]), message_name="wait.Number", depth=4096)
    seen, lock = [], threading.Lock()

    def send(first):
        for i in range(first, first + 500):
            sender.send((i,))

    def receive():
        while (message := receiver.recv(1)) is not None:
            with lock:
                seen.append(int(message["number"]))

    threads = [threading.Thread(target=send, args=(500 * i,)) for i in range(4)]
    threads += [threading.Thread(target=receive) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == list(range(2000)) and receiver.lost == 0


def test_iteration_ends_when_the_topic_is_closed():
    sender, receiver = pair(bytes)
    for i in range(3):
        sender.send(b"%d" % i)
    seen = []
    for message in receiver:
        seen.append(message)
        if len(seen) == 3:
            threading.Timer(0.1, receiver.close).start()
    assert seen == [b"0", b"1", b"2"] and receiver.is_closed


def test_a_thread_that_waits_is_told_when_the_topic_is_closed():
    _, receiver = pair(bytes)
    answers = []

    def wait():
        try:
            receiver.recv(None)
        except ef.Error as error:
            answers.append(str(error))
    thread = threading.Thread(target=wait)
    thread.start()
    time.sleep(0.1)
    receiver.close()
    thread.join(20)
    assert len(answers) == 1 and "closed" in answers[0]


def test_the_descriptor_says_when_messages_are_there():
    sender, receiver = pair(bytes)
    assert not select.select([receiver], [], [], 0)[0]
    sender.send(b"1")
    assert select.select([receiver], [], [], 20)[0] and receiver.has_message()
    assert receiver.recv() == b"1" and receiver.recv() is None
    assert not select.select([receiver], [], [], 0)[0]


def test_wait_set():
    sender, receiver = pair(bytes)
    other = ef.Topic(next_name(), bytes, receives_own=True)
    ends = os.pipe()
    waits = ef.WaitSet()
    waits.add(receiver)
    waits.add(other, {"any": "object"})
    waits.add_fd(ends[0], 3)
    assert waits.wait(0.05) == [] and len(waits) == 3
    sender.send(b"1")
    assert waits.wait(20) == [receiver] and receiver.recv() == b"1"
    other.send(b"2")
    os.write(ends[1], b"x")
    assert waits.wait(20) == [{"any": "object"}, 3]
    assert waits.remove(3) and not waits.remove(3) and other.recv() == b"2"
    waits.add_timer(0.05, "tick")
    assert waits.wait() == ["tick"] and waits.wait() == ["tick"]
    fails(ef.Error, "token", lambda: waits.add_timer(1, "tick"))
    for wrong in (0, -1, 1e10):
        fails(ef.InvalidArgumentError, "interval", lambda: waits.add_timer(wrong, "other"))
    fails(TypeError, "topic", lambda: waits.add("topic"))
    receiver.close()
    fails(ef.Error, "closed", lambda: waits.wait(0))
    assert waits.remove(receiver) and waits.wait() == ["tick"]
    for end in ends:
        os.close(end)


def test_a_wait_set_keeps_its_topics_and_serves_one_thread():
    name = next_name()
    sender = ef.Topic(name, bytes)
    waits = ef.WaitSet()
    waits.add(ef.Topic(name, bytes), "kept")
    sender.send(b"1")
    assert waits.wait(20) == ["kept"]
    waits.remove("kept")
    waits.add(ef.Topic(name, bytes), "new")
    refused, found = [], []

    def wait(seconds):
        try:
            found.extend(waits.wait(seconds))
        except ef.BusyError:
            refused.append(seconds)

    def wait_long():
        while not found:
            wait(60)
    thread = threading.Thread(target=wait_long)
    thread.start()
    while 0 not in refused:  # one of both is there first
        wait(0)
    sender.send(b"2")
    thread.join()
    assert found == ["new"]


def test_ctrl_c_ends_every_wait():
    with Peer("""
import os, signal, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)
receiver = ef.Topic("ctrl/c", bytes)
waits = ef.WaitSet()
waits.add(receiver)
sender = ef.Topic("ctrl/block", bytes, depth=1, overflow="block", block_timeout=None)
slow = ef.Topic("ctrl/block", bytes)
sender.send(b"1")
pool = ef.TensorPool(77, 1, 1)
held = pool.alloc([4])
for call in (lambda: receiver.recv(None), lambda: next(iter(receiver)), waits.wait,
             lambda: sender.send(b"2"), lambda: pool.alloc([4], timeout=1000)):
    try:
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        call()
    except KeyboardInterrupt:
        say("stopped")
""") as peer:
        assert peer.end().splitlines() == ["stopped"] * 5


def test_a_handler_of_a_signal_runs_in_the_middle_of_a_wait():
    sender, receiver = pair(bytes)
    seen = threading.Event()
    old = signal.signal(signal.SIGUSR1, lambda *_: seen.set())

    def interrupt():
        os.kill(os.getpid(), signal.SIGUSR1)
        assert seen.wait(60)
        sender.send(b"afterwards")
    timer = threading.Timer(0.1, interrupt)
    timer.start()
    assert receiver.recv(120) == b"afterwards"
    timer.join()
    signal.signal(signal.SIGUSR1, old)


def test_recv_async_waits():
    async def run():
        sender, receiver = pair(bytes)
        assert await receiver.recv_async(0.05) is None
        asyncio.get_running_loop().call_later(0.1, sender.send, b"1")
        assert await receiver.recv_async() == b"1"
        sender.send(b"2")
        assert await receiver.recv_async(0) == b"2" and await receiver.recv_async(0) is None
    asyncio.run(run())


def test_async_for_over_frames_of_another_process():
    async def run():
        receiver = ef.Topic(next_name(), ef.Image)
        seen = []
        with Peer(f"""
topic = ef.Topic({receiver.name!r}, ef.Image)
for i in range(20):
    image = ef.Image(8, 8, "mono8"); image.fill(i); image.timestamp_ns = i
    topic.send(image)
hear()
""") as peer:
            async for image in receiver:
                assert image.pixel(7, 7) == (image.timestamp_ns,)
                seen.append(image.timestamp_ns)
                if image.timestamp_ns == 19:
                    break
            peer.say("end")
            peer.end()
        assert len(seen) + receiver.lost == 20 and seen == sorted(seen)
    asyncio.run(run())


def test_a_task_that_is_cancelled_has_taken_no_message():
    async def run():
        sender, receiver = pair(bytes, depth=4096)
        got = []
        for i in range(300):
            task = asyncio.ensure_future(receiver.recv_async())
            await asyncio.sleep(0)
            sender.send(b"%d" % i)
            if i % 3:
                await asyncio.sleep(0.0005 * (i % 2))
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                got.append(await task)
        while (message := await receiver.recv_async(0)) is not None:
            got.append(message)
        assert [int(one) for one in got] == list(range(300)) and receiver.lost == 0
    asyncio.run(run())


def test_wait_for_and_many_tasks_on_one_topic():
    async def run():
        sender, receiver = pair(bytes, depth=64)
        for timeout in (0.02, 0.01):
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(receiver.recv_async(), timeout)
        tasks = [asyncio.ensure_future(receiver.recv_async(20)) for _ in range(10)]
        await asyncio.sleep(0.05)
        for i in range(10):
            sender.send(b"%d" % i)
        assert sorted(await asyncio.gather(*tasks)) == [b"%d" % i for i in range(10)]
    asyncio.run(run())


def test_a_task_that_waits_is_told_when_the_topic_is_closed():
    async def run(close):
        _, receiver = pair(bytes)
        task = asyncio.ensure_future(receiver.recv_async())
        await asyncio.sleep(0.05)
        close(receiver)
        for late in (task, receiver.recv_async()):
            with pytest.raises(ef.Error, match="closed"):
                await late
    asyncio.run(run(lambda topic: topic.close()))

    def from_a_thread(topic):
        thread = threading.Thread(target=topic.close)
        thread.start()
        thread.join()
    asyncio.run(run(from_a_thread))


def test_async_iteration_ends_when_the_topic_is_closed():
    async def run():
        sender, receiver = pair(bytes)
        sender.send(b"1")
        asyncio.get_running_loop().call_later(0.1, receiver.close)
        assert [message async for message in receiver] == [b"1"]
    asyncio.run(run())


def test_loops_one_after_the_other_and_at_the_same_time():
    sender, receiver = pair(bytes, depth=64)
    for i in range(3):
        sender.send(b"%d" % i)
        assert asyncio.run(receiver.recv_async(20)) == b"%d" % i
        assert asyncio.run(receiver.recv_async(0.01)) is None
    found = []
    threads = [threading.Thread(target=lambda: found.append(
        asyncio.run(receiver.recv_async(20)))) for _ in range(3)]
    for thread in threads:
        thread.start()
    time.sleep(0.1)
    for i in range(3):
        sender.send(b"%d" % i)
    for thread in threads:
        thread.join()
    assert sorted(found) == [b"0", b"1", b"2"]


def test_topics_that_nobody_holds_leave():
    name = next_name()
    sender = ef.Topic(name)
    receiver = ef.Topic(name)
    frame = sender.alloc_tensor([4])
    sender.send(frame)
    found = receiver.recv()
    assert sender.stats().subscribers == 1
    del receiver
    gc.collect()
    assert sender.stats().subscribers == 0 and np.asarray(found).shape == (4,)
