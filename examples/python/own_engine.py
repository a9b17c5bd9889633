#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A network that another library runs: Halyard makes its input and reads its outputs.

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

    # The file says size, labels and heads; the engine could be anything that computes.
    model = halyard.Model(file, engine=engine)
    return model(photo, conf=0.4)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(str(__doc__))
    print(detect(*sys.argv[1:]))
