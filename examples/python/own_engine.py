#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a network with another library: Halyard makes its input and reads its outputs.

    own_engine.py MODEL.onnx PHOTO
"""
from __future__ import annotations

import sys

import numpy as np
import openvino

import halyard


def detect(file: str, photo: str) -> halyard.Result:
    network = openvino.Core().compile_model(file, "CPU")

    def engine(image: np.ndarray) -> np.ndarray:  # (1, 3, H, W), float32 in 0..1
        outputs: np.ndarray = network(image)[0]
        return outputs

    # Size, labels and heads come from the file; the engine may be any function.
    model = halyard.Model(file, engine=engine)
    return model(photo, conf=0.4)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(str(__doc__))
    print(detect(*sys.argv[1:]))
