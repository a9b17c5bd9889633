# SPDX-License-Identifier: Apache-2.0
"""Results as tuples with names, and as other packages have them."""
import pickle
import sys
import types

import numpy as np
import pytest

import halyard as ef
import models


def found():
    return models.segmenter().decode(
        [models.detection_output(extra=models.PROTOS), models.prototypes()])


def test_results_are_tuples_with_names():
    result = found()
    boxes, scores, classes, masks = result
    assert result.boxes is boxes and result[1] is scores and len(result) == 4
    assert result._fields == ("boxes", "scores", "classes", "masks")
    assert result.xyxy is boxes and result.conf is scores and result.cls is classes
    assert np.allclose(result.xywh[0], [0.25, 0.3, 0.3, 0.4], atol=1e-5)
    back = pickle.loads(pickle.dumps(result))
    assert type(back) is ef.Detections and np.array_equal(back.boxes, boxes)


def test_coco_records():
    records = found().to_coco(image_id=7, size=(100, 200), category_ids=[10, 11, 12, 13, 14])
    assert [r["category_id"] for r in records] == [12, 10]
    assert records[0]["bbox"] == pytest.approx([10, 20, 30, 80], abs=1e-3)
    assert records[0]["image_id"] == 7 and type(records[0]["score"]) is float
    plain = found().to_coco()
    assert "image_id" not in plain[0] and plain[0]["category_id"] == 2


def test_supervision_is_asked_for_by_name_when_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "supervision", None)
    with pytest.raises(ImportError, match="pip install supervision"):
        found().to_supervision()


def test_supervision_gets_pixels_and_whole_masks(monkeypatch):
    made = {}
    fake = types.ModuleType("supervision")
    fake.Detections = lambda **fields: made.update(fields) or made
    monkeypatch.setitem(sys.modules, "supervision", fake)
    found().to_supervision(size=(100, 200))
    assert np.allclose(made["xyxy"][0], [10, 20, 40, 100], atol=1e-3)
    assert made["mask"].shape == (2, 200, 100) and made["mask"].dtype == bool
    assert made["mask"][1, 100:180, 50:90].all() and made["mask"][1].sum() == 80 * 40
    assert made["class_id"].dtype == int
    found().to_supervision()
    assert made["mask"] is None and np.allclose(made["xyxy"][0], [0.1, 0.1, 0.4, 0.5], atol=1e-5)


def test_the_real_supervision_takes_them():
    supervision = pytest.importorskip("supervision", reason="supervision is not installed")
    detections = found().to_supervision(size=(100, 200))
    assert isinstance(detections, supervision.Detections) and len(detections) == 2
