#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Takes images in the types of several packages, and gives arrays.

    images.py MODEL PHOTO
"""
from __future__ import annotations

import pathlib
import sys

import numpy as np

import halyard


def detect_each(file: str, photo: str) -> dict[str, halyard.Result]:
    model = halyard.Model(file)
    pixels = halyard.imread(photo)  # upright, R G B
    found = {"path": model(photo), "bytes": model(pathlib.Path(photo).read_bytes()),
             "tensor": model(halyard.load(photo)), "numpy": model(pixels),
             "opencv": model(np.ascontiguousarray(pixels[..., ::-1]), bgr=True)}
    try:
        from PIL import Image
    except ImportError:
        print("Pillow is not installed")
    else:
        found["pillow"] = model(Image.open(photo))
    try:
        import torch
    except ImportError:
        print("torch is not installed")
    else:
        found["torch"] = model(torch.from_numpy(pixels).permute(2, 0, 1) / 255)
    return found


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(str(__doc__))
    for kind, result in detect_each(*sys.argv[1:]).items():
        boxes: np.ndarray = result.xyxy
        print(f"{kind}: {result}; {boxes.dtype} {boxes.shape}")
