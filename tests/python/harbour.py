# SPDX-License-Identifier: Apache-2.0
"""The example's network and photos, and the mark of tests that need an engine to run it."""
import importlib.util
import pathlib

import pytest

import halyard

ROOT = pathlib.Path(__file__).parents[2]
HARBOUR = ROOT / "examples/harbour"
MODEL, PHOTO = HARBOUR / "harbour.onnx", HARBOUR / "clip/frame_0000.jpg"
needs_engine = pytest.mark.skipif(
    importlib.util.find_spec("openvino") is None
    or not any("openvino 2" in line for line in halyard.available_engines()),
    reason="OpenVINO is not installed, or not in this build")
