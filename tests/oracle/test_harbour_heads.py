# SPDX-License-Identifier: Apache-2.0
"""The demo's networks of masks, keypoints, rotated boxes and light, and its SSD, through the whole
program, against the exact truth of the photo."""
import json

import numpy as np
import pytest
from test_harbour import HARBOUR, matched

TRUTH = json.loads((HARBOUR / "photo_truth.json").read_text())
BOATS = [o for o in TRUTH["objects"] if o["class"] == "boat"]


def files(name):
    """The networks of one kind: f32, int8, and int8 as TFLite."""
    return [f"harbour_{name}{end}" for end in (".onnx", "_int8.onnx", "_int8.tflite")]


def found(program, model):
    """What the program finds in the photo."""
    report = program.folder / "seen.json"
    program.run("run", HARBOUR / "photo.jpg", "--model", HARBOUR / model, "--json", report)
    return json.loads(report.read_text())["frames"][0]


def boats(program, model):
    """Pairs (truth, detection) of boats; most boats of the photo are large."""
    seen = [d for d in found(program, model)["detections"] if d["label"] == "boat"]
    pairs = matched(BOATS, seen)
    assert len(pairs) >= len(BOATS) - 1
    assert len(seen) <= len(BOATS) + 1
    return pairs


def counts_of(text):
    """Run lengths of COCO's text: digits of 5 bits, differences to the last but one."""
    counts, at = [], 0
    while at < len(text):
        value = shift = 0
        while True:
            digit = ord(text[at]) - 48
            at += 1
            value |= (digit & 31) << shift
            shift += 5
            if not digit & 32:
                break
        value -= (1 << shift) if digit & 16 else 0
        counts.append(value + (counts[-2] if len(counts) > 2 else 0))
    return counts


def mask_of(runs):
    """Pixels of a mask, column by column."""
    counts = runs["counts"] if isinstance(runs["counts"], list) else counts_of(runs["counts"])
    assert sum(counts) == np.prod(runs["size"])
    return np.repeat(np.arange(len(counts)) % 2 == 1, counts)


@pytest.mark.parametrize("model", files("seg"))
def test_masks_lie_on_the_boats(program, model):
    overlaps = []
    for truth, seen in boats(program, model):
        a, b = mask_of(truth["segmentation"]), mask_of(seen["segmentation"])
        overlaps.append((a & b).sum() / (a | b).sum())
    print(model, np.round(overlaps, 3))
    assert np.median(overlaps) > 0.6
    assert max(overlaps) > 0.65


@pytest.mark.parametrize("model", files("ssd"))
def test_the_ssd_finds_the_boats_without_options(program, model):
    seen = [d for d in found(program, model)["detections"] if d["label"] == "boat"]
    sure = [d for d in seen if d["score"] > 0.5]
    pairs = matched(BOATS, sure)
    print(model, [(d["label"], d["score"]) for d in sure])
    assert len(pairs) >= len(BOATS) - 2
    assert len(sure) <= len(BOATS) + 2


@pytest.mark.parametrize("model", files("obb"))
def test_rotated_boxes_have_the_angle_and_size_of_the_boats(program, model):
    angles, sizes = [], []
    for truth, seen in boats(program, model):
        corners = np.array(seen["corners"])
        sides = corners - np.roll(corners, -1, axis=0)
        along = sides[np.abs(sides[:, 0]) > np.abs(sides[:, 1])][0]
        angles.append(abs(np.degrees(np.arctan(along[1] / along[0]) - truth["rbox"][4])))
        area = np.hypot(*sides[0]) * np.hypot(*sides[1])
        sizes.append(area / (truth["rbox"][2] * truth["rbox"][3]))
    print(model, np.round(angles, 2), np.round(sizes, 2))
    assert np.median(angles) < 5.0
    assert 0.8 < np.median(sizes) < 1.25


@pytest.mark.parametrize("model", files("pose"))
def test_keypoints_lie_on_the_ends_and_mastheads(program, model):
    errors = []
    for truth, seen in boats(program, model):
        size = max(truth["rbox"][2:4])
        assert len(seen["keypoints"]) == 3
        for point, (x, y, visible) in zip(seen["keypoints"], truth["points"]):
            if visible:
                errors.append(np.hypot(point[0] - x, point[1] - y) / size)
    print(model, np.round(errors, 3))
    assert np.median(errors) < 0.08


def middle_of(path, side):
    """The middle square of the upright image, RGB planes (1, 3, side, side) in [0, 1]."""
    cv2 = pytest.importorskip("cv2")
    upright = cv2.cvtColor(cv2.imread(str(path)), cv2.COLOR_BGR2RGB)  # by its EXIF orientation
    least = min(upright.shape[:2])
    top, left = [(extent - least) // 2 for extent in upright.shape[:2]]
    square = cv2.resize(upright[top:top + least, left:left + least], (side, side))
    return square.transpose(2, 0, 1)[None].astype(np.float32) / 255


def test_the_light_is_what_the_network_says_of_the_middle(program):
    # The probabilities, right or wrong as they are, by another engine.
    model = "harbour_cls.onnx"
    engine = pytest.importorskip("onnxruntime").InferenceSession(str(HARBOUR / model))
    taken = engine.get_inputs()[0]
    (wanted,) = engine.run(None, {taken.name: middle_of(HARBOUR / "photo.jpg", taken.shape[2])})
    classes = found(program, model)["classes"]
    print(model, [(c["label"], c["score"]) for c in classes])
    assert classes[0]["class"] == wanted[0].argmax()
    for entry in classes:
        assert entry["score"] == pytest.approx(wanted[0][entry["class"]], abs=0.05)
