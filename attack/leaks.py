#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Repeats operations, refused ones too: memory in use, descriptors and mappings must not grow. Each
runs until its own memory has settled; what then grows in every measured stretch leaks."""
import contextlib
import gc
import os
import pickle
import sys
import time

import numpy as np

import halyard
import samples
from common import SANITIZED, Program, main

# Allowed growth of a stretch, by the allocator itself. 64 bytes a round are 192 kB in 3000 rounds.
SLACK_KB = 160
LEAST, MOST, STRETCH_S = 60, 3000, 0.08
# Caches fill in the first stretches; a leak grows in all of them.
STRETCHES = 12


def held():
    """(kB of private memory, descriptors, mappings)."""
    with open("/proc/self/smaps_rollup", encoding="ascii") as lines:
        kb = sum(int(line.split()[1]) for line in lines if line.startswith("Private_Dirty"))
    with open("/proc/self/maps", encoding="ascii") as lines:
        mappings = sum(1 for _ in lines)
    return kb, len(os.listdir("/proc/self/fd")), mappings


class Heir(np.ndarray):
    """An array with attributes, so that it can be part of a cycle."""


def cycle():
    array = np.zeros(50000, np.uint8).view(Heir)
    array.tensor = halyard.Tensor.from_array(array)


def view_cycle():
    holder = halyard.Tensor((4096,), mem=samples.MEM)
    view = np.asarray(holder).view(Heir)
    view.back = [holder, view]


def shared():
    tensor = halyard.Tensor((64,), mem=halyard.TensorMemory.SHM)
    os.close(tensor.fd)
    return pickle.loads(pickle.dumps(tensor))


def mapped(tensor):
    with tensor.map() as one:
        np.asarray(one).sum()


def stale(tensor):
    one = tensor.map()
    view = np.asarray(one)
    with contextlib.suppress(BufferError):
        one.unmap()
    del view


def operations(folder):
    frame, small = samples.frame(), samples.frame(16, 16)
    jpeg, png = frame.to_jpeg(), frame.to_png()
    processor, decoder, segmenter = (halyard.ImageProcessor(threads=1), samples.decoder(),
                                     samples.segmenter())
    output, both = samples.detection_output(), [samples.many_objects(1, 3), samples.prototypes()]
    boxes, scores, labels = samples.boxes(8)
    path = str(folder / "a.png")
    frame.save_png(path)
    tensor = halyard.Tensor((64, 64), mem=samples.MEM)
    state = tensor.map()
    tracker = halyard.ByteTrack()
    seg = [np.zeros((8, 8, 1), np.uint8)] * 3
    turn = iter(range(10**9))
    return {
        "create": lambda: halyard.Tensor((64, 64)),
        "image": lambda: halyard.Tensor.image(64, 48, "nv12"),
        "create refused": lambda: halyard.Tensor((0,) * 9),
        "bad dtype": lambda: halyard.Tensor((4,), "x"),
        "shared": shared, "map": lambda: mapped(tensor), "stale": lambda: stale(tensor),
        "map item": lambda: state[3, 3], "map bad item": lambda: state["x"],
        "from_array": lambda: halyard.Tensor.from_array(np.zeros(99)),
        "from_array refused": lambda: halyard.Tensor.from_array(np.zeros(9, "c16")),
        "from_dlpack": lambda: halyard.Tensor.from_dlpack(np.zeros(99)),
        "dlpack": lambda: np.from_dlpack(tensor), "capsule unused": tensor.__dlpack__,
        "dlpack refused": lambda: halyard.Tensor.from_dlpack(3), "numpy": tensor.numpy,
        "view": lambda: frame.view(halyard.Region(0, 0, 8, 8)), "part": lambda: tensor[1:5],
        "part refused": lambda: tensor[99], "copy": tensor.copy, "fill": lambda: tensor.fill(1),
        "reshape refused": lambda: tensor.reshape([3]), "from_numpy": lambda: tensor.from_numpy(
            np.zeros((64, 64), np.float32)), "from_numpy refused": lambda: tensor.from_numpy([1]),
        "load": lambda: halyard.load(path), "load missing": lambda: halyard.load(path + "x"),
        "save": lambda: frame.save_png(path), "save refused": lambda: frame.save_png("/proc/a.png"),
        "jpeg": lambda: halyard.Tensor.load_from_bytes(jpeg), "to_jpeg": frame.to_jpeg,
        "png": lambda: halyard.Tensor.load_from_bytes(png), "to_png": frame.to_png,
        "jpeg cut": lambda: halyard.Tensor.load_from_bytes(jpeg[:-300]),
        "png cut": lambda: halyard.Tensor.load_from_bytes(png[:-300]),
        "peek": lambda: halyard.Tensor.peek_image_info(jpeg),
        "peek refused": lambda: halyard.Tensor.peek_image_info(b"x"),
        "convert": lambda: processor.convert(frame, small),
        "convert refused": lambda: processor.convert(frame, frame),
        "processor": halyard.ImageProcessor, "decoder": samples.decoder,
        "decoder refused": lambda: halyard.Decoder.new_from_json_str("{"),
        "yaml refused": lambda: halyard.Decoder.new_from_yaml_str("a: [" + "[" * 50),
        "decode": lambda: decoder.decode([output]),
        "decode refused": lambda: decoder.decode([small]),
        "proto": lambda: segmenter.decode_proto(both)[3].take_protos(),
        "masks": lambda: processor.materialize_masks(*segmenter.decode_proto(both)),
        "draw": lambda: processor.draw_decoded_masks(frame, boxes[:3], scores[:3], labels[:3], seg),
        "draw refused": lambda: processor.draw_decoded_masks(frame, boxes, scores, labels[:3], seg),
        "track": lambda: tracker.update(boxes, scores, labels, next(turn)),
        "track refused": lambda: tracker.update(boxes, scores[:2], labels, next(turn)),
        "tracked": lambda: decoder.decode_tracked(halyard.ByteTrack(), 1, [output]),
        "merge": lambda: halyard.merge_tiled_detections(boxes, scores, labels,
                                                        halyard.MergeConfig()),
        "pickle": lambda: pickle.loads(pickle.dumps(halyard.Region(1, 2, 3, 4))),
        "cycle": cycle, "cycle of a view": view_cycle,
    }


def repeat(call, times):
    for _ in range(times):
        with contextlib.suppress(Exception):
            call()
    gc.collect()


def growing(seen):
    """What has grown in every stretch, and in total by more than the allocator's own growth."""
    allowed = (SLACK_KB * (8 if SANITIZED else 1), 0, 2)
    for place, slack in enumerate(allowed):
        grown = [after[place] - before[place] for before, after in zip(seen, seen[1:])]
        if min(grown) > slack // 8 and sum(grown) > slack:
            return True
    return False


def leaks(work):
    """A few of the operations, chosen by the seed, so that all are run in turn."""
    calls = operations(work.folder)
    names = sorted(calls)
    picked = [names[(work.seed * 6 + i) % len(names)] for i in range(6)]
    for name in picked:
        call = calls[name]
        work.call(f"{name}, {LEAST} times")
        begin = time.process_time()
        repeat(call, LEAST)
        each_s = max((time.process_time() - begin) / LEAST, 1e-6)
        rounds = max(LEAST, min(MOST, int(STRETCH_S / each_s)))
        repeat(call, rounds)
        seen = [held()]
        for _ in range(STRETCHES):
            repeat(call, rounds)
            work.counts["calls"] += rounds
            seen.append(held())
            if len(seen) > 3 and not growing(seen):
                break
        work.equal(not growing(seen), f"{name}: (kB, descriptors, mappings) grow in every stretch "
                   f"of {rounds} calls: {seen}")


PROGRAM = Program("leaks", {"leaks": leaks}, cpu_s=120, wall_s=150)

if __name__ == "__main__":
    sys.exit(main(PROGRAM, __doc__))
