#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the frames of negotiated_frames without a copy.

    negotiated_viewer.py [COUNT]"""
from __future__ import annotations

import sys

import numpy as np

import halyard


def view(count: int) -> None:
    with halyard.Topic("negotiated/frames", halyard.Tensor, role="subscriber") as topic:
        for number in range(count):
            frame = topic.recv(timeout=20)
            if frame is None:
                sys.exit("no frame came")
            pixels = np.from_dlpack(frame)
            if pixels.flags.owndata:
                sys.exit("the frame was copied")
            if number == 0:
                print(f"{pixels.shape} strides {pixels.strides} mean {pixels[..., :3].mean():.1f}")
        print(f"{count} frames, {topic.stats().copied} copies")


if __name__ == "__main__":
    view(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
