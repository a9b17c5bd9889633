#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A decoder's results in the formats of other packages.

    results.py IMAGE
"""
from __future__ import annotations

import json
import sys

import numpy as np

import halyard


def container(found: halyard.Detections) -> None:
    sure = found[found.confidence > 0.5]
    people = sure[sure.class_id == 1].with_nms(0.45)
    for each in people + found[:1]:
        print(each.name, round(each.confidence, 2), each.xyxy.tolist())
    text = json.dumps(people.to_dict())  # and to_coco(), to_rle(), to_polygons()
    assert len(json.loads(text)["detections"]) == len(people)


def main(path: str) -> int:
    image = halyard.Tensor.load(path, halyard.PixelFormat.Rgb)
    processor = halyard.ImageProcessor()
    network = processor.create_image(640, 640, halyard.PixelFormat.Rgb)
    placed = processor.convert(image, network, letterbox=[114, 114, 114, 255])

    # A network's output with one box of class 1.
    output = np.zeros((1, 9, 400), np.float32)
    output[0, :4, 0] = 0.5, 0.5, 0.25, 0.25
    output[0, 5, 0] = 0.8
    decoder = halyard.Decoder.new_from_outputs(
        [halyard.Output.detection(shape=[1, 9, 400]).with_normalized(True)],
        input_dims=(640, 640))
    found = placed.to_source(decoder.decode([output]))  # in pixels of the image

    container(found)
    print(json.dumps(found.to_coco(image_id=1)))
    print("xyxy", found.xyxy.tolist(), "confidence", found.confidence.tolist())
    try:
        print("supervision:", len(found.to_supervision()), "detection")
    except ImportError as error:
        print(error)
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(str(__doc__))
    sys.exit(main(sys.argv[1]))
