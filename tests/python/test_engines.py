# SPDX-License-Identifier: Apache-2.0
"""Engines by name, runs in flight and batches from Python."""
import importlib.util

import numpy as np
import pytest

import halyard
from harbour import MODEL, PHOTO, needs_engine
from helpers import fails

needs_onnxruntime = pytest.mark.skipif(
    importlib.util.find_spec("onnxruntime") is None
    or not any("onnxruntime 1" in line for line in halyard.available_engines()),
    reason="the package onnxruntime is not installed")


@needs_engine
def test_runs_in_flight_give_what_run_gives():
    engine = halyard.Engine(MODEL, requests=3)
    assert engine.name == "openvino"
    engine.warm_up(2)
    (made,) = engine.make_inputs()
    frame = halyard.load(PHOTO)
    halyard.ImageProcessor().convert(frame, made, letterbox=[114, 114, 114, 255])
    want = np.array(engine.run(made)[0])
    flying = [engine.submit(made) for _ in range(2)]
    for request in flying:
        assert np.array_equal(np.asarray(request.wait()[0]), want)
        queue, run = request.times
        assert queue >= 0 and run > 0 and request.is_ready()
        fails(ValueError, "taken", request.wait)
    flying[0].cancel()
    del flying
    third = engine.submit([made])
    third.cancel()
    try:
        third.wait()
    except halyard.Error:
        pass


def test_wrong_names_and_options_are_told():
    fails(ValueError, "openvino, onnxruntime, tflite", lambda: halyard.Engine(MODEL, engine="none"))
    fails(TypeError, "engine", lambda: halyard.Engine(MODEL, engine=3))
    fails(TypeError, "settings", lambda: halyard.Engine(MODEL, settings={"a": 1}))
    fails(ValueError, "batch", lambda: halyard.Engine(MODEL, batch=0))
    fails(halyard.UnsupportedError, "delegate",
          lambda: halyard.Engine(MODEL, engine="openvino", delegate="/x.so"))


@needs_onnxruntime
def test_onnxruntime_is_found_in_its_package_and_agrees():
    model = halyard.Model(MODEL, engine="onnxruntime")
    assert model.engine.name == "onnxruntime"
    found = model(str(PHOTO)).detections
    assert len(found) > 0
    fails(halyard.Error, "it has .*CPU",
          lambda: halyard.Engine(MODEL, "CUDA", engine="onnxruntime"))
    if any("openvino 2" in line for line in halyard.available_engines()):
        other = halyard.Model(MODEL, engine="openvino")(str(PHOTO)).detections
        assert len(other) == len(found)
        assert np.abs(np.asarray(other.xyxy) - np.asarray(found.xyxy)).max() < 1
