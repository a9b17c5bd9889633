# SPDX-License-Identifier: Apache-2.0
"""Stages of a Pipeline written in Python: their order, errors, threads, and the program's end."""
import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import halyard
from harbour import HARBOUR, MODEL, PHOTO, needs_engine


def numbered(count):
    for index in range(count):
        yield np.full((8, 16), index, np.uint8)


def pixel(result):
    return int(np.asarray(result.image).flat[0])


def test_a_stage_sees_each_frame_in_order_and_its_attributes_reach_the_loop():
    pipeline = halyard.Pipeline(numbered(40), in_flight=4)
    seen = []

    @pipeline.add_stage
    def double(result):
        seen.append(result.index)
        result.double = 2 * pixel(result)

    pipeline.add_stage(lambda result: setattr(result, "more", result.double + 1), name="more")
    assert [result.more for result in pipeline] == [2 * i + 1 for i in range(40)]
    assert seen == list(range(40))
    stats = pipeline.stats()
    assert stats.stage("double").frames == stats.stage("more").frames == 40
    with pytest.raises(ValueError, match="before the start"):
        pipeline.add_stage(double)


def test_a_stage_in_any_order_runs_for_several_frames_at_once():
    pipeline = halyard.Pipeline(numbered(12), in_flight=4)
    inside, together = [], threading.Event()

    def meet(result):
        # The first three wait for each other. Later ones do not: a frame waits for earlier ones.
        inside.append(result.index)
        if len(inside) >= 3:
            together.set()
        assert together.wait(20)

    pipeline.add_stage(meet, in_order=False)
    results = list(pipeline)
    assert [result.error for result in results] == [None] * 12
    assert [pixel(result) for result in results] == list(range(12))


def test_an_exception_is_the_frames_error_and_the_run_goes_on():
    reported = []
    pipeline = halyard.Pipeline(numbered(6),
                                on_error=lambda what, error: reported.append((what, str(error))))
    thrown = KeyError("no such thing")
    behind = []

    def fail(result):
        if result.index == 2:
            raise thrown

    pipeline.add_stage(fail)
    pipeline.add_stage(lambda result: behind.append(result.index), name="behind")
    results = list(pipeline)
    assert [result.error for result in results] == [None, None, thrown, None, None, None]
    assert results[2].failed_stage == "fail" and results[1].failed_stage == ""
    assert "KeyError" in repr(results[2])
    assert behind == [0, 1, 3, 4, 5]
    stats = pipeline.stats()
    assert (stats.stage("fail").errors, stats.sources[0].failed, stats.latency.errors) == (1, 1, 1)
    (what, text), = reported
    assert what.startswith("fail of") and "KeyError: 'no such thing'" in text


def test_errors_of_a_source_are_counted_and_reading_goes_on(tmp_path):
    class Broken:
        def __init__(self):
            self.count = 0

        def __iter__(self):
            return self

        def __next__(self):
            self.count += 1
            if self.count > 5:
                raise StopIteration
            if self.count == 3:
                raise ValueError("third")
            return np.full((4, 4), self.count, np.uint8)

    pipeline = halyard.Pipeline(Broken())
    assert [pixel(result) for result in pipeline] == [1, 2, 4, 5]
    source = pipeline.stats().sources[0]
    assert source.errors == 1 and "ValueError: third" in source.last_error
    good = (HARBOUR / "clip/frame_0000.jpg").read_bytes()
    for name, data in (("a.jpg", good), ("b.jpg", good[:100]), ("c.jpg", good)):
        (tmp_path / name).write_bytes(data)
    pipeline = halyard.Pipeline(tmp_path)
    assert [os.path.basename(result.path) for result in pipeline] == ["a.jpg", "c.jpg"]
    assert pipeline.stats().sources[0].errors == 1
    pipeline = halyard.Pipeline(iter([np.zeros((4, 4), np.float32)]))
    assert list(pipeline) == [] and "uint8" in pipeline.stats().sources[0].last_error


@needs_engine
def test_stages_see_detections_and_a_kept_result_stays_valid():
    kept = []
    pipeline = halyard.Pipeline(HARBOUR / "clip", MODEL, tracker="bytetrack", in_flight=2)
    pipeline.add_stage(lambda result: kept.append(result) if result.index % 10 == 0 else None)
    counts = [len(result.detections) for result in pipeline]
    del pipeline
    gc.collect()
    assert [len(result.detections) for result in kept] == counts[::10]
    assert all(result.image.upright_size == (640, 360) for result in kept)


def test_wait_runs_the_stages_without_a_loop():
    pipeline = halyard.Pipeline(numbered(25), in_flight=2)
    seen = []
    pipeline.add_stage(lambda result: seen.append(pixel(result)), name="seen")
    pipeline.wait()
    assert seen == list(range(25))
    pipeline.wait()  # ended already
    assert pipeline.next() is None and list(pipeline) == []


def test_stop_and_drain_end_an_endless_source():
    def endless():
        index = 0
        try:
            while True:
                yield np.full((4, 4), index % 256, np.uint8)
                index += 1
        finally:
            closed.set()

    closed = threading.Event()
    with halyard.Pipeline(endless()) as pipeline:
        for result in pipeline:
            if result.index == 20:
                break
    assert pipeline.next() is None
    assert closed.wait(10)
    pipeline = halyard.Pipeline(endless())
    seen = []
    pipeline.add_stage(lambda result: seen.append(result.index))
    pipeline.start()
    while len(seen) < 10:
        pipeline.next()
    pipeline.drain()
    assert seen == list(range(len(seen)))
    assert pipeline.stats().frames == len(seen) and pipeline.stats().in_flight == 0
    with pytest.raises(halyard.Error, match="started before"):
        pipeline.start()


def test_a_waiting_source_does_not_keep_a_pipeline_from_stopping():
    release = threading.Event()

    def waits():
        yield np.zeros((4, 4), np.uint8)
        release.wait()

    pipeline = halyard.Pipeline(waits())
    assert pixel(pipeline.next()) == 0
    start = time.monotonic()
    with pytest.raises(halyard.WaitTimeoutError):
        pipeline.next(timeout=0.05)
    with pytest.raises(ValueError, match="timeout"):
        pipeline.next(timeout=-1)
    pipeline.stop()
    assert time.monotonic() - start < 60
    release.set()


def test_pause_holds_a_source_and_resume_goes_on():
    read = []

    def source():
        for index in range(200):
            read.append(index)
            yield np.zeros((4, 4), np.uint8)

    pipeline = halyard.Pipeline(source(), in_flight=2)
    pipeline.pause()
    assert pipeline.is_paused
    pipeline.start()
    time.sleep(0.1)  # time to read more
    assert len(read) <= 3  # nothing takes what was read
    pipeline.resume()
    assert not pipeline.is_paused
    assert len(list(pipeline)) == len(read) == 200


def test_threads_share_the_results():
    pipeline = halyard.Pipeline(numbered(250), in_flight=6)
    pipeline.start()
    seen, lock = [], threading.Lock()

    def take():
        for result in pipeline:
            with lock:
                seen.append((pixel(result), result.index))

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    pipeline.wait()
    for thread in threads:
        thread.join(30)
    assert sorted(seen) == [(i, i) for i in range(250)]


def test_a_result_on_its_way_to_a_thread_arrives_when_another_thread_has_ended_the_pipeline():
    pipeline = halyard.Pipeline(PHOTO)
    pipeline.pause()
    pipeline.start()
    taken = []
    thread = threading.Thread(target=lambda: taken.append(pipeline.next()))
    thread.start()
    time.sleep(0.3)  # the thread waits for a frame
    interval = sys.getswitchinterval()
    try:
        sys.setswitchinterval(60)
        pipeline.resume()
        until = time.monotonic() + 1
        while time.monotonic() < until:
            pass  # the frame reaches the thread, which waits for the interpreter
        pipeline._core.close()
    finally:
        sys.setswitchinterval(interval)
    thread.join(30)
    assert taken[0].index == 0 and taken[0].image.shape[0] > 0
    assert pipeline.next() is None


def test_thread_local_values_of_stages_live_as_long_as_their_thread():
    local, made = threading.local(), []

    def stage(result):
        if not hasattr(local, "value"):
            local.value = len(made)
            made.append(threading.get_ident())

    pipeline = halyard.Pipeline(numbered(100), in_flight=3)
    pipeline.add_stage(stage, in_order=False)
    pipeline.wait()
    assert 1 <= len(made) <= 3


def test_a_pipeline_that_is_forgotten_ends():
    count = threading.active_count()
    pipeline = halyard.Pipeline(numbered(10_000), in_flight=2)
    pipeline.add_stage(lambda result: None, name="none")
    next(iter(pipeline))
    del pipeline
    gc.collect()
    until = time.monotonic() + 60
    while threading.active_count() > count and time.monotonic() < until:
        time.sleep(0.01)
    assert threading.active_count() <= count


def run(program, **options):
    text = textwrap.dedent(program)
    return subprocess.run([sys.executable, "-B", "-c", text], capture_output=True, text=True,
                          timeout=60, **options)


START = """
    import threading, time
    import numpy as np, halyard
    def endless():
        while True:
            yield np.zeros((8, 8), np.uint8)
    def slow(result):
        time.sleep(0.002)
"""


@pytest.mark.parametrize("end", ["pass", "import sys; sys.exit(0)", "del p", "p.stop()"])
def test_a_program_ends_while_its_pipeline_runs(end):
    done = run(START + f"""
    p = halyard.Pipeline([endless(), endless()], in_flight=4)
    p.add_stage(slow)
    p.add_stage(slow, in_order=False)
    it = iter(p)
    kept = [next(it) for _ in range(20)]
    del it
    {end}
    """)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_program_ends_while_its_source_waits_for_ever():
    done = run(START + """
    def stuck():
        yield np.zeros((8, 8), np.uint8)
        threading.Event().wait()
    p = halyard.Pipeline(stuck())
    p.next()
    time.sleep(0.05)
    """)
    assert (done.returncode, done.stderr) == (0, "")


def test_ctrl_c_interrupts_a_wait():
    child = subprocess.Popen([sys.executable, "-B", "-c", textwrap.dedent(START + """
    def stuck():
        yield np.zeros((8, 8), np.uint8)
        threading.Event().wait()
    try:
        for result in halyard.Pipeline(stuck()):
            print("first", flush=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    """)], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "first\n"
    child.send_signal(signal.SIGINT)
    assert child.communicate(timeout=30)[0] == "interrupted\n"
    assert child.returncode == 0


def test_a_forked_child_is_told_that_the_pipeline_is_its_parents():
    done = run(START + """
    import os
    p = halyard.Pipeline(endless())
    result = p.next()
    child = os.fork()
    if child == 0:
        try:
            p.next()
        except halyard.UnsupportedError as error:
            os._exit(7 if "parent" in str(error) else 8)
        os._exit(9)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    p.stop()
    """)
    assert (done.returncode, done.stdout, done.stderr) == (0, "7\n", "")
