# SPDX-License-Identifier: Apache-2.0
"""Keypoints and rotated boxes of `halyard val` against pycocotools, on random scenes; the overlaps
of rotated boxes are OpenCV's."""
import contextlib
import io
import json

import numpy as np
import pytest
from test_val import NAMES, any_box, expect_same

WIDTH, HEIGHT = 160, 120
POINT_NAMES = ["AP", "AP50", "AP75", "AP_medium", "AP_large", "AR", "AR50", "AR75", "AR_medium",
               "AR_large"]
CATEGORIES = [3, 7, 90]  # the last has no annotation
EDGES = np.linspace(0.5, 0.95, 10)


def images_of(random):
    return [{"id": i, "width": WIDTH, "height": HEIGHT, "file_name": f"{i}.jpg"}
            for i in random.permutation(1000)[:12].tolist()]


def record(random, images, **more):
    """A detection with one of few scores: ties within and across images."""
    return {"image_id": int(random.choice([i["id"] for i in images])),
            "category_id": int(random.choice(CATEGORIES)),
            "score": float(np.round(random.uniform(), 1)), **more}


def truth_of(images, annotations, **more):
    for k, entry in enumerate(annotations, 1):
        entry["id"] = k
    return {"images": images, "annotations": annotations,
            "categories": [{"id": c, "name": f"kind {c}", **more} for c in CATEGORIES]}


def written(folder, truth, results):
    (folder / "truth.json").write_text(json.dumps(truth))
    (folder / "results.json").write_text(json.dumps(results))
    return folder / "truth.json", folder / "results.json"


def judged(judge_type, paths, kind, **params):
    from pycocotools.coco import COCO
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO(str(paths[0]))
        judge = judge_type(truth, truth.loadRes(str(paths[1])), kind)
        for name, value in params.items():
            setattr(judge.params, name, value)
        judge.evaluate()
        judge.accumulate()
        judge.summarize()
    by_category = judge.eval["precision"][:, :, :, 0, -1]
    ap = [by_category[:, :, i][by_category[:, :, i] > -1] for i in range(len(CATEGORIES))]
    return judge.stats, [v.mean() if v.size else -1 for v in ap]


def measured(program, paths, names, *options):
    got = json.loads(program.run("val", "--gt", paths[0], "--detections", paths[1], "--json", "-",
                                 *options))
    return [got["summary"][name] for name in names], [c["AP"] for c in got["categories"]]


def points_in(random, box, count):
    x, y, w, h = box
    return np.stack([random.uniform(x, x + w, count), random.uniform(y, y + h, count),
                     random.integers(0, 3, count)], 1)


def keypoint_scene(seed, count, has_boxes, **of_category):
    random = np.random.default_rng(seed)
    images, annotations, results = images_of(random), [], []
    for image in images:
        for _ in range(random.integers(0, 7)):
            box = any_box(random)
            points = points_in(random, box, count)
            if random.random() < 0.2:
                points[:] = 0  # none is labeled
            category = int(random.choice(CATEGORIES[:2]))
            annotations.append({
                "image_id": image["id"], "category_id": category, "bbox": box,
                "iscrowd": int(random.random() < 0.1), "keypoints": points.ravel().tolist(),
                "num_keypoints": int((points[:, 2] > 0).sum()),
                "area": box[2] * box[3] * float(random.uniform(0.3, 1))})
            for _ in range(random.integers(0, 3)):
                noise = random.normal(0, random.choice([0, 0.02, 0.1]), points[:, :2].shape)
                near = points + np.pad(noise * [box[2], box[3]], ((0, 0), (0, 1)))
                results.append(record(random, images, keypoints=near.ravel().tolist()) |
                               {"image_id": image["id"], "category_id": category})
    for _ in range(60):  # more than the protocol looks at
        many = points_in(random, any_box(random), count).ravel().tolist()
        results.append(record(random, images, keypoints=many) | {
            "image_id": images[0]["id"], "category_id": CATEGORIES[0]})
    random.shuffle(results)
    for entry in results if has_boxes else ():
        entry["bbox"] = any_box(random)
    return truth_of(images, annotations, **of_category), results


@pytest.mark.parametrize("has_boxes", [False, True], ids=["keypoints", "with boxes"])
@pytest.mark.parametrize("seed", range(6))
def test_keypoints_have_the_ten_numbers_of_pycocotools(program, tmp_path, seed, has_boxes):
    pytest.importorskip("pycocotools")
    from pycocotools.cocoeval import COCOeval
    paths = written(tmp_path, *keypoint_scene(seed, 17, has_boxes))
    stats, by_category = judged(COCOeval, paths, "keypoints")
    assert 0 < stats[0] < 1
    summary, categories = measured(program, paths, POINT_NAMES, "--keypoints")
    expect_same(summary, stats)
    expect_same(categories, by_category)


@pytest.mark.parametrize("where", ["document", "option", "one"])
def test_sigmas_of_the_document_and_of_the_command_line(program, tmp_path, where):
    pytest.importorskip("pycocotools")
    from pycocotools.cocoeval import COCOeval
    sigmas = [0.1] * 4 if where == "one" else [0.05, 0.2, 0.1, 0.07]
    more = {"sigmas": sigmas} if where == "document" else {}
    options = {"document": [], "option": ["--sigmas", *sigmas], "one": ["--sigmas", 0.1]}[where]
    paths = written(tmp_path, *keypoint_scene(3, 4, True, **more))
    stats, by_category = judged(COCOeval, paths, "keypoints", kpt_oks_sigmas=np.array(sigmas))
    summary, categories = measured(program, paths, POINT_NAMES, "--keypoints", *options)
    expect_same(summary, stats)
    expect_same(categories, by_category)
    with_default, _ = measured(program, paths, POINT_NAMES, "--keypoints", "--sigmas", 0.01)
    assert with_default[0] < summary[0]


def corners_of(box):
    cv2 = pytest.importorskip("cv2")
    x, y, w, h, angle = box
    return cv2.boxPoints(((x, y), (w, h), np.degrees(angle))).astype(float)


def overlap(found, truth, crowd):
    """IoU, or the share of the found box that lies in a crowd."""
    cv2 = pytest.importorskip("cv2")
    shape = lambda b: ((b[0], b[1]), (b[2], b[3]), np.degrees(b[4]))
    _, points = cv2.rotatedRectangleIntersection(shape(found), shape(truth))
    inside = 0.0 if points is None else cv2.contourArea(cv2.convexHull(points))
    area, other = found[2] * found[3], truth[2] * truth[3]
    return inside / (area if crowd else area + other - inside)


def rotated_judge():
    from pycocotools.cocoeval import COCOeval

    class Judge(COCOeval):
        def computeIoU(self, imgId, catId):
            found = sorted(self._dts[imgId, catId], key=lambda d: -d["score"])
            found, truth = found[:self.params.maxDets[-1]], self._gts[imgId, catId]
            if not found or not truth:
                return []
            return np.array([[overlap(d["rbox"], t["rbox"], t["iscrowd"]) for t in truth]
                             for d in found])
    return Judge


def is_clear(box, truths):
    """Whether no overlap lies so near a threshold that OpenCV's rounding decides."""
    for truth in truths:
        for crowd in (False, True):
            if np.abs(overlap(box, truth, crowd) - EDGES).min() < 1e-3:
                return False
    return True


def rotated_scene(seed):
    random = np.random.default_rng(seed)
    images, annotations, results = images_of(random), [], []
    for image in images:
        truths = []
        for _ in range(random.integers(0, 6)):
            box = [float(v) for v in (*random.uniform(10, 110, 2),
                                      *np.exp(random.uniform(1.5, 4.8, 2)),
                                      random.uniform(-4, 4))]
            truths.append(box)
            category = int(random.choice(CATEGORIES[:2]))
            entry = {"image_id": image["id"], "category_id": category, "rbox": box,
                     "area": box[2] * box[3], "iscrowd": int(random.random() < 0.1)}
            annotations.append(entry)
        for box in truths:
            for scale in random.choice([0.01, 0.05, 0.15], random.integers(0, 4)):
                size = np.array(box[2:4])
                near = [*(box[:2] + random.normal(0, scale, 2) * size),
                        *(size * np.exp(random.normal(0, scale, 2))),
                        box[4] + random.normal(0, scale)]
                if is_clear(near, truths):
                    results.append(record(random, images, rbox=[float(v) for v in near]) |
                                   {"image_id": image["id"]})
    random.shuffle(results)
    for entry in results:  # pycocotools needs a box for the area
        entry["bbox"] = [0, 0, entry["rbox"][2], entry["rbox"][3]]
    return truth_of(images, annotations), results


@pytest.mark.parametrize("form", ["rbox", "poly"])
@pytest.mark.parametrize("seed", range(4))
def test_rotated_boxes_have_the_twelve_numbers(program, tmp_path, seed, form):
    pytest.importorskip("pycocotools")
    pytest.importorskip("cv2")
    truth, results = rotated_scene(seed)
    paths = written(tmp_path, truth, results)
    stats, by_category = judged(rotated_judge(), paths, "bbox")
    assert 0 < stats[0] < 1
    if form == "poly":
        for entry in truth["annotations"]:
            entry["segmentation"] = [corners_of(entry.pop("rbox")).ravel().tolist()]
        for entry in results:
            entry["poly"] = corners_of(entry.pop("rbox")).ravel().tolist()
        paths = written(tmp_path, truth, results)
    summary, categories = measured(program, paths, NAMES, "--rotated")
    expect_same(summary, stats)
    expect_same(categories, by_category)
