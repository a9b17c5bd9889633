# SPDX-License-Identifier: Apache-2.0
"""The demo's detector on the demo's clip, through the whole program, against the exact truth."""
import json
import pathlib

import numpy as np
import pytest
from test_val import NAMES, peer

HARBOUR = pathlib.Path(__file__).parents[2] / "examples" / "harbour"


def overlap(a, b):
    """IoU of two xyxy boxes."""
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    if width <= 0 or height <= 0:
        return 0.0
    inside = width * height
    return inside / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - inside)


def matched(truth, found):
    """Pairs (object, detection) of one class at IoU >= 0.5, best scores first, each used once."""
    pairs, free = [], list(truth)
    for detection in sorted(found, key=lambda d: -d["score"]):
        best = max(free, key=lambda t: overlap(t["box"], detection["box"]), default=None)
        if best is not None and overlap(best["box"], detection["box"]) >= 0.5:
            pairs.append((best, detection))
            free.remove(best)
    return pairs


def run_clip(program, model, *options):
    """Frames of truth beside frames of detections."""
    truth = json.loads((HARBOUR / "clip_truth.json").read_text())
    report = program.folder / "tracks.json"
    program.run("run", HARBOUR / "clip", "--model", HARBOUR / model, "--json", report, *options)
    seen = json.loads(report.read_text())["frames"]
    assert [pathlib.Path(f["source"]).name for f in seen] == \
        [pathlib.Path(f["file"]).name for f in truth["frames"]]
    return truth["classes"], list(zip(truth["frames"], seen))


@pytest.mark.parametrize("model", ["harbour.onnx", "harbour_int8.onnx"])
def test_boats_and_buoys_are_found_where_they_are(program, model):
    classes, frames = run_clip(program, model)
    for name in ("boat", "buoy"):
        objects = detections = pairs = 0
        for truth, seen in frames:
            wanted = [o for o in truth["objects"] if o["class"] in (name, classes.index(name))]
            found = [d for d in seen["detections"] if d["label"] == name]
            objects, detections = objects + len(wanted), detections + len(found)
            pairs += len(matched(wanted, found))
        print(f"{model} {name}: {pairs} of {objects} found, {detections} detections")
        assert pairs / objects > 0.75
        assert pairs / detections > 0.75


def test_a_boat_keeps_its_identity(program):
    classes, frames = run_clip(program, "harbour.onnx", "--track", "--track-score", 0.6)
    identities = {}
    for truth, seen in frames:
        wanted = [o for o in truth["objects"] if o["class"] in ("boat", classes.index("boat"))]
        found = [d for d in seen["detections"] if d["track"] is not None and d["label"] == "boat"]
        for thing, detection in matched(wanted, found):
            identities.setdefault(thing["id"], []).append(detection["track"])
    purity = [max(np.unique(ids, return_counts=True)[1]) / len(ids)
              for ids in identities.values() if len(ids) >= 20]
    print(f"{len(purity)} boats, share of the main identity {np.round(purity, 2)}")
    assert len(purity) >= 4
    assert np.mean(purity) > 0.8


def coco_truth():
    clip = json.loads((HARBOUR / "clip_truth.json").read_text())
    images, annotations = [], []
    for index, frame in enumerate(clip["frames"], 1):
        images.append({"id": index, "file_name": pathlib.Path(frame["file"]).name,
                       "width": clip["width"], "height": clip["height"]})
        for thing in frame["objects"]:
            x1, y1, x2, y2 = thing["box"]
            annotations.append({"id": len(annotations) + 1, "image_id": index, "iscrowd": 0,
                                "category_id": clip["classes"].index(thing["class"]),
                                "bbox": [x1, y1, x2 - x1, y2 - y1],
                                "area": (x2 - x1) * (y2 - y1)})
    categories = [{"id": i, "name": name} for i, name in enumerate(clip["classes"])]
    return {"images": images, "annotations": annotations, "categories": categories}


@pytest.mark.parametrize("model,least", [("harbour.onnx", 0.42), ("harbour_int8.onnx", 0.40)])
def test_average_precision_on_the_clip_is_that_of_pycocotools(program, tmp_path, model, least):
    pytest.importorskip("pycocotools")
    truth, out = tmp_path / "truth.json", tmp_path / "out.json"
    truth.write_text(json.dumps(coco_truth()))
    got = json.loads(program.run("val", "--gt", truth, "--model", HARBOUR / model, "--images",
                                 HARBOUR / "clip", "--out", out, "--json", "-", "--quiet"))
    want, _ = peer(truth, out, "bbox")
    ours = [-1 if got["summary"][name] is None else got["summary"][name] for name in NAMES]
    np.testing.assert_allclose(ours, want, atol=1e-6, rtol=0)
    print(f"{model}: AP {want[0]:.4f}, AP50 {want[1]:.4f}")
    assert least < want[0] < want[1]
