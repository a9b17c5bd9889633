# SPDX-License-Identifier: Apache-2.0
"""os.fork() while another thread uses an object: the child gets an answer, and never waits."""
import os
import threading

import numpy as np
import pytest

import halyard as ef
from helpers import ends_in_child

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

F = ef.PixelFormat
CHILDREN = 24


def answers_of_children(work, call):
    """Answers of children that are forked while another thread calls `work` all the time."""
    stop = threading.Event()

    def run():
        while not stop.is_set():
            work()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        return [ends_in_child(call) for _ in range(CHILDREN)]
    finally:
        stop.set()
        thread.join()


def answer_of(call):
    """0: it works; 1: it says that the object is busy; 2: anything else."""
    try:
        call()
    except ef.Error as error:
        return 1 if error.code == "busy" and "fork" in str(error) else 2
    return 0


def test_a_child_never_waits_for_a_processor_that_a_thread_of_its_parent_uses():
    processor = ef.ImageProcessor(threads=1)
    large = ef.Tensor.image(3000, 3000, F.Nv12, mem=ef.TensorMemory.MEM)
    out = ef.Tensor.image(1500, 1500, F.Rgb, mem=ef.TensorMemory.MEM)
    mine = ef.Tensor.image(64, 64, F.Rgb, mem=ef.TensorMemory.MEM)
    wide = ef.Tensor.image(640, 640, F.Rgb, mem=ef.TensorMemory.MEM)
    answers = answers_of_children(
        lambda: processor.convert(large, out),
        lambda: max(answer_of(lambda: processor.convert(mine, mine.copy())),
                    answer_of(lambda: processor.convert(wide, wide.copy()))))
    assert set(answers) <= {0, 1}
    # A thread that does nothing else is inside nearly always.
    assert 1 in answers


def test_a_child_can_use_a_processor_that_nobody_used_when_it_was_forked():
    processor = ef.ImageProcessor()
    image = ef.Tensor.image(640, 640, F.Rgb, mem=ef.TensorMemory.MEM)
    processor.convert(image, image.copy())
    assert ends_in_child(lambda: answer_of(lambda: processor.convert(image, image.copy()))) == 0


def test_a_child_never_waits_for_a_tracker_that_a_thread_of_its_parent_uses():
    tracker = ef.ByteTrack()
    boxes = np.random.default_rng(1).random((400, 2), dtype=np.float32)
    boxes = np.concatenate([boxes, boxes + 0.01], axis=1)
    scores = np.full(400, 0.9, np.float32)
    labels = np.zeros(400, np.uint64)
    times = iter(range(1, 1 << 30))
    answers = answers_of_children(
        lambda: tracker.update(boxes, scores, labels, next(times)),
        lambda: answer_of(lambda: tracker.update(boxes, scores, labels, 1 << 40)))
    assert set(answers) <= {0, 1}


def test_a_child_never_waits_for_a_decoder_that_a_thread_of_its_parent_uses():
    decoder = ef.Decoder.new_from_outputs([ef.Output.detection(shape=[1, 84, 80000])], 0.99)
    output = np.random.default_rng(1).random((1, 84, 80000), dtype=np.float32) * 0.9

    def change():
        decoder.score_threshold = 0.98

    def use():
        answers = answer_of(lambda: decoder.decode([output])), answer_of(change)
        return 2 if 2 in answers else answers[1]

    answers = answers_of_children(lambda: decoder.decode([output]), use)
    assert set(answers) <= {0, 1}
    # A thread that does nothing else is inside nearly always, and shares what a change has alone.
    assert 1 in answers
