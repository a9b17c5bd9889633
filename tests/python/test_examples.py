# SPDX-License-Identifier: Apache-2.0
"""The programs of examples/python, run as their users run them."""
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import peers  # noqa: F401  a namespace of its own for topics

ROOT = pathlib.Path(__file__).parents[2]
EXAMPLES = ROOT / "examples/python"
HARBOUR = ROOT / "examples/harbour"


def run(name, *arguments, python=sys.executable):
    done = subprocess.run([python, "-B", EXAMPLES / f"{name}.py", *map(str, arguments)],
                          capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    return done.stdout


def needs(*modules):
    for module in modules:
        pytest.importorskip(module, reason=f"{module} is not installed")


def overlap(a, b):
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    common = max(0, width) * max(0, height)
    area = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1])
    return common / (area - common)


def test_detect_finds_what_is_in_the_harbour(tmp_path):
    needs("cv2", "openvino")
    import cv2
    out = tmp_path / "out.png"
    image = HARBOUR / "clip/frame_0000.jpg"
    text = run("detect", HARBOUR / "harbour.onnx", image, out, HARBOUR / "labels.txt")
    truth = json.loads((HARBOUR / "clip_truth.json").read_text())
    found = [(line.split(":")[0], np.array(json.loads(line[line.index("["):])))
             for line in text.splitlines()]
    seen = [o for o in truth["frames"][0]["objects"] if o["visible"] > 0.9]
    hits = [any(name == o["class"] and overlap(box, o["box"]) > 0.5 for name, box in found)
            for o in seen]
    assert len(seen) >= 3 and 3 * sum(hits) >= 2 * len(seen)
    drawn, before = cv2.imread(str(out)), cv2.imread(str(image))
    changed = np.any(np.abs(drawn.astype(int) - before) > 24, axis=2)
    assert drawn.shape == before.shape and 0 < changed.mean() < 0.2


def test_detect_on_a_trained_network(tmp_path):
    needs("cv2", "openvino")
    data = os.environ.get("HALYARD_TESTDATA_DIR")
    if not data or not pathlib.Path(data, "models").is_dir():
        pytest.skip("HALYARD_TESTDATA_DIR names no folder with models")
    text = run("detect", pathlib.Path(data, "models/yolov8n_int8.tflite"),
               pathlib.Path(data, "photos/bus.jpg"), tmp_path / "out.png",
               pathlib.Path(data, "models/coco.txt"))
    names = [line.split(":")[0] for line in text.splitlines()]
    assert names.count("bus") == 1 and names.count("person") >= 3


def test_torch_by_dlpack():
    if "asan" in os.environ.get("LD_PRELOAD", ""):
        pytest.skip("PyTorch is not made for a sanitizer's run-time")
    # PyPI's PyTorch is for CUDA; Debian's belongs to the system's Python.
    for python in (sys.executable, "/usr/bin/python3"):
        if pathlib.Path(python).exists() and not subprocess.run(
                [python, "-c", "import halyard, torch"], capture_output=True).returncode:
            break
    else:
        pytest.skip("torch is not installed")
    text = run("torch_dlpack", python=python)
    assert "same memory both ways, and 1 box decoded from a torch tensor" in text


def test_results_for_other_packages():
    text = run("results", HARBOUR / "clip/frame_0000.jpg")
    assert '"category_id"' in text and "xyxy" in text
    assert "supervision" in text


def test_parties_agree_on_a_buffer_or_are_told_why_not():
    text = run("negotiate_buffer")
    assert "rgb 650x480 pitch 1984" in text and "2 buffers of heap, rows of 1984 bytes" in text
    assert "64 B is asked for by camera (negotiate_buffer.py:" in text
    assert "reconcile: 1 conflict" in text and "legal: [1984]" in text


def test_a_camera_and_a_detector_in_two_processes():
    program = [sys.executable, "-B", EXAMPLES / "camera_topic.py"]
    with subprocess.Popen([*program, "camera", "camera/left", "40"], stdout=subprocess.PIPE,
                          text=True) as camera:
        text = run("camera_topic", "detector", "camera/left", 40)
        assert text == "detector: 40 frames, 0 lost, the square went from column 9 to 107\n"
        assert camera.stdout.read() == "camera: 40 frames sent, 0 of them copied\n"


def test_tensors_and_arrays_are_one_memory():
    text = run("tensors").splitlines()
    assert text[0] == ("Tensor(shape=(3, 320, 320), dtype=float32, memory=mem, format=planar_rgb, "
                       "320x320)")
    assert text[1].startswith("format: 'rbg' is not a known pixel format; did you mean 'rgb'? "
                              "(rgb, rgba,")
