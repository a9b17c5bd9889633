#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a decoder finds, in the words of other packages.

    results.py PICTURE
"""
from __future__ import annotations

import json
import sys

import numpy as np

import halyard as ef


def main(picture: str) -> int:
    image = ef.Tensor.load(picture, ef.PixelFormat.Rgb)
    width, height = image.upright_size

    # What a network would give: one box of class 1.
    output = np.zeros((1, 9, 400), np.float32)
    output[0, :4, 0] = 0.5, 0.5, 0.25, 0.25
    output[0, 5, 0] = 0.8
    decoder = ef.Decoder.new_from_outputs(
        [ef.Output.detection(shape=[1, 9, 400]).with_normalized(True)])
    found = decoder.decode([output])

    print(json.dumps(found.to_coco(image_id=1, size=(width, height))))
    print("xyxy", found.xyxy.tolist(), "conf", found.conf.tolist(), "cls", found.cls.tolist())
    try:
        print("supervision:", len(found.to_supervision(size=(width, height))), "detection")
    except ImportError as error:
        print(error)
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(str(__doc__))
    sys.exit(main(sys.argv[1]))
