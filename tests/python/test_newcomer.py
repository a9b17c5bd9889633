# SPDX-License-Identifier: Apache-2.0
"""The scripts of examples/python that a newcomer would write, over halyard.Model."""
import json
import os
import pathlib
import shutil
import sys

import numpy as np
import pytest

import halyard
from harbour import HARBOUR, MODEL, PHOTO, ROOT, needs_engine
from helpers import run_python

sys.path.append(str(ROOT / "tests/tools"))
from segmentation_model import segmentation_model  # noqa: E402

pytestmark = needs_engine


def run(name, *arguments):
    done = run_python(ROOT / f"examples/python/{name}.py", *arguments, timeout=200)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def folder(tmp_path):
    """The first six frames of the clip."""
    made = tmp_path / "clip"
    made.mkdir()
    for i in range(6):
        shutil.copy(HARBOUR / f"clip/frame_{i:04}.jpg", made)
    return made


def test_detect_photo(tmp_path):
    text = run("detect_photo", MODEL, PHOTO, tmp_path / "out.jpg")
    names = [line.split(" ")[0] for line in text.splitlines()]
    assert names.count("boat") >= 4 and names.count("buoy") >= 2
    drawn, before = halyard.imread(tmp_path / "out.jpg"), halyard.imread(PHOTO)
    changed = np.any(np.abs(drawn.astype(int) - before) > 40, axis=2)
    assert drawn.shape == before.shape and 0.005 < changed.mean() < 0.2


def test_first_look(folder, tmp_path):
    lines = run("first_look", MODEL, PHOTO, folder, tmp_path / "out").splitlines()
    result = halyard.Model(MODEL)(PHOTO, conf=0.4)
    assert lines[0] == str(result) and len(lines) == len(result) + 2
    assert [line.split(" ")[0] for line in lines[1:-1]] == result.class_names
    assert int(lines[-1].split(" ")[0]) >= 3
    large = halyard.imread(tmp_path / "out/large.jpg").astype(int)
    kept = result[result.box_area > 1000]
    assert 0 < len(kept) < len(result) and np.abs(large - kept.plot()).mean() < 3
    assert len(list((tmp_path / "out").glob("0*.jpg"))) == 6


def test_first_look_on_a_bus(folder, tmp_path):
    data = os.environ.get("HALYARD_TESTDATA_DIR")
    if not data or not pathlib.Path(data, "models").is_dir():
        pytest.skip("HALYARD_TESTDATA_DIR names no folder with models")
    lines = run("first_look", pathlib.Path(data, "models/yolov8n_int8.tflite"),
                pathlib.Path(data, "photos/bus.jpg"), pathlib.Path(data, "photos/zidane.jpg"),
                tmp_path / "out").splitlines()
    assert lines[0] == "3 persons, 1 bus" and lines[-1] == "2 objects in the video"
    boxes = {tuple(json.loads(line[line.index("["):])) for line in lines[1:-1]
             if line.startswith("bus")}
    assert len(boxes) == 1
    assert np.abs(np.array(boxes.pop()) - [31, 231, 797, 769]).max() <= 4


def test_detect_folder(folder):
    lines = [json.loads(line) for line in run("detect_folder", MODEL, folder).splitlines()]
    assert len(lines) == 6 and lines[2]["path"].endswith("frame_0002.jpg")
    assert {found["name"] for line in lines for found in line["detections"]} == {"boat"}


def test_track_video(folder, tmp_path):
    lines = run("track_video", MODEL, folder, tmp_path / "out").splitlines()
    assert sum(line.endswith("6 frames") for line in lines) >= 3
    assert len(list((tmp_path / "out").iterdir())) == 6
    assert halyard.imread(tmp_path / "out/0005.jpg").shape == (360, 640, 3)


def test_own_engine_finds_what_the_own_one_finds():
    if "asan" in os.environ.get("LD_PRELOAD", ""):
        pytest.skip("OpenVINO's Python is not made for a sanitizer's run-time")
    text = run("own_engine", MODEL, PHOTO)
    assert "boats" in text and "buoys" in text
    assert text.strip() == str(halyard.Model(MODEL)(PHOTO, conf=0.4))


def test_images():
    lines = run("images", MODEL, PHOTO).splitlines()
    found = dict(line.split(": ", 1) for line in lines if ": " in line)
    assert found["path"] == found["bytes"] == found["tensor"]
    assert found["numpy"] == found["opencv"] and "float32" in found["numpy"]


def test_coco_results(folder, tmp_path):
    text = run("coco_results", MODEL, folder, tmp_path / "out.json")
    records = json.loads((tmp_path / "out.json").read_text())
    assert text.startswith(f"{len(records)} records") and "supervision" in text
    assert {record["image_id"] for record in records} == set(range(1, 7))
    assert all(len(record["bbox"]) == 4 for record in records)


def test_evaluate(tmp_path):
    truth = json.loads((HARBOUR / "instances.json").read_text())
    truth["images"] = truth["images"][:8]
    truth["annotations"] = [each for each in truth["annotations"] if each["image_id"] <= 8]
    (tmp_path / "gt.json").write_text(json.dumps(truth))
    lines = run("evaluate", MODEL, tmp_path / "gt.json", HARBOUR).splitlines()
    assert lines[0].startswith("boxes: 8 images")
    assert any(line.startswith("AP ") and float(line.split()[1]) > 0.3 for line in lines)
    assert lines[-1].split()[0] in ("boat", "buoy", "gull")


def test_batch(folder):
    lines = run("batch", MODEL, *sorted(folder.iterdir())[:3]).splitlines()
    assert len(lines) == 3 and all(line.split(":")[0] in ("boat", "buoy") for line in lines)


def test_segment(tmp_path):
    """A network whose one mask is what is red in the left half of its box."""
    model, photo, out = (tmp_path / name for name in ("m.onnx", "p.png", "o.png"))
    model.write_bytes(segmentation_model([(32, 32, 48, 24, 0, 0.9, 1, 0, -1)]))
    pixels = np.full((64, 128, 3), (60, 40, 200), np.uint8)
    pixels[:, :64] = 200, 40, 60
    halyard.imwrite(photo, pixels)
    text = run("segment", model, photo, out)
    assert text.startswith("red: ") and "corners" in text
    area = int(text.split()[1])
    assert abs(area - 48 * 48) < 8 * 48  # the left half of a box of 96 x 48
    drawn = halyard.imread(out).astype(int)
    assert np.abs(drawn[34:50, 24:56] - pixels[34:50, 24:56]).max(axis=2).min() > 20
    assert (np.abs(drawn[34:50, 76:104] - pixels[34:50, 76:104]) == 0).all()
    assert "gives no masks" in run("segment", MODEL, PHOTO, out)
