#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times suppression by OpenCV's wheel in turn with halyard_bench, on the same kinds of
scenes. Run it with a Python that has the wheel:

    pip install numpy opencv-python-headless
    bench/nms_peers.py [--bench PROGRAM] [--turns N]

Medians over the turns in microseconds. Python's time to pass boxes to OpenCV is measured with
scores that are all below the threshold, and subtracted. Class-aware, IoU > 0.45, no cap.
"""
import argparse
import math
import statistics
import time

import cv2
import numpy as np
import turns

SIZES = {"objects": (480, 8400, 30000), "apart": (480, 8400, 30000), "noise": (480, 8400, 30000)}


def noise(count):
    random = np.random.default_rng(2)
    extent = 4 * 75 ** random.random((count, 2))
    corner = 640 * random.random((count, 2)) - extent / 2
    return np.hstack([corner, extent]), random.integers(0, 80, count)


def apart(count):
    random = np.random.default_rng(1)
    side = math.ceil(math.sqrt(count))
    step = 640 / side
    at = np.arange(count)
    extent = step * (0.5 + 0.45 * random.random((count, 2)))
    return np.hstack([np.stack([at % side, at // side], 1) * step, extent]), np.zeros(count, int)


def objects(count):
    random = np.random.default_rng(3)
    boxes, labels = noise(40)
    of = np.arange(count) % 40
    boxes = boxes[of]
    boxes[:, :2] += 0.05 * boxes[:, 2:] * (random.random((count, 2)) - 0.5)
    return boxes, labels[of]


def opencv(scene, count):
    """Microseconds of one call, and the number of boxes that it keeps."""
    boxes, labels = globals()[scene](count)
    scores = np.random.default_rng(7).random(count).astype(np.float32)
    labels = labels.astype(np.int32)

    def timed(least):
        start = time.perf_counter()
        kept = cv2.dnn.NMSBoxesBatched(boxes, scores, labels, least, 0.45)
        return (time.perf_counter() - start) * 1e6, len(kept)

    repeats = 1 if count > 10000 else 5
    handing = min(timed(2)[0] for _ in range(repeats + 1))
    took, kept = min(timed(0) for _ in range(repeats))
    return took - handing, kept


def ours(program, row):
    result = turns.program(program, f"^nms/{row}$")[0]
    scale = {"ns": 1e-3, "us": 1, "ms": 1e3}[result["time_unit"]]
    return result["cpu_time"] * scale, int(result["kept"])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", default="build/bench/halyard_bench")
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    cv2.setNumThreads(1)
    print(f"{'scene':16} {'ours':>10} {'kept':>6} {'opencv':>12} {'kept':>6} {'ratio':>7}")
    for scene, sizes in SIZES.items():
        for count in sizes:
            taken = [(ours(options.bench, f"{scene}/{count}"), opencv(scene, count))
                     for _ in range(options.turns)]
            mine, kept = (statistics.median(t[0][i] for t in taken) for i in (0, 1))
            theirs, theirs_kept = (statistics.median(t[1][i] for t in taken) for i in (0, 1))
            print(f"{scene + '/' + str(count):16} {mine:10.1f} {kept:6.0f} {theirs:12.1f} "
                  f"{theirs_kept:6.0f} {theirs / mine:7.1f}")


if __name__ == "__main__":
    main()
