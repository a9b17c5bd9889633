# SPDX-License-Identifier: Apache-2.0
"""What type checkers know of the package: written from it, and clean on the examples."""
import ast
import importlib.util
import inspect
import json
import os
import pathlib
import sys

import pytest

import halyard as ef
from helpers import run_python

ROOT = pathlib.Path(__file__).parents[2]
PACKAGE = pathlib.Path(ef.__file__).parent


def needs(module):
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed")


def run(*arguments, **environment):
    return run_python(*arguments, env={**os.environ, **environment}, timeout=280)


def test_the_stubs_are_those_of_this_build():
    needs("nanobind")
    done = run(ROOT / "tools/python_stub.py", "--check", PYTHONPATH=str(PACKAGE.parent))
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_public_name_is_typed():
    text = (ROOT / "python/halyard/__init__.pyi").read_text()
    for name in ef.__all__:
        assert f" {name} as {name}\n" in text or name == "__version__", name
    assert (ROOT / "python/halyard/py.typed").exists()


# Packages that an example may need and this machine may lack.
OTHERS = "torch cv2 openvino supervision ml_dtypes"
EXAMPLES = [*ROOT.glob("examples/*.py"), *ROOT.glob("examples/python/*.py")]


def mypy(tmp_path, *what):
    config = tmp_path / "mypy.ini"
    config.write_text("[mypy]\nstrict = True\n"
                      f"[mypy-{','.join(name + '.*' for name in OTHERS.split())}]\n"
                      "ignore_missing_imports = True\nfollow_imports = skip\n")
    # All calls share what it knows of the standard library and of NumPy.
    return run("-m", "mypy", "--config-file", config, "--cache-dir", tmp_path.parent / "mypy",
               *what, MYPYPATH=str(ROOT / "python"))


@pytest.fixture(scope="module")
def pyright(tmp_path_factory):
    """Of the examples, right.py and wrong.py: {name of a file: what is wrong with it}, and the
    count of files. One call: it reads NumPy's stubs each time."""
    needs("pyright")
    tmp_path = tmp_path_factory.mktemp("pyright")
    what = [*EXAMPLES, *right_and_wrong(tmp_path)]
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({
        "include": [os.path.relpath(path, tmp_path) for path in what],
        "extraPaths": [os.path.relpath(ROOT / "python", tmp_path)],
        "reportMissingImports": "none", "reportMissingModuleSource": "none"}))
    done = run("-m", "pyright", "-p", tmp_path, "--pythonpath", sys.executable, "--outputjson")
    report = json.loads(done.stdout)
    found = {path.name: [] for path in what}
    for diagnostic in report["generalDiagnostics"]:
        found[pathlib.Path(diagnostic["file"]).name].append(diagnostic)
    return found, report["summary"]["filesAnalyzed"]


def test_the_package_is_clean_under_mypy_strict(tmp_path):
    needs("mypy")
    done = mypy(tmp_path, "-p", "halyard")
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_example_is_clean_under_mypy_strict(tmp_path):
    needs("mypy")
    assert len(EXAMPLES) >= 8
    done = mypy(tmp_path, *EXAMPLES)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_example_is_clean_under_pyright(pyright):
    found, count = pyright
    for path in EXAMPLES:
        assert not found[path.name]
    assert count == len(EXAMPLES) + 2


# What each line is for a type checker.
RIGHT = """
import numpy as np
from typing import Any
from numpy.typing import NDArray
from typing_extensions import assert_type
import halyard
import halyard.edgefirst as ef
from halyard.typing import FitLike

own = halyard.Tensor([2, 3], np.float32, "mem")
assert_type(own.shape, tuple[int, ...])
assert_type(own.dtype, np.dtype[Any])
assert_type(own.reshape(-1, 2), halyard.Tensor)
assert_type(own[0], halyard.Tensor)
assert_type(halyard.from_numpy(np.zeros(3)), halyard.Tensor)
assert_type(halyard.asarray(memoryview(b"")), halyard.Tensor)
assert_type(halyard.imread("x.png", "bgr"), NDArray[np.uint8])
assert_type(own.numpy(), NDArray[Any])
assert_type(own.map().view(), NDArray[Any])
own.orientation = ("horizontal", 90)
own.orientation = "raw"
other = ef.Tensor([2, 3])
assert_type(other.shape, list[int])
assert_type(other.dtype, str)
assert_type(other[0].shape, list[int])
assert_type(ef.ImageProcessor().create_image(8, 8, "rgb").shape, list[int])
fit: FitLike = "letterbox"
placed = halyard.ImageProcessor().convert(own, other, rotation=90, flip="vertical", fit=fit)
assert_type(placed.to_destination([[0, 0, 1, 1]]), NDArray[np.float32])
assert_type(placed.source, tuple[int, int])
tiling = halyard.TilingConfig(640, 640, fit="letterbox").with_fit("stretch")
assert_type(tiling.fit, halyard.Fit)
boxes, scores, classes = halyard.merge_tiled_detections([], [], [], halyard.MergeConfig("iou"))
assert_type(boxes, NDArray[np.float32])
assert_type(classes, NDArray[np.uintp])
Floats = NDArray[np.float32]
tile = halyard.TilePlacement(0, 1, (0, 0), (640, 480), (640, 480))
lifted = halyard.lift_tile_boxes(halyard.Detections([[0, 0, 1, 1]]), None, None, tile)
assert_type(lifted, tuple[Floats, Floats, NDArray[np.uintp]])
lifted = ef.lift_tile_boxes([[0, 0, 1, 1]], [1], [0], tile)
assert_type(lifted, tuple[Floats, Floats, NDArray[np.uintp]])
processor, decoder = halyard.ImageProcessor(), halyard.Decoder({})
drawn = processor.draw_masks(decoder, [], own)
assert_type(drawn, tuple[Floats, Floats, NDArray[np.uintp]])
followed = processor.draw_masks(decoder, [], own, halyard.Tracker("sort"), background="black")
assert_type(followed, tuple[Floats, Floats, NDArray[np.uintp], list[halyard.TrackInfo]])
with_protos = decoder.decode_proto([], batch=0)
assert_type(with_protos, halyard.ProtoDetections)
assert_type(decoder.decode_proto([], None, 1).protos, halyard.ProtoData | None)
assert_type(with_protos.confidence, Floats)
at, sure, which, protos = with_protos
assert_type(at, Floats)
assert_type(protos, halyard.ProtoData | None)
np.asarray(own), memoryview(own)
model = halyard.Model("m.onnx", engine="openvino")
result = model("photo.jpg", conf=0.4, classes=["boat"])
assert_type(result, halyard.Result)
assert_type(model(["a.jpg", "b.jpg"]), list[halyard.Result])
assert_type(next(model("folder", stream=True)), halyard.Result)
assert_type(next(model.track(0, tracker="ocsort")), halyard.Result)
assert_type(result[result.confidence > 0.5], halyard.Result)
assert_type(result[0], halyard.Detection)
assert_type(result.detections, halyard.Detections)
assert_type(result.with_nms().replace(names=["a"]), halyard.Result)
assert_type(halyard.Tracker().update(result), halyard.Result)
assert_type(result.boxes, halyard.Boxes)
assert_type(result.plot(), NDArray[np.uint8])
for frame in halyard.open("topic:camera", timeout=1):
    assert_type(frame, halyard.Frame)
    assert_type(frame.numpy("bgr"), NDArray[np.uint8])
"""
# What type checkers must refuse, a line each.
WRONG = """
halyard.Tensor.image(8, 8, "rbg")
halyard.Tensor([2], mem="heep")
halyard.ImageProcessor().convert(own, own, fit="leterbox")
halyard.ImageProcessor().convert(own, own, rotation=45)
halyard.ImageProcessor().convert(own, own, fitt="letterbox")
own.orientation = "upright"
halyard.ImageProcessor().draw_masks(halyard.Decoder({}), [], own, tracker="sort")
halyard.lift_tile_boxes([[0, 0, 1, 1]], None, None, (0, 1))
halyard.Tensor.image(8, 8, "rgb", access="sometimes")
halyard.open(1.5)
halyard.Model("m.onnx").track("clip.mp4", tracker="botsort")
halyard.Model("m.onnx")("a.jpg", conf="high")
"""


WRONG_LINES = list(range(3, 3 + len(WRONG.strip().splitlines())))


def right_and_wrong(tmp_path):
    right, wrong = tmp_path / "right.py", tmp_path / "wrong.py"
    right.write_text(RIGHT)
    wrong.write_text("import halyard\nown = halyard.Tensor([2])" + WRONG)
    return right, wrong


def test_mypy_knows_words_and_classes(tmp_path):
    needs("mypy")
    done = mypy(tmp_path, *right_and_wrong(tmp_path))
    found = [line.split(":")[:2] for line in done.stdout.splitlines() if ": error:" in line]
    assert {pathlib.Path(path).name for path, _ in found} == {"wrong.py"}, done.stdout
    assert sorted({int(line) for _, line in found}) == WRONG_LINES, done.stdout


def test_pyright_knows_words_and_classes(pyright):
    found, _ = pyright
    assert not [d for d in found["right.py"] if d["severity"] == "error"]
    assert sorted({1 + d["range"]["start"]["line"] for d in found["wrong.py"]}) == WRONG_LINES


def defaults_of(name):
    """Score and IoU thresholds of each function of a class that has them, as the stub has them."""
    tree = ast.parse((ROOT / "python/halyard/_core.pyi").read_text(encoding="ascii"))
    body = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
    found = {}
    for call in body.body:
        if not isinstance(call, ast.FunctionDef):
            continue
        args = call.args.args
        values = dict(zip([arg.arg for arg in args[len(args) - len(call.args.defaults):]],
                          call.args.defaults))
        if "score_threshold" in values:
            found[call.name] = (values["score_threshold"].value, values["iou_threshold"].value)
    return found


def test_defaults_are_those_of_the_page():
    page = (ROOT / "docs/selection.md").read_text(encoding="ascii")
    rows = {}
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 6 and cells[1][:1] == "0":
            rows[cells[0]] = (float(cells[1].split()[0]), float(cells[2]))
    ours = next(value for key, value in rows.items() if "Python's `Decoder`" in key)
    assert len(defaults_of("Decoder")) >= 4
    assert set(defaults_of("Decoder").values()) == {ours}
    theirs = defaults_of("_ReferenceDecoder")
    assert theirs.pop("new_from_outputs") == rows["`halyard.edgefirst.Decoder.new_from_outputs()`"]
    assert set(theirs.values()) == {rows["`halyard.edgefirst.Decoder()`, from a document"]}
    call = inspect.signature(ef.Model.__call__).parameters
    assert (call["conf"].default, call["iou"].default) == ours
