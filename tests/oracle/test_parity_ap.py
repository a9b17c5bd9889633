# SPDX-License-Identifier: Apache-2.0
"""Average precision of `halyard val --model` and of trainer.py on the same outputs, boxes and
masks: nothing is lost. The model is a table (onnx_file.py), so truth and outputs are made here."""
import json
import os

import numpy as np
import pytest
import trainer
from onnx_file import write_lookup
from test_parity import blank, segments
from test_val import NAMES, peer

SIZE, ANCHORS, KINDS = (320, 320), 2100, ["buoy", "boat", "gull"]
IMAGES = [(810, 1080), (640, 360), (333, 222), (100, 90), (320, 320), (427, 640), (75, 301),
            (320, 318)]
STEP = 10  # between the grey levels of two images


@pytest.fixture(scope="module", autouse=True)
def engine():
    if os.environ.get("HALYARD_HAS_ENGINE") != "1":
        pytest.skip("this build has no inference engine")
    pytest.importorskip("pycocotools")


def ellipse(box, image):
    y, x = np.mgrid[0:image[1], 0:image[0]] + 0.5
    x1, y1, x2, y2 = box
    apart = ((2 * x - x1 - x2) / (x2 - x1)) ** 2 + ((2 * y - y1 - y2) / (y2 - y1)) ** 2
    return apart <= 1


def runs(mask):
    from pycocotools import mask as coco_mask
    rle = coco_mask.encode(np.asfortranarray(mask.astype(np.uint8)))
    return {"size": rle["size"], "counts": rle["counts"].decode()}


def annotations_of(image_id, image, letterbox, objects, kinds):
    out = []
    for box, kind in zip(letterbox.boxes_back(objects), kinds):
        x1, y1, x2, y2 = (float(v) for v in box)
        if min(x2 - x1, y2 - y1) < 3:
            continue
        mask = ellipse((x1, y1, x2, y2), image)
        out.append({"id": 1000 * image_id + len(out) + 1, "image_id": image_id, "iscrowd": 0,
                    "category_id": int(kind) + 5, "area": float(mask.sum()),
                    "bbox": [x1, y1, x2 - x1, y2 - y1], "segmentation": runs(mask)})
    return out


class World:
    """Images, their truth, and a model that finds something like it in them."""

    def __init__(self, folder, enlarges):
        cv2 = pytest.importorskip("cv2")
        self.folder, self.letterboxes, self.outputs = folder, [], []
        images, annotations = [], []
        for i, image in enumerate(IMAGES):
            raw, prototypes, objects, kinds = segments(50 + i, SIZE, len(KINDS), ANCHORS)
            letterbox = trainer.Letterbox.of(image, SIZE, enlarges)
            self.letterboxes.append(letterbox)
            self.outputs.append((raw, prototypes))
            cv2.imwrite(str(folder / f"{i}.png"), np.full_like(blank(image), STEP * i))
            images.append({"id": i + 1, "file_name": f"{i}.png", "width": image[0],
                           "height": image[1]})
            annotations += annotations_of(i + 1, image, letterbox, objects, kinds)
        categories = [{"id": i + 5, "name": name} for i, name in enumerate(KINDS)]
        self.truth = {"images": images, "annotations": annotations, "categories": categories}
        (folder / "truth.json").write_text(json.dumps(self.truth))
        names = ", ".join(f"{i}: '{name}'" for i, name in enumerate(KINDS))
        write_lookup(folder / "net.onnx", SIZE, STEP,
                     [np.stack([o[i] for o in self.outputs]) for i in (0, 1)],
                     {"task": "segment", "names": "{" + names + "}", "imgsz": str([*SIZE]),
                      "stride": "32"})

    def results(self, rules, quick):
        """Of the plain implementation: boxes, and masks."""
        boxes, masks = [], []
        make = trainer.quick_mask if quick else trainer.mask
        for image, ((raw, prototypes), letterbox) in enumerate(
                zip(self.outputs, self.letterboxes), 1):
            found = trainer.detect(raw, len(KINDS), rules)
            assert found.closest > 1e-7
            for box, score, label, anchor in zip(found.boxes, found.scores, found.labels,
                                                 found.anchors):
                entry = {"image_id": image, "category_id": int(label) + 5, "score": float(score)}
                x1, y1, x2, y2 = (float(v) for v in letterbox.boxes_back(box)[0])
                boxes.append(entry | {"bbox": [x1, y1, x2 - x1, y2 - y1]})
                box = trainer.corners(raw[:4, [anchor]])[0]
                mask = make(raw[4 + len(KINDS):, anchor], prototypes, box, letterbox)[0]
                masks.append(entry | {"segmentation": runs(mask)})
        return boxes, masks


@pytest.mark.parametrize("preset", list(trainer.RULES))
def test_nothing_is_lost_against_the_trainer(program, tmp_path, preset):
    rules = trainer.RULES[preset]
    world = World(tmp_path, rules.enlarges)
    text = program.run("val", "--gt", tmp_path / "truth.json", "--model", tmp_path / "net.onnx",
                       "--images", tmp_path, "--preset", preset, "--out", tmp_path / "out.json",
                       "--json", "-", "--quiet")
    ours = json.loads(text)
    for kind, table, results in zip(("bbox", "segm"), (ours, ours["masks"]),
                                    world.results(rules, preset == "ultralytics")):
        assert table["detections"] == len(results)
        (tmp_path / "plain.json").write_text(json.dumps(results))
        want, _ = peer(tmp_path / "truth.json", tmp_path / "plain.json", kind)
        got = [-1 if table["summary"][n] is None else table["summary"][n] for n in NAMES]
        print(f"{preset} {kind}: {len(results)} detections, AP {got[0]:.6f}, plain {want[0]:.6f}")
        assert 0.2 < want[0] < 0.99
        np.testing.assert_allclose(got, want, atol=1e-6, rtol=0)


def test_what_is_written_measures_the_same(program, tmp_path):
    World(tmp_path, False)
    common = ["val", "--gt", tmp_path / "truth.json", "--json", "-"]
    ours = json.loads(program.run(*common, "--model", tmp_path / "net.onnx", "--images", tmp_path,
                                  "--out", tmp_path / "out.json", "--quiet"))
    written = [*common, "--detections", tmp_path / "out.json"]
    boxes, masks = (json.loads(program.run(*written, *more)) for more in ([], ["--masks"]))
    assert boxes == {k: v for k, v in ours.items() if k != "masks"}
    assert {k: v for k, v in masks.items() if k != "schema"} == ours["masks"]
    # pycocotools reads it too.
    found = json.loads((tmp_path / "out.json").read_text())
    (tmp_path / "masks.json").write_text(
        json.dumps([{k: v for k, v in entry.items() if k != "bbox"} for entry in found]))
    theirs, _ = peer(tmp_path / "truth.json", tmp_path / "masks.json", "segm")
    assert theirs[0] == pytest.approx(masks["summary"]["AP"], abs=1e-6)


def test_presets_and_single_rules_change_what_is_measured(program, tmp_path):
    world = World(tmp_path, False)

    def ap(*options):
        text = program.run("val", "--gt", tmp_path / "truth.json", "--model",
                           tmp_path / "net.onnx", "--images", tmp_path, "--json", "-", "--quiet",
                           *options)
        table = json.loads(text)
        return table["detections"], table["summary"]["AP"], table["masks"]["summary"]["AP"]

    val = ap()
    assert ap("--preset", "ultralytics-val") == val
    assert ap("--mask-rule", "ultralytics") == val
    quick, logits = ap("--mask-rule", "ultralytics-quick"), ap("--mask-rule", "logits")
    assert quick[:2] == logits[:2] == val[:2]
    assert len({quick[2], logits[2], val[2]}) == 3
    predicted = ap("--preset", "ultralytics", "--letterbox", "ultralytics-val")
    assert predicted[0] < val[0]
    hal = ap("--preset", "hal")
    assert hal[0] < predicted[0]
    assert ap("--preset", "ultralytics", "--score", 0.001)[0] > predicted[0]
    assert ap("--iou", 0.3)[0] < val[0]
    # Without segmentations only boxes are measured.
    for annotation in world.truth["annotations"]:
        del annotation["segmentation"]
    (tmp_path / "truth.json").write_text(json.dumps(world.truth))
    text = program.run("val", "--gt", tmp_path / "truth.json", "--model", tmp_path / "net.onnx",
                       "--images", tmp_path, "--json", "-", "--quiet")
    assert "masks" not in json.loads(text)
    assert json.loads(text)["summary"]["AP"] == val[1]
