# SPDX-License-Identifier: Apache-2.0
"""Recorded outputs of trained networks through the decoder, against NumPy; needs
HALYARD_TESTDATA_DIR."""
import json
import os
import pathlib

import numpy as np
import pytest

import halyard as ef

FOLDER = pathlib.Path(os.environ.get("HALYARD_TESTDATA_DIR", "")) / "model_outputs"
NAMES = sorted(p.stem for p in FOLDER.glob("*.npy")) if FOLDER.is_absolute() else []
SCORE, IOU = 0.25, 0.45
INPUT = (640, 640)  # a stand-in for all: fractions are the same
PERSON, BUS = 0, 5


def expected(output, scale, zero_point):
    """Boxes, scores and classes: best class, greedy suppression whatever the class."""
    values = output[0].astype(np.float64)
    if scale:
        values = (values - zero_point) * scale
    center, size = values[0:2].T, values[2:4].T
    boxes = np.concatenate([center - size / 2, center + size / 2], 1)
    best = values[4:].argmax(0)
    scores = values[4:].max(0)
    order = [i for i in np.argsort(-scores, kind="stable") if scores[i] >= SCORE]
    kept = []
    for i in order:
        if all(overlap(boxes[i], boxes[k]) <= IOU for k in kept):
            kept.append(i)
    return boxes[kept], scores[kept], best[kept]


def overlap(a, b):
    sides = np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2])
    common = sides[0] * sides[1] if (sides > 0).all() else 0.0
    return common / (np.prod(a[2:] - a[:2]) + np.prod(b[2:] - b[:2]) - common)


@pytest.fixture(params=NAMES or [None])
def recording(request):
    if request.param is None:
        pytest.skip("HALYARD_TESTDATA_DIR names no folder with model_outputs")
    about = json.loads((FOLDER / f"{request.param}.json").read_text())
    quantization = about["outputs"][0]["quantization"] or {"scale": 0, "zero_point": 0}
    return (request.param, np.load(FOLDER / f"{request.param}.npy"), quantization["scale"],
            quantization["zero_point"])


def decoder(shape, scale, zero_point):
    output = ef.Output.detection(shape=list(shape)).with_normalized(True)
    if scale:
        output = output.with_quantization(scale, zero_point)
    return ef.Decoder.new_from_outputs([output], SCORE, IOU, ef.Nms.ClassAgnostic, input_dims=INPUT)


def by_place(boxes, scores, classes):
    """In an order that does not depend on ties."""
    rows = np.column_stack([classes, scores, boxes]).astype(np.float64).round(4)
    return rows[np.lexsort(rows.T[::-1])]


def test_equals_numpy(recording):
    name, output, scale, zero_point = recording
    wanted = by_place(*expected(output, scale, zero_point))
    for given in (output, as_tensor(output, scale, zero_point)):
        found = decoder(output.shape, scale, zero_point).decode([given])
        boxes = found.xyxy / np.tile(INPUT, 2)
        got = by_place(boxes, found.confidence, found.class_id)
        assert np.allclose(got, wanted, atol=2e-4), name
    classes = found.class_id.tolist()
    assert classes.count(PERSON) >= 1 and (BUS in classes) == name.endswith("bus"), name


def as_tensor(output, scale, zero_point):
    tensor = ef.Tensor(list(output.shape), str(output.dtype), ef.TensorMemory.MEM)
    tensor.from_numpy(output)
    if scale:
        tensor.set_quantization_per_tensor(scale, zero_point)
    return tensor


def test_tracks_of_a_still_image_stay_the_same(recording):
    _, output, scale, zero_point = recording
    tracker, seen = ef.ByteTrack(), []
    for frame in range(4):
        found = decoder(output.shape, scale, zero_point).decode_tracked(
            tracker, frame * 33_000_000, [output])
        seen.append(sorted(found.tracker_uuid.tolist()))
    assert seen[1] == seen[2] == seen[3] and len(seen[3]) >= 1
