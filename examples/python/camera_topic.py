#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A camera and a detector in two processes: frames by name, without a copy.

    python3 camera_topic.py camera camera/left 50 &
    python3 camera_topic.py detector camera/left 50
"""
from __future__ import annotations

import asyncio
import sys
import time

import numpy as np

import halyard


def camera(name: str, frames: int) -> None:
    """Publishes frames: a bright square that moves to the right."""
    with halyard.Topic(name, halyard.Image, role="publisher", overflow="block") as topic:
        while topic.stats().subscribers == 0:
            time.sleep(0.01)
        for number in range(frames):
            image = halyard.Image(640, 480, "mono8", pool=topic.pool)
            pixels = image.numpy()
            pixels[:] = 20
            pixels[200:240, 5 * number:5 * number + 40] = 250
            image.frame_id = name
            image.timestamp_ns = time.monotonic_ns()
            topic.send(image)  # from here on the image is read-only
            del pixels
        copied = topic.stats().copied
    print(f"camera: {frames} frames sent, {copied} of them copied")


async def detector(name: str, frames: int) -> None:
    """Finds the square in each frame: in a small image, as for a network."""
    processor = halyard.ImageProcessor()
    small = halyard.Tensor.image(320, 240, "grey")
    found = []
    with halyard.Topic(name, halyard.Image, role="subscriber", overflow="block") as topic:
        async for image in topic:
            # The camera's memory is the source of the conversion.
            processor.convert(image.tensor, small)
            columns = np.flatnonzero(np.asarray(small)[110, :, 0] > 128)
            found.append(int(columns.mean()))
            if len(found) == frames:
                break
        print(f"detector: {len(found)} frames, {topic.lost} lost, "
              f"the square went from column {found[0]} to {found[-1]}")


def main() -> None:
    if len(sys.argv) != 4 or sys.argv[1] not in ("camera", "detector"):
        raise SystemExit("usage: camera_topic.py camera|detector TOPIC FRAMES")
    name, frames = sys.argv[2], int(sys.argv[3])
    if sys.argv[1] == "camera":
        camera(name, frames)
    else:
        asyncio.run(detector(name, frames))


if __name__ == "__main__":
    main()
