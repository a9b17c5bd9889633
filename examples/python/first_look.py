#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Objects in a photo, printed, chosen and drawn; then followed through a video.

    first_look.py MODEL PHOTO VIDEO OUT_FOLDER
"""
from __future__ import annotations

import pathlib
import sys

import halyard


def look(file: str, photo: str, video: str, out: pathlib.Path) -> set[int | None]:
    model = halyard.Model(file)  # .onnx, .tflite or .xml: size, labels and heads come from it
    found = model(photo, conf=0.4)  # or bytes, an array, an image of Pillow or PyTorch
    print(found)
    for each in found:
        print(f"{each.name} {each.confidence:.2f} {each.xyxy.round().astype(int).tolist()}")
    large = found[found.box_area > 1000]  # NumPy's rules; found.xyxy, found.class_id...
    large.save(out / "large.jpg")  # in a notebook, `large` alone shows it

    seen: set[int | None] = set()
    overlay = halyard.Overlay(color_by="track")  # draws the trails too
    with halyard.open(video) as frames:  # a file, folder, rtsp://, 0 for a camera, "topic:NAME"
        for result in model.track(frames, tracker="ocsort"):
            seen |= {each.tracker_id for each in result}
            halyard.imwrite(out / f"{result.index:04}.jpg", result.plot(overlay=overlay))
    return seen


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(str(__doc__))
    _, model_file, photo_file, video_file, folder = sys.argv
    pathlib.Path(folder).mkdir(exist_ok=True)
    found_ids = look(model_file, photo_file, video_file, pathlib.Path(folder))
    print(f"{len(found_ids)} objects in the video")
