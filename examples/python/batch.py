#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs several images in one call and filters the objects of all.

    batch.py MODEL PHOTO PHOTO...
"""
from __future__ import annotations

import sys

import halyard


def largest(file: str, photos: list[str]) -> list[tuple[str, float]]:
    """Name and area of the largest object above a confidence, for each image that has one."""
    model = halyard.Model(file)
    found = []
    for result in model(photos):  # a list gives a list
        sure = result[result.confidence > 0.5].with_nms(0.3)
        if len(sure):
            areas = sure.xywh[:, 2] * sure.xywh[:, 3]
            found.append((sure[int(areas.argmax())].name, float(areas.max())))
    return found


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(str(__doc__))
    for name, area in largest(sys.argv[1], sys.argv[2:]):
        print(f"{name}: {area:.0f} pixels")
