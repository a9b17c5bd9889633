# SPDX-License-Identifier: Apache-2.0
"""val: numbers that follow by hand, those of the program, and what is refused."""
import json
import os
import subprocess
import sys

import numpy as np
import pytest

import halyard
from harbour import HARBOUR, MODEL, ROOT, needs_engine
from helpers import fails

PROGRAM = os.environ.get("HALYARD_PROGRAM")
needs_program = pytest.mark.skipif(not PROGRAM, reason="this build has no program")
SIDE = 64


def truth(*boxes, size=(100, 80)):
    """One image with a "boat" in each box."""
    return {"images": [{"id": 4, "file_name": "a.png", "width": size[0], "height": size[1]}],
            "categories": [{"id": 9, "name": "boat"}, {"id": 2, "name": "buoy"}],
            "annotations": [{"id": i, "image_id": 4, "category_id": 9, "bbox": list(box)}
                            for i, box in enumerate(boxes)]}


def found(box, score, category=9):
    return {"image_id": 4, "category_id": category, "bbox": list(box), "score": score}


def program(*arguments):
    done = subprocess.run([PROGRAM, *map(str, arguments), "--json", "-"], capture_output=True,
                          text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def is_same(scores, wanted):
    assert scores.summary == wanted["summary"]
    assert scores.by_class == {each["name"]: each["AP"] for each in wanted["categories"]}
    for name in ("kind", "images", "annotations", "detections", "left_out"):
        assert getattr(scores, name) == wanted[name], name


class TestKinds:
    def test_keypoints_rotated_boxes_and_classes(self):
        gt = truth((10, 10, 40, 40))
        gt["categories"][0]["sigmas"] = [0.1]
        gt["annotations"][0].update(keypoints=[20, 20, 2], rbox=[30, 30, 40, 20, 0.5])
        one = found((10, 10, 40, 40), 0.5) | {"keypoints": [20, 21, 0.9],
                                              "rbox": [30, 30, 40, 20, 0.5]}
        for kind in ("keypoints", "rotated_boxes"):
            scores = halyard.val(gt, [one], kind=kind)
            assert (scores.kind, scores.ap, len(scores.by_class)) == (kind, 1, 2)
        scores = halyard.val(gt, [one], kind="classes")
        assert scores.summary == {"top1": 1, "top5": 1} and scores.ap is None
        fails(ValueError, "kind: must be \"boxes\"", lambda: halyard.val(gt, [], kind="points"))
        fails(ValueError, "with masks=True",
              lambda: halyard.val(gt, [], kind="boxes", masks=True))

    @needs_engine
    @needs_program
    @pytest.mark.parametrize("name, kind", [("pose", "keypoints"), ("obb", "rotated_boxes")])
    def test_a_model_is_measured_in_what_it_gives(self, tmp_path, name, kind):
        told = json.loads((HARBOUR / "photo_truth.json").read_text())
        names = ["boat", "buoy", "gull"]
        gt = {"images": [{"id": 1, "file_name": "photo.jpg"}], "annotations": [],
              "categories": [{"id": i, "name": n} for i, n in enumerate(names)]}
        gt["categories"][0].update(keypoints=["left", "right", "top"], sigmas=[0.1] * 3)
        for thing in told["objects"]:
            x1, y1, x2, y2 = thing["box"]
            gt["annotations"].append({"image_id": 1, "category_id": names.index(thing["class"]),
                                      "bbox": [x1, y1, x2 - x1, y2 - y1], "rbox": thing["rbox"]})
            if "points" in thing:
                gt["annotations"][-1]["keypoints"] = sum(thing["points"], [])
        scores = halyard.Model(HARBOUR / f"harbour_{name}.onnx").val(gt, HARBOUR)
        beside = getattr(scores, kind)
        assert scores.kind == "boxes" and beside.kind == kind and kind.split("_")[0] in str(scores)
        path = tmp_path / "gt.json"
        path.write_text(json.dumps(gt))
        wanted = program("val", "--gt", path, "--model", HARBOUR / f"harbour_{name}.onnx",
                         "--images", HARBOUR, "-q")
        is_same(beside, wanted[kind])

    @needs_engine
    def test_a_classifier_is_measured_by_its_classes(self):
        model = halyard.Model(HARBOUR / "harbour_cls.onnx")
        best = model(HARBOUR / "photo.jpg").probs.top1
        gt = {"images": [{"id": 1, "file_name": "photo.jpg"}],
              "categories": [{"id": i, "name": n} for i, n in enumerate(model.names)],
              "annotations": [{"image_id": 1, "category_id": int(best)}]}
        scores = model.val(gt, HARBOUR)
        assert scores.kind == "classes" and scores.summary == {"top1": 1, "top5": 1}


class TestVal:
    def test_numbers_follow_by_hand(self):
        # One of two is found, below a false alarm: precision 1/2 up to a recall of 1/2.
        scores = halyard.val(truth((10, 10, 40, 40), (60, 50, 20, 20)),
                             [found((10, 10, 40, 40), 0.5), found((80, 0, 9, 9), 0.9)])
        assert scores.kind == "boxes" and scores.masks is None
        assert scores.ap == scores.ap50 == scores.ap75 == pytest.approx(0.5 * 51 / 101)
        assert scores.summary["AR_1"] == 0 and scores.summary["AR_100"] == 0.5
        assert scores.summary["AP_large"] is None
        assert scores.by_class == {"buoy": None, "boat": scores.ap}
        assert (scores.images, scores.annotations, scores.detections) == (1, 2, 2)

    def test_the_table_is_the_programs(self):
        scores = halyard.val(truth((10, 10, 40, 40)), [found((10, 10, 40, 40), 1),
                                                       found((0, 0, 1, 1), 1, category=77)])
        assert str(scores).splitlines()[:3] == [
            "boxes: 1 images, 1 annotations of 2 categories, 1 detections",
            "1 detections of other categories are left out",
            "AP          1.0000  precision at IoU 0.50 to 0.95"]

    def test_detections_of_this_package_are_results(self):
        made = halyard.Detections([[10, 10, 50, 50]], [0.75], [9], size=(100, 80))
        records = made.to_coco(image_id=4, category_ids=list(range(10)))
        assert halyard.val(truth((10, 10, 40, 40)), records).ap == 1

    def test_masks_are_polygons_or_runs(self):
        document = truth((0, 0, 4, 4), size=(8, 4))
        document["annotations"][0]["segmentation"] = [[0, 0, 4, 0, 4, 4, 0, 4]]
        half = {"image_id": 4, "category_id": 9, "score": 1.0,
                "segmentation": {"size": [4, 8], "counts": [0, 12, 20]}}
        scores = halyard.val(document, [half], masks=True)  # an IoU of 12/16
        assert scores.kind == "masks" and scores.ap == pytest.approx(0.6)

    @needs_program
    def test_files_give_the_numbers_of_the_program(self, tmp_path):
        random = np.random.default_rng(5)
        boxes = [(x, y, w, h) for x, y, w, h in random.uniform(1, 40, (12, 4)).round(2).tolist()]
        results = [found(np.array(box) + random.normal(0, 2, 4).clip(-1, 5), score)
                   for box in boxes for score in random.uniform(0, 1, 2).round(1)]
        gt, dt = tmp_path / "gt.json", tmp_path / "dt.json"
        gt.write_text(json.dumps(truth(*boxes)))
        dt.write_text(json.dumps([{**each, "bbox": list(each["bbox"])} for each in results]))
        scores = halyard.val(gt, str(dt))
        assert 0 < scores.ap < 1
        is_same(scores, program("val", "--gt", gt, "--detections", dt))
        assert halyard.val(truth(*boxes), results) == scores  # NumPy's numbers, too

    def test_what_is_wrong_is_named(self, tmp_path):
        fails(FileNotFoundError, "none.json", lambda: halyard.val(tmp_path / "none.json", []))
        path = tmp_path / "gt.json"
        path.write_text("{")
        fails(halyard.DataError, r"gt\.json: is not JSON.*line 1", lambda: halyard.val(path, []))
        with pytest.raises(halyard.DataError, match=r"gt: .*annotations\[0\]\.bbox\[2\]: -1"):
            halyard.val(truth((0, 0, -1, 2)), [])
        with pytest.raises(halyard.DataError, match=r"detections: .*\[0\]\.image_id: 5"):
            halyard.val(truth(), [{"image_id": 5, "category_id": 9, "bbox": [0, 0, 1, 1],
                                   "score": 1}])
        with pytest.raises(ValueError, match="detections: .*JSON compliant"):
            halyard.val(truth(), [found((0, 0, 1, 1), float("nan"))])
        with pytest.raises(TypeError, match="detections: must be a file or a list of dicts, not "):
            halyard.val(truth(), 3)
        with pytest.raises(TypeError, match="gt: must be a file or a dict, not NoneType"):
            halyard.val(None, [])


def harbour_truth(count):
    """The harbour's first images."""
    document = json.loads((HARBOUR / "instances.json").read_text())
    images = document["images"][:count]
    kept = {image["id"] for image in images}
    return {**document, "images": images, "annotations": [
        each for each in document["annotations"] if each["image_id"] in kept]}


def bright_engine(array):
    """Finds one object, of class 1: the pixels that are brighter than 0.9."""
    out = np.zeros((1, 6, 400), np.float32)
    rows, columns = np.nonzero(array[0].min(axis=0) > 0.9)
    left, right, top, bottom = columns.min(), columns.max() + 1, rows.min(), rows.max() + 1
    out[0, :4, 5] = (left + right) / 2, (top + bottom) / 2, right - left, bottom - top
    out[0, 5, 5] = 0.875
    return out


@pytest.fixture
def bright():
    return halyard.Model(engine=bright_engine, input_size=(SIDE, SIDE), labels=["buoy", "boat"])


@pytest.fixture
def image(tmp_path):
    made = np.full((SIDE, SIDE, 3), 30, np.uint8)
    made[20:40, 10:40] = 255
    halyard.imwrite(tmp_path / "a.png", made)
    return tmp_path


class TestModel:
    def test_an_engine_of_ones_own_is_measured(self, bright, image):
        scores = bright.val(truth((10, 20, 30, 20), size=(SIDE, SIDE)), image)
        assert scores.ap == 1 and scores.detections == 1
        assert scores.results[0]["category_id"] == 9  # by name, though the order differs
        assert scores.results[0]["bbox"] == [10, 20, 30, 20]

    def test_classes_that_are_no_category_are_left_out(self, bright, image):
        document = truth((10, 20, 30, 20), size=(SIDE, SIDE))
        document["categories"][0]["name"] = "ship"
        scores = bright.val(document, image)
        assert scores.left_out == 1 and scores.ap == 0

    def test_what_is_wrong_is_named(self, bright, image):
        fits = truth((10, 20, 30, 20), size=(SIDE, SIDE))
        with pytest.raises(ValueError, match='preset: must be "ultralytics-val", .* not .coco'):
            bright.val(fits, image, preset="coco")
        fails(ValueError, r"a\.png: is 64x64, must be 100x80", lambda: bright.val(truth(), image))
        outside = truth(size=(SIDE, SIDE))
        outside["images"][0]["file_name"] = "../a.png"
        fails(ValueError, "'../a.png' of image 4 must lie inside images",
              lambda: bright.val(outside, image))
        fails(FileNotFoundError, "a.png", lambda: bright.val(fits, image / "none"))
        fails(NotImplementedError, "masks: the model gives none",
              lambda: bright.val(fits, image, masks=True))
        fails(ValueError, "score_threshold", lambda: bright.val(fits, image, conf=2))

    @needs_engine
    @needs_program
    @pytest.mark.parametrize("preset", ["ultralytics-val", "ultralytics", "hal"])
    def test_presets_give_the_numbers_of_the_program(self, tmp_path, preset):
        gt, out = tmp_path / "gt.json", tmp_path / "out.json"
        gt.write_text(json.dumps(harbour_truth(8)))
        wanted = program("val", "--gt", gt, "--model", MODEL, "--images", HARBOUR, "--preset",
                         preset, "--out", out, "-q")
        scores = halyard.Model(MODEL).val(gt, HARBOUR, preset=preset)
        assert 0.3 < scores.ap < 1
        is_same(scores, wanted)
        assert scores.results == json.loads(out.read_text())

    @needs_engine
    @needs_program
    def test_masks_give_the_numbers_of_the_program(self, tmp_path):
        sys.path.insert(0, str(ROOT / "tests/tools"))
        from segmentation_model import segmentation_model
        model, gt = tmp_path / "net.onnx", tmp_path / "gt.json"
        red = (1, 0, -1)
        model.write_bytes(segmentation_model([(32, 32, 48, 24, 0, 0.9, *red),
                                              (20, 40, 20, 20, 1, 0.6, *red)]))
        made = np.zeros((48, 60, 3), np.uint8)
        made[10:40, 5:50, 0] = 200
        halyard.imwrite(tmp_path / "a.png", made)
        document = truth((5, 10, 45, 30), size=(60, 48))
        document["annotations"][0]["segmentation"] = [[6, 12, 50, 12, 50, 36, 6, 36]]
        document["annotations"][0]["category_id"] = 2  # class 0, by order
        gt.write_text(json.dumps(document))
        wanted = program("val", "--gt", gt, "--model", model, "--images", tmp_path, "-q")
        scores = halyard.Model(model).val(gt, tmp_path)
        is_same(scores, {**wanted, "left_out": scores.left_out})
        assert scores.masks.detections == 2 and 0 < scores.masks.ap
        is_same(scores.masks, wanted["masks"])
        assert halyard.Model(model).val(gt, tmp_path, masks=False).masks is None
