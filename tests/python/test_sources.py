# SPDX-License-Identifier: Apache-2.0
"""halyard.open: cameras by number, and topics."""
import glob
import threading
import time

import numpy as np
import pytest

import halyard
import peers  # noqa: F401  a namespace of its own for topics
from harbour import HARBOUR
from helpers import fails, open_descriptors

SIDE = 32


def finder(array):
    """Finds one object: the pixels that are brighter than 0.9."""
    out = np.zeros((1, 5, 400), np.float32)
    rows, columns = np.nonzero(array[0].min(axis=0) > 0.9)
    out[0, :, 0] = (columns.mean() + 0.5, rows.mean() + 0.5, np.ptp(columns) + 1,
                    np.ptp(rows) + 1, 0.875)
    return out


def scene(left):
    made = np.full((SIDE, SIDE, 3), 30, np.uint8)
    made[8:16, left:left + 8] = 255
    return made


def image(left, stamp=0):
    made = halyard.Image.from_numpy(scene(left))
    made.timestamp_ns = stamp
    return made


def test_frames_of_a_topic_by_name():
    with halyard.Topic("cam/a", halyard.Image, role="publisher", history=8) as topic:
        for number in range(3):
            topic.send(image(number, 1000 + number))
        with halyard.open("topic:cam/a", timeout=5) as frames:
            assert frames.is_video and repr(frames) == "Frames('topic:cam/a')"
            fails(TypeError, "not known beforehand", lambda: len(frames))
            for number in range(3):
                frame = next(frames)
                assert (frame.index, frame.timestamp_ns) == (number, 1000 + number)
                assert frame.source == "topic:cam/a"
                assert np.array_equal(np.asarray(frame.image), scene(number))
        assert list(frames) == []
        assert np.array_equal(np.asarray(frame.image), scene(2))  # valid after close()


def test_a_topic_of_tensors_has_the_time_of_arrival():
    with halyard.Topic("cam/b", halyard.Tensor, role="publisher", history=8) as topic:
        tensor = halyard.tensor(scene(4))
        tensor.set_format("rgb")
        topic.send(tensor)
        topic.send(np.zeros(5, np.float32))
        topic.send(tensor)
        before = time.monotonic_ns()
        with halyard.open("topic:cam/b", timeout=5) as frames:
            first = next(frames)
            assert before <= first.timestamp_ns <= time.monotonic_ns()
            # A message that is no image is told, and the next one is read.
            fails(halyard.UnsupportedError, "cam/b is not an image", lambda: next(frames))
            assert next(frames).index == 2
    with halyard.Topic("cam/bytes", bytes, role="publisher"):
        fails(ValueError, "topic:cam/bytes has no images.*Bytes",
              lambda: halyard.open("topic:cam/bytes"))


def test_a_topic_of_one_s_own_stays_open():
    with halyard.Topic("cam/c", halyard.Image, receives_own=True) as topic:
        topic.send(image(3, 5))
        with halyard.open(topic, timeout=1) as frames:
            assert next(frames).timestamp_ns == 5
            start = time.monotonic()
            fails(halyard.WaitTimeoutError, "topic:cam/c had no frame for 0.05 s",
                  lambda: next(halyard.open(topic, timeout=0.05)))
            assert time.monotonic() - start < 60
        assert not topic.is_closed
        topic.send(image(4, 6))
        assert next(halyard.open(topic)).timestamp_ns == 6


def test_close_ends_a_wait_for_a_frame():
    frames = halyard.open("topic:cam/d")
    threading.Timer(0.2, frames.close).start()
    assert list(frames) == []
    assert "cam/d" in repr(frames)


def test_topics_leave_no_descriptors():
    list_once = [halyard.open("topic:cam/e").close() for _ in range(2)]
    before = open_descriptors()
    for _ in range(20):
        halyard.open("topic:cam/e").close()
    assert open_descriptors() == before and len(list_once) == 2


def test_models_run_and_track_on_a_topic():
    model = halyard.Model(engine=finder, input_size=(SIDE, SIDE), labels=["square"])
    with halyard.Topic("cam/f", halyard.Image, role="publisher", history=8) as topic:
        for number in range(6):
            topic.send(image(2 * number, 1 + 40_000_000 * number))
        seen = []
        for result in model.track("topic:cam/f"):
            seen.append(result)
            if len(seen) == 6:
                break
    assert [each.tracker_id.tolist() for each in seen] == [[1]] * 6
    assert [each.index for each in seen] == list(range(6))
    assert seen[5].path == "topic:cam/f" and 5 < seen[5].xyxy[0, 0] < 12
    assert seen[3].timestamp_ns == 120_000_001


@pytest.mark.parametrize("source", ["", "topic:", "topic:no spaces", "camera:", "camera:x"])
def test_names_that_name_nothing(source):
    fails((ValueError, OSError), "source|topic", lambda: halyard.open(source))


def test_cameras_by_number():
    number = 61
    assert f"/dev/video{number}" not in glob.glob("/dev/video*")
    for source in (number, np.int64(number), f"camera:{number}", f"/dev/video{number}"):
        error = fails(FileNotFoundError, "no camera.*video devices: ", lambda: halyard.open(source))
        assert f"{number}" in str(error) and isinstance(error, halyard.Error)
    model = halyard.Model(engine=finder, input_size=(SIDE, SIDE))
    fails(FileNotFoundError, "camera:61", lambda: next(model.stream(number)),
          lambda: next(model(number, stream=True)))
    fails(ValueError, "must not be negative", lambda: halyard.open(-1))
    for wrong in (True, 1.5, None, ["a"]):
        fails(TypeError, "source: must be a path", lambda: halyard.open(wrong))


def test_times_to_wait_are_positive():
    for timeout in (0, -1, "a", float("nan")):
        fails(ValueError, "timeout: must be above 0", lambda: halyard.open(HARBOUR / "clip",
                                                                          timeout=timeout))
    with halyard.open(HARBOUR / "clip", timeout=1e300) as frames:
        assert len(frames) == 90
    with halyard.open(HARBOUR / "clip", timeout=0.001) as frames:
        assert next(frames).index == 0


def test_one_image_is_no_source():
    model = halyard.Model(engine=finder, input_size=(SIDE, SIDE))
    for one in (scene(3), halyard.tensor(scene(3)), b"bytes"):
        fails(TypeError, "source: is one image .*model.image.", lambda: next(model.stream(one)),
              lambda: next(model.track(one)))
    results = list(model([scene(3), scene(9)], stream=True))
    assert [round(float(each.xyxy[0, 0])) for each in results] == [3, 9]
    fails(ValueError, "bgr", lambda: model([scene(3)], stream=True, bgr=True))
