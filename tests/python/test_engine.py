# SPDX-License-Identifier: Apache-2.0
"""Engine: the C++ engine from Python, and what it says of models."""
import importlib.util
import json
import os
import pickle

import numpy as np
import pytest

import halyard
from harbour import HARBOUR, MODEL, needs_engine
from helpers import fails, in_threads, run_python


@pytest.fixture(scope="module")
def engine():
    return halyard.Engine(MODEL)


@needs_engine
def test_an_engine_says_what_it_takes_and_gives(engine):
    (taken,), (given,) = engine.inputs, engine.outputs
    assert (taken.shape, taken.dtype) == ((1, 3, 320, 320), "float32")
    assert taken.format == halyard.PixelFormat.PlanarRgb and taken.quantization is None
    assert given.shape == (1, 7, 2100) and "float32" in repr(given)
    assert engine.input_size == (320, 320) and engine.labels == ["boat", "buoy", "gull"]
    assert engine.metadata["task"] == "detect" and engine.runtime.startswith("openvino")
    assert engine.path == str(MODEL) and str(MODEL) in repr(engine)


@needs_engine
def test_it_gives_what_openvino_gives_over_its_own_memory(engine):
    if "asan" in os.environ.get("LD_PRELOAD", ""):
        pytest.skip("OpenVINO's Python is not made for a sanitizer's run-time")
    import openvino
    pixels = halyard.imread(HARBOUR / "clip/frame_0000.jpg")[:320, :320]
    image = np.ascontiguousarray(pixels.transpose(2, 0, 1)[None] / np.float32(255))
    want = openvino.Core().compile_model(str(MODEL), "CPU")(image)[0]
    for given in (image, [image], (halyard.Tensor.from_array(image),), image[0]):
        (found,) = engine.run(given)
        assert isinstance(found, halyard.Tensor)
        # Both may compute in bfloat16, each in its own order.
        found = np.asarray(found)
        assert np.abs(found[:, 4:] - want[:, 4:]).max() < 0.05
        assert np.median(np.abs(found[:, :4] - want[:, :4])) < 0.5
    first = np.asarray(engine.run(image)[0])
    kept = first.copy()
    engine.run(np.zeros_like(image))
    assert np.array_equal(first, kept)  # not overwritten while it lives
    for wrong, text in ((image[:, :, :100], "shape"), ([image, image], "inputs|count"),
                        (image.astype(np.float64), "float|f64|type")):
        fails(ValueError, text, lambda: engine.run(wrong))


@needs_engine
def test_the_input_is_filled_by_convert_and_outputs_decoded_where_they_lie(engine):
    made = engine.create_input()
    frame = halyard.load(HARBOUR / "clip/frame_0000.jpg")
    placed = halyard.ImageProcessor().convert(frame, made, letterbox=[114, 114, 114, 255])
    decoder = halyard.Decoder.for_model(engine, 0.4)
    found = decoder.decode(engine.run(made)).to_source(placed)
    assert found.names == ("boat", "buoy", "gull") and len(found) >= 5 and found.size == (640, 360)
    assert "yolo_det" in decoder.explain() and "score >= 0.4" in decoder.explain()
    assert halyard.Decoder.for_model(MODEL, 0.4).decode(engine.run(made)).to_source(placed) == found


@needs_engine
def test_threads_run_at_once(engine):
    images = [np.full((1, 3, 320, 320), i / 4, np.float32) for i in range(4)]
    want = [np.array(engine.run(each)[0]) for each in images]
    wrong = []

    def work(i):
        for _ in range(5):
            if not np.array_equal(np.asarray(engine.run(images[i])[0]), want[i]):
                wrong.append(i)

    in_threads(work, range(4))
    assert not wrong


def test_a_model_is_described_without_an_engine():
    made = halyard.describe_model(MODEL)
    assert (made.task, made.labels, made.input_size) == ("detect", ["boat", "buoy", "gull"],
                                                         (320, 320))
    assert made.origins["labels"].startswith("metadata") and made.warnings == []
    assert json.loads(made.to_json())["outputs"] and "head: yolo_det" in made.explain()
    assert halyard.ModelDescription.from_json(made.to_json()) == made
    assert pickle.loads(pickle.dumps(made)) == made
    fails(FileNotFoundError, lambda: halyard.describe_model("nothing.onnx"))


def test_what_is_no_model_is_told(tmp_path):
    bad = tmp_path / "bad.onnx"
    bad.write_bytes(b"nothing")
    fails(halyard.Error, "bad.onnx: ", lambda: halyard.describe_model(bad))
    if importlib.util.find_spec("openvino") is not None:
        fails(halyard.Error, "bad.onnx", lambda: halyard.Engine(bad))
    fails(TypeError, "path", lambda: halyard.Engine(3))


def test_without_openvino_the_message_says_what_to_install():
    """The package hidden, and the build's own search path out of the way."""
    text = ("import importlib.util as u\nfind = u.find_spec\n"
            "u.find_spec = lambda name, *rest: None if name == 'openvino' else find(name, *rest)\n"
            "import halyard._openvino as o\n"
            "print(o.folder(), o.explain('OpenVINO cannot be loaded', True))\n")
    done = run_python("-c", text)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("None OpenVINO cannot be loaded: install it with "
                                  "`pip install halyard-vision[openvino]`, or hand in an engine")


@needs_engine
def test_the_library_is_that_of_the_package():
    """Nothing is set: the package's folder is found, and its library loaded before the object."""
    text = ("import os\nos.environ.pop('HALYARD_OPENVINO_DIR', None)\n"
            "import halyard, halyard._openvino as o\n"
            f"halyard.Engine({str(MODEL)!r})\n"
            "assert o._loaded, 'not loaded'\nprint(o._loaded[0]._name.startswith(o.folder()))\n")
    done = run_python("-c", text)
    assert done.stdout == "True\n", done.stderr
