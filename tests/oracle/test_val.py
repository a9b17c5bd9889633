# SPDX-License-Identifier: Apache-2.0
"""Average precision of `halyard val` against pycocotools, on random scenes with every oddity."""
import contextlib
import io
import json

import numpy as np
import pytest

NAMES = ["AP", "AP50", "AP75", "AP_small", "AP_medium", "AP_large", "AR_1", "AR_10", "AR_100",
         "AR_small", "AR_medium", "AR_large"]
WIDTH, HEIGHT = 160, 120


def polygon(random, x, y, w, h):
    """A star-shaped outline inside the box; now and then a straight one, or one that leaves it."""
    if random.random() < 0.2:
        return [x, y, x + w, y, x + w, y + h, x, y + h]
    angles = np.sort(random.uniform(0, 2 * np.pi, random.integers(3, 12)))
    radii = random.uniform(0.3, 1.1, len(angles))
    points = np.stack([x + w / 2 + w / 2 * radii * np.cos(angles),
                       y + h / 2 + h / 2 * radii * np.sin(angles)], 1)
    return np.round(points, random.integers(0, 4)).ravel().tolist()


def any_box(random):
    w, h = np.exp(random.uniform(np.log(3), np.log(150), 2))
    x, y = random.uniform(-5, WIDTH - 5), random.uniform(-5, HEIGHT - 5)
    return [float(v) for v in np.round([x, y, w, h], 2)]


def shifted(random, box, amount):
    w, h = box[2], box[3]
    change = random.normal(0, amount, 4) * [w, h, w, h]
    x, y, w, h = np.array(box) + change
    return [float(x), float(y), float(max(w, 0.5)), float(max(h, 0.5))]


def annotations_of(random, images, categories, masks):
    from pycocotools import mask as coco_mask
    out = []
    for image in images:
        for _ in range(random.integers(0, 9)):
            box = any_box(random)
            crowd = random.random() < 0.12
            entry = {"id": len(out) + 1, "image_id": image["id"], "bbox": box,
                     "category_id": int(random.choice(categories)), "iscrowd": int(crowd),
                     "area": box[2] * box[3] * float(random.uniform(0.5, 1))}
            if masks:
                shapes = [polygon(random, *box) for _ in range(random.integers(1, 3))]
                entry["segmentation"] = shapes
                if crowd:  # as runs, in numbers or as text
                    runs = coco_mask.merge(coco_mask.frPyObjects(shapes, HEIGHT, WIDTH))
                    on = coco_mask.decode(runs).ravel(order="F")
                    places = np.flatnonzero(np.diff(np.concatenate([[0], on, [2]]))).tolist()
                    numbers = np.diff([0, *places]).tolist()
                    counts = numbers if random.random() < 0.5 else runs["counts"].decode()
                    entry["segmentation"] = {"size": [HEIGHT, WIDTH], "counts": counts}
            out.append(entry)
    return out


def results_of(random, annotations, images, categories, masks):
    from pycocotools import mask as coco_mask
    out = []

    def add(image, category, box):
        # Few scores: ties within and across images.
        entry = {"image_id": image, "category_id": int(category),
                 "score": float(np.round(random.uniform(0, 1), 1))}
        if masks:
            shape = coco_mask.frPyObjects([polygon(random, *box)], HEIGHT, WIDTH)[0]
            entry["segmentation"] = {"size": shape["size"], "counts": shape["counts"].decode()}
        else:
            entry["bbox"] = box
        out.append(entry)

    for a in annotations:
        for _ in range(random.integers(0, 4)):
            category = a["category_id"] if random.random() < 0.9 else random.choice(categories)
            add(a["image_id"], category, shifted(random, a["bbox"], random.choice([0, 0.03, 0.2])))
    for image in images:
        for _ in range(random.integers(0, 5)):
            add(image["id"], random.choice(categories), any_box(random))
    for _ in range(150):  # more than the protocol looks at
        add(images[0]["id"], categories[0], any_box(random))
    random.shuffle(out)
    return out


def scene(seed, masks):
    random = np.random.default_rng(seed)
    categories = [3, 7, 18, 90, 44]  # in no order; the last has no annotation
    ids = random.permutation(1000)[:12].tolist()
    images = [{"id": i, "width": WIDTH, "height": HEIGHT, "file_name": f"{i}.jpg"} for i in ids]
    annotations = annotations_of(random, images, categories[:4], masks)
    truth = {"images": images, "annotations": annotations,
             "categories": [{"id": c, "name": f"kind {c}"} for c in categories]}
    return truth, results_of(random, annotations, images, categories, masks)


def peer(truth_path, results_path, kind):
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO(str(truth_path))
        judge = COCOeval(truth, truth.loadRes(str(results_path)), kind)
        judge.evaluate()
        judge.accumulate()
        judge.summarize()
    by_category = judge.eval["precision"][:, :, :, 0, 2]
    ap = {c: by_category[:, :, i][by_category[:, :, i] > -1]
          for i, c in enumerate(judge.params.catIds)}
    return judge.stats, {c: v.mean() if v.size else -1 for c, v in ap.items()}


def expect_same(got, wanted):
    got = [-1 if v is None else v for v in got]
    np.testing.assert_allclose(got, wanted, atol=1e-6, rtol=0)


@pytest.mark.parametrize("masks", [False, True], ids=["boxes", "masks"])
@pytest.mark.parametrize("seed", range(12))
def test_twelve_numbers_and_each_category_are_those_of_pycocotools(program, tmp_path, seed, masks):
    pytest.importorskip("pycocotools")
    truth, results = scene(seed, masks)
    truth_path, results_path = tmp_path / "truth.json", tmp_path / "results.json"
    truth_path.write_text(json.dumps(truth))
    results_path.write_text(json.dumps(results))
    got = json.loads(program.run("val", "--gt", truth_path, "--detections", results_path, "--json",
                                 "-", *(["--masks"] if masks else [])))
    summary, categories = peer(truth_path, results_path, "segm" if masks else "bbox")
    assert 0 < summary[0] < 1
    expect_same([got["summary"][name] for name in NAMES], summary)
    expect_same([c["AP"] for c in got["categories"]],
                [categories[c["id"]] for c in got["categories"]])


def test_a_scene_without_small_objects_has_no_number_for_them(program, tmp_path):
    pytest.importorskip("pycocotools")
    truth, results = scene(1, False)
    truth["annotations"] = [a for a in truth["annotations"] if a["area"] > 32 ** 2]
    (tmp_path / "t.json").write_text(json.dumps(truth))
    (tmp_path / "r.json").write_text(json.dumps(results))
    got = json.loads(program.run("val", "--gt", tmp_path / "t.json", "--detections",
                                 tmp_path / "r.json", "--json", "-"))
    assert got["summary"]["AP_small"] is None
    expect_same([got["summary"][name] for name in NAMES], peer(tmp_path / "t.json",
                                                               tmp_path / "r.json", "bbox")[0])
