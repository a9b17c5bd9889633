#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A folder's detections as a COCO results file, and one image's for supervision.

    coco_results.py MODEL FOLDER OUT.json
"""
from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

import halyard


def write(file: str, folder: str, out: str) -> list[dict[str, Any]]:
    model = halyard.Model(file)
    records: list[dict[str, Any]] = []
    for result in model.stream(folder, conf=0.25):
        records += result.to_coco(image_id=result.index + 1)
    pathlib.Path(out).write_text(json.dumps(records))
    return records


def for_supervision(file: str, photo: str) -> Any:
    result = halyard.Model(file)(photo)
    return result.to_supervision()  # supervision.Detections, with data["class_name"]


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(str(__doc__))
    print(len(write(*sys.argv[1:])), "records")
    first = sorted(pathlib.Path(sys.argv[2]).iterdir())[0]
    try:
        print(len(for_supervision(sys.argv[1], str(first))), "detections for supervision")
    except ImportError as error:
        print(error)
