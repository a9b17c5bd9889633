#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Masks of a segmentation network: their areas and outlines, and an image with them on it.

    segment.py MODEL PHOTO OUT.png
"""
from __future__ import annotations

import sys

import halyard


def segment(file: str, photo: str, out: str) -> halyard.Result:
    model = halyard.Model(file)
    result = model(photo)
    if model.task != "segment":
        print(f"{file} gives no masks: its task is {model.task}")
        return result
    outlines = result.to_polygons(tolerance=1)
    for found, polygons in zip(result, outlines):
        mask = found.mask  # bool (H, W); computed here, for this object
        assert mask is not None
        corners = sum(len(polygon) for polygon in polygons)
        print(f"{found.name}: {mask.sum()} pixels, an outline of {corners} corners")
    result.save(out)
    return result


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(str(__doc__))
    segment(*sys.argv[1:])
