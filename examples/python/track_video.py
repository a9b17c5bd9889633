#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Follows objects through a video, or a folder of its frames, and draws them with their trails.

    track_video.py MODEL VIDEO OUT_FOLDER
"""
from __future__ import annotations

import pathlib
import sys
from collections import Counter

import halyard


def follow(file: str, video: str, out: str) -> Counter[tuple[str, int]]:
    pathlib.Path(out).mkdir(exist_ok=True)
    model = halyard.Model(file)
    overlay = halyard.Overlay(color_by="track")  # keeps the trails
    seen: Counter[tuple[str, int]] = Counter()
    for result in model.track(video, tracker="bytetrack"):
        seen.update((found.name, found.tracker_id or 0) for found in result)
        halyard.imwrite(pathlib.Path(out, f"{result.index:04}.jpg"), result.plot(overlay=overlay))
    return seen


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(str(__doc__))
    for (name, number), frames in sorted(follow(*sys.argv[1:]).items()):
        print(f"{name} {number}: {frames} frames")
