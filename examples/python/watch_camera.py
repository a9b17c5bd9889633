#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Watches a camera, a video or a folder for months: detections in a file, the live view in a
browser, and a line for each new object.

    watch_camera.py MODEL SOURCE
    halyard serve topic:watched         # in another terminal, whenever somebody wants to look
"""
from __future__ import annotations

import sys

import halyard


def watch(model: str, source: str) -> None:
    pipeline = halyard.Pipeline(source, model, tracker="bytetrack")
    pipeline.add_json_lines("seen.jsonl")
    pipeline.add_topic("watched")
    known: set[int] = set()
    for result in pipeline:
        for found in result:
            if found.tracker_id is not None and found.tracker_id not in known:
                known.add(found.tracker_id)
                print(f"{result.index}: {found.name} {found.tracker_id}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(str(__doc__))
    watch(*sys.argv[1:])
