#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Eight threads on the same objects, and forks in the middle of them. The threads must get the
results of sequential calls. If calls exclude one another, each must end with its result or with
an error. A child of a fork must end."""
import os
import random
import select
import signal
import sys
import threading
import time

import numpy as np

import halyard
import python_calls
import samples
from common import SANITIZED, SLOWER, Failure, Program, attempt, main

THREADS = 8
PATIENCE_S = 10 * SLOWER


def side_by_side(work, body, threads=THREADS):
    """Runs body(index) in each thread at once; a Failure in one is a Failure of the round."""
    gate, failures = threading.Barrier(threads), []

    def one(index):
        gate.wait()
        try:
            body(index)
        except BaseException as error:
            failures.append(error)

    started = [threading.Thread(target=one, args=(index,)) for index in range(threads)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    work.counts["calls"] += threads
    for failure in failures:
        raise failure


def same(first, second):
    return len(first) == len(second) and all(map(np.array_equal, first, second))


def converted(processor, source, width, height):
    target = halyard.Tensor.image(width, height, "rgba", samples.MEM)
    processor.convert(source, target, letterbox=(1, 2, 3, 4))
    return np.asarray(target).copy()


def convert(work):
    """One processor for all threads, or one for each thread."""
    shared = halyard.ImageProcessor()
    own = work.chance.random() < 0.5
    source = samples.frame(work.chance.randrange(16, 400), work.chance.randrange(16, 300))
    sizes = [(work.chance.randrange(8, 200), work.chance.randrange(8, 200)) for _ in range(THREADS)]
    wanted = [converted(shared, source, *size) for size in sizes]
    work.call(f"convert of {source!r} by {THREADS} threads, own processors: {own}")

    def body(index):
        processor = halyard.ImageProcessor(threads=2) if own else shared
        for _ in range(6):
            work.equal(np.array_equal(converted(processor, source, *sizes[index]), wanted[index]),
                       f"convert to {sizes[index]} differs from the sequential one")
    side_by_side(work, body)


def masks(work):
    """Masks by one processor; some calls are refused: the coefficients do not match the boxes."""
    processor, decoder = halyard.ImageProcessor(), samples.segmenter()
    resolution = halyard.MaskResolution.Scaled(64, 48)
    inputs = [[samples.many_objects(seed), samples.prototypes()] for seed in range(4)]

    def made(index):
        found = decoder.decode_proto(inputs[index % 4])
        return processor.materialize_masks(*found, resolution=resolution)

    work.call("materialize_masks, refused, materialize_masks")
    wanted = [made(index) for index in range(4)]
    found = decoder.decode_proto(inputs[0])
    attempt(work, processor.materialize_masks, found.boxes[:-1], found.scores[:-1],
            found.classes[:-1], found.protos)
    work.equal(same(made(0), wanted[0]), "masks after a refused call differ")
    work.call(f"materialize_masks by {THREADS} threads of one processor")

    def body(index):
        for turn in range(8):
            if (turn + index) % 5 == 0:
                attempt(work, processor.materialize_masks, found.boxes[:-1], found.scores[:-1],
                        found.classes[:-1], found.protos)
            work.equal(same(made(index), wanted[index % 4]), "masks differ from sequential ones")
    side_by_side(work, body)


def decode(work):
    """One decoder whose thresholds change meanwhile: each result must fit one of the values."""
    decoder = samples.decoder()
    output = samples.detection_output([((0.1, 0.1, 0.4, 0.5), score / 20, score % 5)
                                       for score in range(2, 20)])
    values = [0.3, 0.5, 0.7]
    wanted = []
    for value in values:
        decoder.score_threshold = value
        wanted.append(samples.arrays(decoder.decode([output])))
    work.call("decode while thresholds are set")

    def body(index):
        for turn in range(30):
            if index < 2:
                decoder.score_threshold = values[turn % 3]
                continue
            found = samples.arrays(decoder.decode([output]))
            work.equal(any(same(found, one) for one in wanted), "a decode of no threshold's value")
    side_by_side(work, body)


def one_tensor(work):
    """Each thread has its rows of one tensor, through maps, arrays and views."""
    tensor = halyard.Tensor((THREADS, 64, 8), "uint8", samples.MEM)
    work.call("maps of one tensor")

    def body(index):
        chance = random.Random(work.seed * THREADS + index)
        for turn in range(1, 40):
            with tensor.map() as mapped:
                np.asarray(mapped)[index] = turn
            way = chance.randrange(4)
            seen = [lambda: np.asarray(tensor)[index], lambda: np.asarray(tensor[index]),
                    lambda: np.from_dlpack(tensor)[index], lambda: tensor.copy().numpy()[index]]
            work.equal(bool((seen[way]() == turn).all()), f"rows of thread {index} changed ({way})")
    side_by_side(work, body)


def tracker(work):
    made = work.chance.choice([halyard.ByteTrack, halyard.OcSort, halyard.Sort])()
    boxes, scores, labels = samples.boxes(12)
    work.call(f"{type(made).__name__}.update by {THREADS} threads")

    def body(index):
        for turn in range(40):
            found, error = attempt(work, made.update, boxes, scores, labels, turn * 1000)
            if error is None:
                work.equal(len(found) == len(boxes), "another count of tracks than of boxes")
            work.equal(len(made.get_active_tracks()) <= 2000, "too many tracks")
    side_by_side(work, body)


def take_protos(work):
    """A value that is given once must be given to one thread only."""
    decoder = samples.segmenter()
    for _ in range(10):
        found = decoder.decode_proto([samples.many_objects(1), samples.prototypes()])
        taken = []
        work.call("take_protos, take_mask_coefficients")
        side_by_side(work, lambda _, f=found, t=taken: t.append(
            (f.protos.take_protos(), f.protos.take_mask_coefficients(), len(f.protos))))
        for place in (0, 1):
            work.equal(sum(one[place] is not None for one in taken) == 1, "taken not once")


def close(work):
    """A processor is closed while others use it."""
    source = samples.frame(200, 150)
    wanted = converted(halyard.ImageProcessor(), source, 64, 48)
    processor = halyard.ImageProcessor()
    moment = work.chance.randrange(1, 12)
    work.call("close() while convert() runs")

    def body(index):
        for turn in range(12):
            if index == 0 and turn == moment:
                processor.close()
            made, error = attempt(work, converted, processor, source, 64, 48)
            if error is None:
                work.equal(np.array_equal(made, wanted), "a convert beside close() differs")
            elif not isinstance(error, RuntimeError):
                raise Failure(f"close() made {error!r}")
    side_by_side(work, body)


def any_calls(work):
    """Random calls of the whole package on shared objects."""
    os.chdir(work.folder)
    maker = python_calls.Maker(work.chance, work.folder)
    maker.kept += [halyard.ImageProcessor(), samples.decoder(), samples.segmenter(),
                   halyard.ByteTrack(), samples.frame(), samples.frame(16, 16, "nv12")]

    list_lock = threading.Lock()

    def body(index):
        mine = python_calls.Maker(random.Random(work.seed * 99 + index), work.folder)
        for _ in range(40):
            with list_lock:
                mine.kept = list(maker.kept)
            choices = list(python_calls.callables(mine.chance.choices(mine.kept, k=2)))
            name, target = mine.chance.choice(choices[-60:])
            if not name.endswith("set_threads"):
                result = python_calls.one_call(work, mine, name, target)
                with list_lock:
                    python_calls.keep(maker, mine.chance, result)
    side_by_side(work, body)


def must_end(work, process, words, patience_s=PATIENCE_S):
    handle = os.pidfd_open(process)
    ended = select.select([handle], [], [], patience_s)[0]
    if not ended:
        os.kill(process, signal.SIGABRT)  # faulthandler writes the stack
        if not select.select([handle], [], [], 2)[0]:
            os.kill(process, signal.SIGKILL)
    os.close(handle)
    status = os.waitpid(process, 0)[1]
    work.equal(bool(ended), f"{words}: the child does not end")
    work.equal(status == 0, f"{words}: the child ended with {status}")


def child_of(work, body, words):
    work.call(words)
    process = os.fork()
    if process == 0:
        status = 9
        try:
            body()
            status = 0
        finally:
            os._exit(status)
    return process


def everything(source, output, left=None):
    """The calls of a fork's child, with its own objects and with a processor of the parent, which
    stays busy forever if a thread of the parent used it. Its arguments were made before the fork,
    because modules that NumPy loads late would wait for other threads."""
    if left is not None:
        try:
            converted(left, source, 32, 32)
        except halyard.BusyError as error:
            if not str(error).startswith("fork:"):
                raise
    converted(halyard.ImageProcessor(threads=2), source, 32, 32)
    samples.decoder().decode([output])
    halyard.Tensor.load_from_bytes(samples.JPEGS[0])


def fork_first(work):
    """Forks while another thread is in its very first calls, in a process that never called."""
    given = samples.frame(64, 48), samples.detection_output()

    def parent():
        threading.Thread(target=everything, args=given, daemon=True).start()
        time.sleep(work.chance.random() * 0.002)
        must_end(work, child_of(work, lambda: everything(*given), "fork during the first calls"),
                 "fork during the first calls")

    for _ in range(8):
        must_end(work, child_of(work, parent, "first calls"), "first calls", PATIENCE_S * 2)
        work.chance.random()


def fork_amid(work, shared):
    processor, ending = halyard.ImageProcessor(), threading.Event()
    source, output = samples.frame(300, 200), samples.detection_output()

    def busy():
        while not ending.is_set():
            converted(processor, source, 128, 96)
            samples.decoder().decode([output])

    threads = [threading.Thread(target=busy, daemon=True) for _ in range(3)]
    for thread in threads:
        thread.start()
    words = f"fork while threads work, {'the same' if shared else 'its own'} processor"
    try:
        for _ in range(6):
            time.sleep(work.chance.random() * 0.02)
            must_end(work, child_of(work, lambda: everything(
                source, output, processor if shared else None), words),
                     words)
    finally:
        ending.set()
    for thread in threads:
        thread.join()


def fork_with_own(work):
    fork_amid(work, False)


def fork_with_same(work):
    fork_amid(work, True)


# A child of several threads waits for the sanitizer's own locks (its depot of stacks) that a
# thread of the parent held: GCC 12's sanitizer has no handlers for fork().
FORKS = () if SANITIZED else (fork_first, fork_with_own, fork_with_same)
WAYS = {function.__name__: function for function in (
    convert, masks, decode, one_tensor, tracker, take_protos, close, any_calls, *FORKS)}
PROGRAM = Program("threads", WAYS, cpu_s=120, wall_s=120)

if __name__ == "__main__":
    sys.exit(main(PROGRAM, __doc__))
