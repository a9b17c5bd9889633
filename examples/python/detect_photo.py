#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds the objects in a photo, prints them and draws them.

    detect_photo.py MODEL PHOTO OUT.jpg
"""
from __future__ import annotations

import sys

import halyard


def detect(file: str, photo: str, out: str) -> halyard.Result:
    model = halyard.Model(file)  # .onnx, .tflite or .xml
    result = model(photo, conf=0.4)
    for found in result:
        print(f"{found.name} {found.confidence:.2f} {found.xyxy.round().astype(int).tolist()}")
    result.save(out)
    return result


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(str(__doc__))
    detect(*sys.argv[1:])
