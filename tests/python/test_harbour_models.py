# SPDX-License-Identifier: Apache-2.0
"""The example's networks of other kinds than detectors: a file says all that Model needs."""
import json

import numpy as np
import pytest

import halyard
from harbour import HARBOUR, needs_engine

pytestmark = needs_engine
PHOTO = HARBOUR / "photo.jpg"
BOATS = [o for o in json.loads((HARBOUR / "photo_truth.json").read_text())["objects"]
         if o["class"] == "boat"]


def overlap(a, b):
    sides = np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2])
    inter = np.prod(np.maximum(sides, 0))
    return inter / (np.prod(a[2:] - a[:2]) + np.prod(b[2:] - b[:2]) - inter)


def pairs(result):
    """Boats of the photo with the number of the box on each."""
    boxes = np.asarray(result.boxes.xyxy)
    out = []
    for boat in BOATS:
        ious = [overlap(np.array(boat["box"], float), box) for box in boxes]
        if max(ious) > 0.5:
            out.append((boat, int(np.argmax(ious))))
    assert len(out) >= len(BOATS) - 2
    return out


@pytest.mark.parametrize("suffix", ["", "_int8"])
def test_masks_lie_inside_of_the_boxes(suffix):
    model = halyard.Model(HARBOUR / f"harbour_seg{suffix}.onnx")
    result = model(PHOTO)
    assert model.task == "segment" and len(result.masks) == len(result.boxes)
    masks = np.asarray(result.masks.data)
    for _, i in pairs(result):
        assert 0.1 < masks[i].astype(bool).sum() / np.prod(
            np.diff(np.asarray(result.boxes.xyxy)[i].reshape(2, 2), axis=0)) < 1.0


@pytest.mark.parametrize("suffix", ["", "_int8"])
def test_keypoints_lie_near_those_of_the_boats(suffix):
    model = halyard.Model(HARBOUR / f"harbour_pose{suffix}.onnx")
    result = model(PHOTO)
    assert model.task == "pose"
    points = np.asarray(result.keypoints)[..., :2]
    errors = [np.hypot(*(points[i][k] - p[:2])) / max(boat["rbox"][2:4])
              for boat, i in pairs(result) for k, p in enumerate(boat["points"]) if p[2]]
    assert np.median(errors) < 0.1


@pytest.mark.parametrize("suffix", ["", "_int8"])
def test_rotated_boxes_lie_on_the_boats_at_their_angles(suffix):
    model = halyard.Model(HARBOUR / f"harbour_obb{suffix}.onnx")
    result = model(PHOTO)
    rows = np.asarray(result.obb)  # centre, width, height, angle in radians
    assert model.task == "obb" and rows.shape == (len(result.boxes), 5)
    gaps, angles = [], []
    for boat in BOATS:
        far = np.hypot(*(rows[:, :2] - boat["rbox"][:2]).T)
        gaps.append(far.min())
        angles.append(abs(rows[far.argmin(), 4] - boat["rbox"][4]))
    assert np.median(gaps) < 6 and np.degrees(np.median(angles)) < 5


@pytest.mark.parametrize("suffix", ["", "_int8"])
def test_classes_of_the_image_are_probabilities(suffix):
    model = halyard.Model(HARBOUR / f"harbour_cls{suffix}.onnx")
    probs = model(HARBOUR / "clip/frame_0000.jpg").probs
    assert model.task == "classify" and len(model.names) == 9
    assert model.names[probs.top1] in ("dawn", "golden")  # the clip begins in golden light
    assert probs.top5[0] == probs.top1 and probs.top1conf > 0.5


@pytest.mark.parametrize("suffix", ["", "_int8"])
def test_the_ssd_describes_itself(suffix):
    model = halyard.Model(HARBOUR / f"harbour_ssd{suffix}.onnx")
    assert model.task == "detect" and "ssd" in model.explain()
    result = model(PHOTO)
    labels = np.asarray(result.boxes.cls).astype(int)
    assert all(model.names[labels[i]] in ("boat", "buoy") for _, i in pairs(result))
