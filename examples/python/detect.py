#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads an image with OpenCV, runs a network with OpenVINO, and draws the boxes on the image.

    detect.py MODEL.onnx|MODEL.tflite IMAGE OUT.png [LABELS.txt]

The network takes one RGB image of f32 in 0..1 and gives boxes and scores as YOLOv8 does: boxes
in pixels of its input for ONNX files, in fractions of it for TFLite files.
"""
from __future__ import annotations

import pathlib
import sys

import cv2
import numpy as np
import openvino

import halyard as ef


def detect(model: str, image: str, out: str, labels: list[str]) -> ef.Detections:
    """Finds the objects in the image and draws them; boxes are in pixels of the image."""
    compiled = openvino.compile_model(model, "CPU")
    shape = [int(extent) for extent in compiled.input(0).shape]
    is_planar = shape[1] == 3
    width, height = (shape[3], shape[2]) if is_planar else (shape[2], shape[1])

    # OpenCV's own pixels, not copied: BGR, as OpenCV reads them.
    pixels = cv2.imread(image)
    assert pixels is not None, f"{image} is no image"
    frame = ef.Tensor.from_array(pixels)
    frame.set_format(ef.PixelFormat.Bgr)
    processor = ef.ImageProcessor()
    network = processor.create_image(
        width, height, ef.PixelFormat.PlanarRgb if is_planar else ef.PixelFormat.Rgb, "float32")
    placed = processor.convert(frame, network, letterbox=[114, 114, 114, 255])

    # The network reads the tensor's own memory; its outputs are read without a copy.
    results = compiled([np.asarray(network)[None]])
    outputs = [results[port] for port in compiled.outputs]
    is_fraction = model.endswith(".tflite")
    output = ef.Output.detection(shape=list(outputs[0].shape)).with_normalized(is_fraction)
    decoder = ef.Decoder.new_from_outputs([output], score_threshold=0.25, iou_threshold=0.45,
                                          input_dims=(width, height))
    found: ef.Detections = decoder.decode(outputs)

    # Draws on OpenCV's own pixels; the letterbox maps the boxes to them.
    processor.draw_decoded_masks(frame, found, letterbox=placed.letterbox)
    cv2.imwrite(out, pixels)
    found = found.to_source(placed).replace(names=labels)
    for each in found:
        print(f"{each.name}: {each.confidence:.2f}", np.round(each.xyxy).tolist())
    return found


def main(arguments: list[str]) -> int:
    if len(arguments) not in (3, 4):
        print(__doc__, file=sys.stderr)
        return 2
    labels = pathlib.Path(arguments[3]).read_text().splitlines() if len(arguments) == 4 else []
    found = detect(arguments[0], arguments[1], arguments[2], labels)
    return 0 if len(found) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
