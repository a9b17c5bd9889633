# SPDX-License-Identifier: Apache-2.0
"""Detections of recorded network outputs against a plain NumPy implementation."""
import json

import numpy as np
import pytest

NAMES = [f"{model}__{image}" for image in ("bus", "zidane") for model in (
    "yolov8n_full_integer_quant", "yolo11n_full_integer_quant", "yolov8n_full_integer_quant_224",
    "yolov8n_full_integer_quant_416", "yolov8n_int8")]


def overlap(box, others):
    """IoU of one xyxy box with many."""
    low = np.maximum(box[:2], others[:, :2])
    high = np.minimum(box[2:], others[:, 2:])
    inside = np.prod(np.clip(high - low, 0, None), 1)
    area = np.prod(box[2:] - box[:2])
    return inside / (area + np.prod(others[:, 2:] - others[:, :2], 1) - inside)


def plain_decode(raw, meta, score, iou):
    """Boxes (xyxy source pixels), scores, classes: best class, threshold, class-aware NMS."""
    quant = meta["outputs"][0]["quantization"]
    values = raw[0].astype(np.float64)
    if quant:
        values = (values - quant["zero_point"]) * quant["scale"]
    size = np.array([meta["input_width"], meta["input_height"]] * 2)
    centre, extent = values[:2].T, values[2:4].T
    boxes = np.concatenate([centre - extent / 2, centre + extent / 2], 1) * size
    classes, scores = values[4:].argmax(0), values[4:].max(0)
    order = np.argsort(-scores, kind="stable")
    order = order[scores[order] >= score]
    kept = []
    while order.size:
        first, rest = order[0], order[1:]
        kept.append(first)
        doubles = (overlap(boxes[first], boxes[rest]) > iou) & (classes[rest] == classes[first])
        order = rest[~doubles]
    letterbox = meta["letterbox"]
    pads = np.array([letterbox["pad_left"], letterbox["pad_top"]] * 2)
    content = np.array([letterbox["content_width"], letterbox["content_height"]] * 2)
    source = np.array([meta["image_width"], meta["image_height"]] * 2)
    boxes = np.clip((boxes[kept] - pads) / content * source, 0, source)
    return boxes, scores[kept], classes[kept]


@pytest.mark.parametrize("name", NAMES)
def test_recorded_outputs_give_the_same_boxes_as_numpy(program, testdata, name):
    folder = testdata / "model_outputs"
    meta = json.loads((folder / f"{name}.json").read_text())
    raw = np.load(folder / f"{name}.npy")
    quant = meta["outputs"][0]["quantization"]
    options = ["--quant", f"{quant['scale']},{quant['zero_point']}"] if quant else \
        ["--box-units", "fraction"]
    got = program.decode(folder / f"{name}.npy", *options, "--score", 0.25, "--iou", 0.45,
                         "--input-size", f"{meta['input_width']}x{meta['input_height']}",
                         "--source-size", f"{meta['image_width']}x{meta['image_height']}")
    boxes, scores, classes = plain_decode(raw, meta, 0.25, 0.45)
    assert len(got) == len(boxes) > 0
    np.testing.assert_array_equal([d["class"] for d in got], classes)
    # The report has four decimals.
    np.testing.assert_allclose([d["score"] for d in got], scores, atol=6e-5)
    np.testing.assert_allclose([d["box"] for d in got], boxes, atol=0.02)


def test_the_bus_and_four_people_are_found(program, testdata):
    folder = testdata / "model_outputs"
    got = program.decode(folder / "yolov8n_full_integer_quant__bus.npy",
                         "--quant", "0.003906319383531809,-128", "--input-size", "640x640",
                         "--source-size", "810x1080", "--labels", testdata / "models" / "coco.txt")
    labels = [d["label"] for d in got]
    assert labels.count("bus") == 1
    assert labels.count("person") >= 3
