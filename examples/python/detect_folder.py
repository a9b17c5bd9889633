#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every image of a folder, or every frame of a video; prints one line of JSON for each.

    detect_folder.py MODEL FOLDER
"""
from __future__ import annotations

import json
import sys

import halyard


def detect_all(file: str, folder: str) -> int:
    model = halyard.Model(file)
    count = 0
    for result in model.stream(folder, classes=[0]):
        print(json.dumps(result.to_dict()))
        count += 1
    return count


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(str(__doc__))
    detect_all(*sys.argv[1:])
