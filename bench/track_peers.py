#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times EdgeFirst's trackers in turn with halyard_bench on the same boxes, on one core. Run it
with a Python that has the wheels:

    pip install edgefirst-hal==0.28.3 edgefirst-tracker numpy
    bench/track_peers.py [--bench PROGRAM] [--turns N] [--json FILE]

One call is a new tracker and 50 frames of N objects that drift and jitter, all of score 0.9.
Results are medians over the turns in microseconds; ratios are peer / ours (above 1: ours is
faster). Columns: ours (ByteTrack, mode hal), paper, ocsort and sort from the program; hal
(edgefirst-hal) and tracker (edgefirst-tracker) from Python; `call` is the part of their time that
50 calls without objects take.
"""
import argparse
import json
import os
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import turns

FRAMES = 50
NAMES = {"track/bytetrack": "ours", "track/bytetrack_paper": "paper", "track/ocsort": "ocsort",
         "track/sort": "sort"}


def scene(objects):
    random = np.random.default_rng(7)
    place = random.uniform(0.05, 0.9, (objects, 2)).astype(np.float32)
    speed = random.normal(0, 0.001, (objects, 2)).astype(np.float32)
    frames = []
    for frame in range(FRAMES):
        corner = place + speed * frame + random.normal(0, 0.0005, (objects, 2)).astype(np.float32)
        frames.append(np.concatenate([corner, corner + 0.04], 1).astype(np.float32))
    return frames


def peers():
    found = {}
    try:
        import edgefirst_hal
        found["hal"] = edgefirst_hal.ByteTrack
    except ImportError as error:
        print(f"peers: {error}")
    try:
        from edgefirst import tracker
        found["tracker"] = tracker.ByteTrack
    except ImportError as error:
        print(f"peers: {error}")
    return found


def run(kind, frames):
    tracker = kind()
    scores = np.full(len(frames[0]), 0.9, np.float32)
    labels = np.zeros(len(frames[0]), np.uintp)
    start = time.perf_counter()
    for i, boxes in enumerate(frames):
        tracker.update(boxes, scores, labels, 1 + i * 33_000_000)
    return (time.perf_counter() - start) * 1e6


def median_of(kind, frames, budget_s=0.2):
    times = []
    end = time.perf_counter() + budget_s
    while not times or time.perf_counter() < end:
        times.append(run(kind, frames))
    return statistics.median(times)


def program(path, objects, boxes):
    os.environ[f"HALYARD_BENCH_TRACK_{objects}"] = str(boxes)
    return {NAMES[row["name"].rsplit("/", 1)[0]]: row["real_time"] / 1000
            for row in turns.program(path, f"^track/.*/{objects}$")}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    default = Path(__file__).resolve().parents[1] / "build/bench/halyard_bench"
    parser.add_argument("--bench", default=str(default))
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for objects in (20, 100, 500):
            frames = scene(objects)
            boxes = Path(folder, f"{objects}.f32")
            np.stack(frames).tofile(boxes)
            times = {}
            for _ in range(arguments.turns):
                turn = program(arguments.bench, objects, boxes)
                for role, kind in peers().items():
                    turn[role] = median_of(kind, frames)
                    turn["call"] = median_of(kind, [f[:0] for f in frames], 0.02)
                for role, us in turn.items():
                    times.setdefault(role, []).append(us)
            medians = {role: statistics.median(us) for role, us in times.items()}
            cells = "  ".join(f"{role} {us:.4g}" for role, us in medians.items())
            ratios = "  ".join(f"{role}/ours {medians[role] / medians['ours']:.2f}"
                               for role in ("hal", "tracker") if role in medians)
            print(f"{objects:4d} objects  {cells}  |  {ratios}  |  ours "
                  f"{medians['ours'] / FRAMES:.4g} a frame", flush=True)
            rows.append({"objects": objects, **medians})
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
