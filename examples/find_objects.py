#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds the objects of an image with a YOLO network that OpenVINO runs.

    find_objects.py MODEL.onnx IMAGE"""
from __future__ import annotations

import sys

import numpy as np
import openvino

import halyard


def find_objects(model: str, path: str) -> halyard.Detections:
    network = openvino.Core().compile_model(model, "CPU")
    _, _, height, width = network.input(0).shape
    rows = list(network.output(0).shape)
    decoder = halyard.Decoder.new_from_outputs(
        [halyard.Output.detection(shape=rows).with_normalized(False)], 0.4, 0.45,
        input_dims=(width, height))

    # One pass from the image's own layout (NV12 for most JPEGs) to the network's memory.
    frame = halyard.Tensor.load(path)
    processor = halyard.ImageProcessor()
    net = processor.create_image(width, height, halyard.PixelFormat.PlanarRgb, "float32")
    placed = processor.convert(frame, net, letterbox=[114, 114, 114, 255])

    # Neither side copies: NumPy sees the tensor's bytes, the decoder OpenVINO's.
    outputs = network(np.asarray(net)[np.newaxis])
    found: halyard.Detections = decoder.decode([outputs[0]])
    return found.to_source(placed)


if __name__ == "__main__":
    for found in find_objects(*sys.argv[1:3]):
        print(f"{found.name} {found.confidence:.2f} {found.xyxy.round().astype(int).tolist()}")
