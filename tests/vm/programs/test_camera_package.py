# SPDX-License-Identifier: Apache-2.0
"""halyard.open, Model and Pipeline of the Python package on a camera."""
import itertools
import pathlib
import subprocess
import sys
import time

import halyard
import numpy as np
import pytest

from cameras import BUFFER_EACH, FOUND, ONE_BUFFER

MODEL = pathlib.Path(__file__).parents[3] / "examples/harbour/harbour.onnx"
CAMERAS = pytest.mark.parametrize("camera", [ONE_BUFFER, BUFFER_EACH])


@CAMERAS
def test_frames_are_opened_by_path_and_by_number(camera):
    for source in camera, FOUND.index(camera):
        with halyard.open(source) as frames:
            stamps = []
            for frame in itertools.islice(frames, 20):
                stamps.append(frame.timestamp_ns)
                assert np.ptp(np.asarray(frame.image)) > 0
        assert stamps == sorted(set(stamps)) and len(stamps) == 20


def test_frames_that_are_held_keep_the_cameras_buffers():
    with halyard.open(ONE_BUFFER) as frames:
        with pytest.raises(halyard.CapacityError, match="holds all buffers"):
            list(itertools.islice(frames, 20))


@CAMERAS
def test_the_driver_writes_into_slots_of_a_pool(camera):
    pool = halyard.TensorPool(4713)
    with halyard.Camera(camera, format="nv12", width=320, height=180, pool=pool) as frames:
        assert frames.mode.transfer == "caller_buffers"
        kept = [next(frames).image for _ in range(8)]
        assert all(isinstance(image, halyard.TensorHandle) for image in kept)
        assert len({image.descriptor().offset for image in kept}) == 8
        assert frames.stats.copies == 0 and frames.stats.lost == 0


CAPTURES_TO_POOL = """
import sys, time
import halyard
pool = halyard.TensorPool(int(sys.argv[2]))
with halyard.Camera(sys.argv[1], width=320, height=180, pool=pool) as camera:
    frames = [next(camera).image for _ in range(5)]
    print(bytes(frames[-1].descriptor()).hex(), flush=True)
    time.sleep(100)
"""


@CAMERAS
def test_a_killed_process_leaves_no_slot_and_its_frames_stay_with_who_has_them(camera):
    pool = halyard.TensorPool(4714)
    for _ in range(3):
        with subprocess.Popen([sys.executable, "-c", CAPTURES_TO_POOL, camera, "4714"],
                              stdout=subprocess.PIPE, text=True) as child:
            seen = pool.attach(bytes.fromhex(child.stdout.readline()))
            before = np.array(seen)
            child.kill()
        with halyard.Camera(camera, width=320, height=180, pool=pool) as frames:
            for _ in range(5):
                next(frames)
        assert np.ptp(before) > 0 and np.array_equal(np.array(seen), before)
        del seen
        until = time.monotonic() + 10
        while pool.stats().allocated_slots and time.monotonic() < until:
            time.sleep(0.05)
        assert pool.stats().allocated_slots == 0


def test_a_model_takes_the_frames_of_a_camera():
    model = halyard.Model(MODEL)
    with halyard.open(ONE_BUFFER) as frames:
        for frame in itertools.islice(frames, 5):
            found = model(frame.image).detections
            assert found.size == (frame.image.width, frame.image.height)


@CAMERAS
def test_a_pipeline_reads_a_camera_without_a_copy(camera):
    with halyard.Pipeline(camera, MODEL, tracker="bytetrack") as pipeline:
        before = pipeline.stats().copies
        numbers = [result.index for result in itertools.islice(pipeline, 20)]
        stats = pipeline.stats()
    assert numbers == sorted(set(numbers)) and len(numbers) == 20
    assert stats.copies == before
    assert stats.sources[0].read >= 20
    assert stats.sources[0].failed == 0


def published(camera, count, seen):
    """Pipeline.stats() of `count` frames of a camera that were published; `seen` is called with
    the topic after each."""
    with halyard.Topic("watched", halyard.Image, role="subscriber") as topic:
        pipeline = halyard.Pipeline(camera)
        pipeline.add_topic("watched")
        with pipeline:
            for _ in itertools.islice(pipeline, count):
                seen(topic)
            return pipeline.stats()


@CAMERAS
def test_a_pipeline_publishes_a_cameras_frames_without_a_copy(camera):
    images = []

    def look(topic):
        images[:] = [topic.recv(5)]

    assert published(camera, 20, look).copies == 0
    assert np.ptp(np.asarray(images[0])) > 0


@CAMERAS
def test_a_subscriber_that_does_not_read_costs_copies_and_not_the_camera(camera):
    assert published(camera, 40, lambda topic: None).copies > 0


@CAMERAS
def test_a_topic_of_ones_own_may_have_that_limit(camera):
    with halyard.Topic("own", halyard.Tensor, max_shared_frames=2) as topic, \
            halyard.Topic("own", halyard.Tensor, role="subscriber"), \
            halyard.open(camera) as frames:
        for frame in itertools.islice(frames, 20):
            topic.send(frame.image)
        assert topic.stats().copied >= 20 - 4
    with pytest.raises(OverflowError, match="max_shared_frames"):
        halyard.Topic("own", max_shared_frames=-1)
