# SPDX-License-Identifier: Apache-2.0
"""Results as other packages have them."""
import pickle
import sys
import types

import numpy as np
import pytest

import halyard as ef
from helpers import fails
import models


def found():
    return models.segmenter().decode(
        [models.detection_output(extra=models.PROTOS), models.prototypes()])


def test_results_have_the_names_of_ultralytics():
    result = found()
    assert result.conf is result.confidence and result.cls is result.class_id
    assert np.allclose(result.xywh[0], models.pixels([0.25, 0.3, 0.3, 0.4]), atol=1e-2)
    back = pickle.loads(pickle.dumps(result))
    assert type(back) is ef.Detections and back == result
    assert (back.unit, back.input_dims) == ("pixels", models.INPUT)


def test_coco_records():
    records = found().to_coco(image_id=7, size=(100, 200), category_ids=[10, 11, 12, 13, 14])
    assert [r["category_id"] for r in records] == [12, 10]
    assert records[0]["bbox"] == pytest.approx([10, 20, 30, 80], abs=1e-3)
    assert records[0]["image_id"] == 7 and type(records[0]["score"]) is float
    plain = found().to_coco()
    assert plain[0]["bbox"] == pytest.approx([64, 48, 192, 192], abs=1e-2)
    assert "image_id" not in plain[0] and plain[0]["category_id"] == 2


def decoded(counts, size):
    """The pixels of COCO's run lengths, read by their description."""
    width, height = size
    runs, at = [], 0
    while at < len(counts):
        value, shift = 0, 0
        while True:
            bits = ord(counts[at]) - 48
            at, value, shift = at + 1, value | (bits & 31) << shift, shift + 5
            if not bits & 32:
                break
        if bits & 16:
            value -= 1 << shift
        runs.append(value + (runs[-2] if len(runs) > 2 else 0))
    flat = np.repeat(np.arange(len(runs)) % 2, runs).astype(bool)
    assert flat.size == width * height
    return flat.reshape(width, height).T


def test_coco_records_have_the_masks():
    records = found().to_coco(size=(100, 200))
    assert [r["segmentation"]["size"] for r in records] == [[200, 100]] * 2
    masks = [decoded(r["segmentation"]["counts"], (100, 200)) for r in records]
    assert masks[1].sum() == 80 * 40 and masks[1][100:180, 50:90].all()
    # Prototype 0 is on in the right half alone, and the box ends at 40 of 100 columns.
    assert masks[0].sum() == 0
    assert decoded(found().to_coco()[1]["segmentation"]["counts"], models.INPUT).sum() == 256 * 192
    assert "segmentation" not in models.decoder().decode([models.detection_output()]).to_coco()[0]
    random = np.random.default_rng(1).random((31, 17)) < 0.5
    for mask in (random, ~random, np.ones_like(random), np.zeros_like(random)):
        runs = ef.Detections([[0, 0, 17, 31]], masks=mask[None]).to_rle()
        assert np.array_equal(decoded(runs[0]["counts"], (17, 31)), mask)


def placed(**options):
    """An image of 320 x 240 in the network's input of 640 x 480, letterboxed to 640 x 360."""
    image = ef.Tensor.image(320, 180, ef.PixelFormat.Rgb, ef.TensorMemory.MEM)
    network = ef.Tensor.image(*models.INPUT, ef.PixelFormat.Rgb, ef.TensorMemory.MEM)
    return ef.ImageProcessor().convert(image, network, letterbox=[0, 0, 0, 255], **options)


@pytest.fixture
def supervision(monkeypatch):
    made = {}
    fake = types.ModuleType("supervision")
    fake.Detections = lambda **fields: made.clear() or made.update(fields) or made
    monkeypatch.setitem(sys.modules, "supervision", fake)
    return made


def test_supervision_undoes_the_letterbox(supervision):
    # The second box is 320..576 x 240..432 of the input: 60 rows of pad lie above the image.
    for made in (found().to_supervision(placement=placed()),
                 placed().to_source(found()).to_supervision()):
        assert np.allclose(made["xyxy"][1], [160, 90, 288, 180], atol=0.1)
        assert made["mask"].shape == (2, 180, 320)
        assert made["mask"][1].sum() == 128 * 90 and made["mask"][1, 90:, 160:288].all()
    fails(ValueError, "size", lambda: found().to_supervision(size=(10, 10), placement=placed()))
    records = found().to_coco(placement=placed())
    assert records[1]["bbox"] == pytest.approx([160, 90, 128, 90], abs=0.1)
    assert decoded(records[1]["segmentation"]["counts"], (320, 180)).sum() == 128 * 90


def test_masks_follow_a_flip(supervision):
    """Prototype 0 is on in the right half of the input, which shows the image's left."""
    wide = [((0.1, 0.1, 0.9, 0.9), 0.9, 2)]
    result = models.segmenter().decode(
        [models.detection_output(wide, extra=models.PROTOS), models.prototypes()])
    mask = result.to_supervision(placement=placed())["mask"][0]
    assert mask[90, 200:280].all() and not mask[90, 40:120].any()
    mask = result.to_supervision(placement=placed(flip=ef.Flip.Horizontal))["mask"][0]
    assert mask[90, 40:120].all() and not mask[90, 200:280].any()


def test_supervision_gets_track_ids(supervision):
    tracker, decoder = ef.ByteTrack(), models.segmenter()
    outputs = [models.detection_output(extra=models.PROTOS), models.prototypes()]
    first = decoder.decode_tracked(tracker, 0, outputs)
    ids = first.to_supervision()["tracker_id"]
    assert ids.shape == (2,) and ids.dtype == np.int64 and len(set(ids.tolist())) == 2
    # The first one coasts now: it comes last, has no mask, and keeps its id.
    one = models.detection_output(models.OBJECTS[1:], extra=models.PROTOS)
    second = decoder.decode_tracked(tracker, 1000, [one, outputs[1]], coasting=True)
    made = second.to_supervision()
    assert made["tracker_id"].tolist() == ids[::-1].tolist()
    assert made["mask"].shape == (2, 480, 640) and not made["mask"][1].any()
    there = placed().to_source(second).to_supervision()
    assert there["tracker_id"].tolist() == ids[::-1].tolist()


def test_supervision_is_asked_for_by_name_when_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "supervision", None)
    fails(ImportError, "pip install supervision", lambda: found().to_supervision())


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
    assert np.allclose(made["xyxy"][0], models.pixels([0.1, 0.1, 0.4, 0.5]), atol=1e-2)
    assert made["mask"].shape == (2, 480, 640) and "tracker_id" not in made


def test_the_real_supervision_takes_them():
    supervision = pytest.importorskip("supervision", reason="supervision is not installed")
    detections = found().to_supervision(size=(100, 200))
    assert isinstance(detections, supervision.Detections) and len(detections) == 2
