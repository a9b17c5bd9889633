#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the objects of several sources (videos, folders, cameras, topics) at the same time.

    pipeline.py MODEL SOURCE...
"""
from __future__ import annotations

import sys
from collections import Counter

import halyard


def count(model: str, sources: list[str]) -> None:
    seen: Counter[tuple[int, str]] = Counter()
    with halyard.Pipeline(sources, model, tracker="bytetrack") as pipeline:

        @pipeline.add_stage
        def note_names(result: halyard.PipelineResult) -> None:
            result.notes = {(found.name, found.tracker_id) for found in result}

        known: set[tuple[int, str, int]] = set()
        for result in pipeline:
            if result.error is not None:
                print(f"{result.path}: {result.error}", file=sys.stderr)
                continue
            for name, number in result.notes:
                if (result.source, name, number) not in known:
                    known.add((result.source, name, number))
                    seen[result.source, name] += 1
    for (source, name), number in sorted(seen.items()):
        print(f"{pipeline.source_names[source]}: {number} x {name}")
    stats = pipeline.stats()
    print(f"{stats.frames} frames, {stats.fps:.0f} a second, latency {stats.latency.p50:.1f} ms; "
          f"the network alone {stats.stage('model').p50:.1f} ms")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(str(__doc__))
    count(sys.argv[1], sys.argv[2:])
