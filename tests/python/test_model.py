# SPDX-License-Identifier: Apache-2.0
"""Model: images of every kind in, Results out, by the C++ engine or by a callable."""
import json
import os
import pathlib
import shutil

import numpy as np
import pytest

import halyard
import models
from harbour import HARBOUR, MODEL, PHOTO, needs_engine
from helpers import fails, in_threads, run_python

SIDE = 64


def box_engine(array):
    """Finds one object: the pixels that are brighter than 0.9."""
    assert array.shape == (1, 3, SIDE, SIDE) and array.dtype == np.float32
    out = np.zeros((1, 6, 400), np.float32)
    rows, columns = np.nonzero(array[0].min(axis=0) > 0.9)
    if len(rows):
        left, right, top, bottom = (columns.min(), columns.max() + 1, rows.min(), rows.max() + 1)
        out[0, :4, 5] = (left + right) / 2, (top + bottom) / 2, right - left, bottom - top
        out[0, 5, 5] = 0.875
    return out


def own(**options):
    return halyard.Model(engine=box_engine, **{"input_size": (SIDE, SIDE), "labels": ["a", "b"],
                                               **options})


def scene(left=40, top=20):
    """(80, 120, 3): a white square of 20 pixels."""
    made = np.full((80, 120, 3), 30, np.uint8)
    made[top:top + 20, left:left + 20] = 255
    return made


@pytest.fixture(scope="module")
def harbour():
    return halyard.Model(MODEL)


def is_found(result, left=40, top=20):
    assert len(result) == 1 and result.names == ("a", "b")
    found = result.detections
    assert found.unit == "source" and found.size == (120, 80)
    assert np.allclose(found.xyxy, [[left, top, left + 20, top + 20]], atol=2.5)
    assert found.class_names == ["b"] and result[0].confidence == 0.875


def test_an_engine_of_ones_own_gives_boxes_in_pixels_of_the_image():
    model = own()
    result = model(scene())
    is_found(result)
    assert result.task == "detect" == model.task and str(result) == "1 b"
    assert set(result.speed) == {"preprocess", "inference", "postprocess"}
    assert len(model(np.zeros((80, 120, 3), np.uint8))) == 0
    for give in (lambda a: [box_engine(a)], lambda a: {"out": box_engine(a)},
                 lambda a: (halyard.Tensor.from_array(box_engine(a)),)):
        is_found(halyard.Model(engine=give, input_size=(SIDE, SIDE), labels=["a", "b"])(scene()))


def test_the_letterbox_is_that_of_ultralytics():
    processor = halyard.ImageProcessor()
    network, differ = halyard.Tensor.image(SIDE, SIDE, "rgb", mem="mem"), 0
    for width, height in ((101, 67), (120, 80), (53, 99)):
        frame = halyard.Tensor.image(width, height, "rgb", mem="mem")
        want, other = (processor.convert(frame, network, letterbox=[0, 0, 0, 255],
                                         letterbox_rule=rule).backward
                       for rule in (halyard.LetterboxRule.Ultralytics, halyard.LetterboxRule.Hal))
        differ += want != other
        assert own()(np.zeros((height, width, 3), np.uint8)).placement.backward == want
    assert differ


def test_layout_and_dtype_are_those_that_the_engine_wants():
    def engine(array):
        assert array.shape == (1, SIDE, SIDE, 3) and array.dtype == np.uint8
        return box_engine((array / np.float32(255)).transpose(0, 3, 1, 2))

    is_found(halyard.Model(engine=engine, input_size=(SIDE, SIDE), labels=["a", "b"],
                           layout="nhwc", dtype="uint8")(scene()))


def test_images_of_every_kind_give_the_same(tmp_path):
    model, pixels = own(), scene()
    path = tmp_path / "scene.png"
    halyard.imwrite(path, pixels)
    tensor = halyard.load(path)
    result = model(path)
    assert result.path == str(path)
    for image in (str(path), path, path.read_bytes(), bytearray(path.read_bytes()), tensor, pixels,
                  np.ascontiguousarray(pixels[::-1])[::-1], np.dstack([pixels, pixels[..., :1]]),
                  pixels[..., 0]):
        is_found(model(image))
    is_found(model(pixels[..., ::-1], bgr=True))
    results = model([path, pixels])
    assert isinstance(results, list) and len(results) == 2
    for each in results:
        is_found(each)


def test_blue_first_is_said():
    seen = []

    def engine(array):
        seen.append(array[0, :, SIDE // 2, SIDE // 2].copy())
        return np.zeros((1, 6, 400), np.float32)

    model = halyard.Model(engine=engine, input_size=(SIDE, SIDE))
    pixels = np.full((64, 64, 3), (255, 0, 51), np.uint8)
    model(pixels)
    model(pixels, bgr=True)
    assert np.allclose(seen, [[1, 0, 0.2], [0.2, 0, 1]])


def test_pillow():
    pillow = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    is_found(own()(pillow.fromarray(scene())))
    is_found(own()(pillow.fromarray(scene()).convert("L")))


def test_deep_images_of_pillow_are_refused():
    pillow = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    for dtype, mode in ((np.uint16, "I;16"), (np.int32, "I"), (np.float32, "F")):
        image = pillow.fromarray(np.full((80, 120), 200).astype(dtype))
        assert image.mode == mode
        fails(ValueError, f"mode '{mode}' has more than 8 bits", lambda: own()(image))
    is_found(own()(pillow.fromarray(scene()).convert("P")))
    is_found(own()(pillow.fromarray(scene()).convert("CMYK")))


def test_arrays_that_are_no_image_are_told_what_would_be():
    model = own()
    for array, text in (
            (scene().transpose(2, 0, 1), r"\(3, 80, 120\); channels are last.*transpose"),
            (scene().astype(np.uint16), r"uint16 .*>> 8"), (scene() / 255, r"float64 .*\* 255"),
            (scene()[None], r"list\(batch\)"), (scene()[..., :2], r"\(80, 120, 2\)"),
            (scene().astype(bool), "bool"), (scene().astype(object), "object"),
            (scene().astype(np.int8), "int8"), (np.zeros(5, np.uint8), r"\(5,\)"),
            (np.zeros((0, 8, 3), np.uint8), "pixels"),
            (np.zeros((8, 0), np.uint8), "pixels")):
        fails(ValueError, f"^image: an array must .*{text}", lambda: model(array))


def test_arrays_of_any_strides_are_images():
    model, whole = own(), np.full((160, 240, 3), 30, np.uint8)
    whole[::2, ::2] = scene()
    columns = np.asfortranarray(scene())
    locked = scene()
    locked.flags.writeable = False
    padded = np.zeros((80, 128, 3), np.uint8)[:, :120]
    padded[...] = scene()
    for array in (whole[::2, ::2], columns, locked, padded, scene()[::-1][::-1],
                  scene()[:, ::-1][:, ::-1]):
        before = array.copy()
        is_found(model(array))
        assert np.array_equal(array, before)


def test_engines_have_names():
    if not any("openvino 2" in line for line in halyard.available_engines()):
        pytest.skip("OpenVINO is not installed, or not in this build")
    assert "openvino" in repr(halyard.Model(MODEL, engine="openvino", device="CPU"))
    for name in ("openvino2", "nothing"):
        fails(halyard.Error, f"engine.*{name}", lambda: halyard.Model(MODEL, engine=name))
    fails(TypeError, "engine: must be callable, or the name", lambda: halyard.Model(engine=3))
    fails(TypeError, "model: must be a file", lambda: halyard.Model(engine="openvino"))


ONNXRUNTIME = """
from halyard import _engines
_engines.prepare_onnxruntime()
_engines.prepare_onnxruntime()
print([library._name for library in _engines._loaded])
"""


def test_the_library_of_the_package_onnxruntime_is_loaded(tmp_path):
    """A package whose library is libm's: as a wheel of ONNX Runtime holds its own."""
    found = [line.split()[-1] for line in open("/proc/self/maps") if "libm.so" in line]
    capi = tmp_path / "onnxruntime/capi"
    capi.mkdir(parents=True)
    (tmp_path / "onnxruntime/__init__.py").write_text("raise AssertionError('is not imported')")
    (capi / "libonnxruntime.so.1.0.0").write_bytes(b"damaged")
    if not found:
        pytest.skip("this process has no libm to copy")
    shutil.copy(found[0], capi / "libonnxruntime.so.1.32.0")
    where = os.pathsep.join([str(tmp_path), str(pathlib.Path(halyard.__file__).parents[1])])
    done = run_python("-c", ONNXRUNTIME, env={**os.environ, "PYTHONPATH": where})
    assert done.stdout.splitlines()[0] == str([str(capi / "libonnxruntime.so.1.32.0")]), done.stderr
    done = run_python("-c", ONNXRUNTIME, env={**os.environ, "PYTHONPATH": where,
                                              "HALYARD_ONNXRUNTIME_DIR": "/nowhere"})
    assert done.stdout.splitlines()[0] == "[]", done.stderr


def test_torch():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    for tensor in (torch.from_numpy(scene()), torch.from_numpy(scene()).permute(2, 0, 1),
                   torch.from_numpy(scene()).permute(2, 0, 1)[None] / 255):
        is_found(own()(tensor))
    fails(ValueError, r"floats in 0..1", lambda: own()(torch.from_numpy(scene()).float()))


def test_what_is_no_image_is_refused(tmp_path):
    for image, error, text in (
            (3, TypeError, "image: must be a path, the bytes"), (None, TypeError, "image"),
            (scene().astype(np.float32), ValueError, "uint8"), (scene()[None], ValueError, "batch"),
            (tmp_path, ValueError, "is a folder; model.stream"),
            ("clip.MP4", ValueError, "is a video; model.stream"),
            ("rtsp://camera/1", ValueError, "is a video; model.stream"),
            (tmp_path / "nothing.jpg", FileNotFoundError, "nothing.jpg"),
            (b"nothing", halyard.Error, "JPEG|malformed"),
            (halyard.Tensor([4, 4], "float32", "mem"), ValueError, "is not an image")):
        fails(error, text, lambda: own()(image))
    for options, error, text in (
            ({}, TypeError, "model"), ({"engine": 3}, TypeError, "engine: must be callable"),
            ({"engine": box_engine}, ValueError, "input_size: must be given"),
            ({"engine": box_engine, "input_size": (8, 8), "layout": "hwc"}, ValueError, "layout"),
            ({"model": "nothing.onnx"}, FileNotFoundError, "nothing.onnx"),
            ({"model": "yolov8n.pt"}, halyard.UnsupportedError, "yolo export model=yolov8n.pt")):
        fails(error, text, lambda: halyard.Model(**options))
    fails(ValueError, "labels: 2 names for the 3 classes",
          lambda: halyard.Model(MODEL, engine=box_engine, labels=["a", "b"]))
    fails(ValueError, "classes: the model has no 'boot'", lambda: own()(scene(), classes=["boot"]))
    fails(ValueError, "score_threshold", lambda: own()(scene(), conf=30))


@needs_engine
def test_a_file_says_all_that_is_needed(harbour):
    assert harbour.names == ("boat", "buoy", "gull") and harbour.input_size == (320, 320)
    assert harbour.task == "detect" and "yolo_det" in harbour.explain()
    assert "harbour" in repr(harbour)
    result = harbour(PHOTO)
    truth = json.loads((HARBOUR / "clip_truth.json").read_text())["frames"][0]["objects"]
    for object_ in (each for each in truth if each["visible"] > 0.9):
        x1, y1, x2, y2 = object_["box"]
        centre = np.array([(x1 + x2) / 2, (y1 + y2) / 2])
        near = [each for each in result if (each.xyxy[:2] < centre).all()
                and (each.xyxy[2:] > centre).all() and each.name == object_["class"]]
        assert near or x2 - x1 < 30, object_
    # By a path or by pixels: one is converted from NV12 in one pass, one was RGB before.
    again = harbour(halyard.imread(PHOTO))
    assert abs(len(again) - len(result)) <= 2


@needs_engine
def test_options_mean_what_they_say(harbour):
    found = harbour(PHOTO)
    sure = harbour(PHOTO, conf=0.6)
    assert 0 < len(sure) < len(found) and sure.detections.confidence.min() >= 0.6
    buoys = harbour(PHOTO, classes=["buoy"])
    assert set(buoys.detections.class_names) == {"buoy"}
    assert len(buoys) == found.detections.class_names.count("buoy")
    assert harbour(PHOTO, classes=1).detections == buoys.detections
    assert len(harbour(PHOTO, max_det=2)) == 2
    assert len(harbour(PHOTO, iou=0.05)) <= len(found) <= len(harbour(PHOTO, iou=0.95))
    assert len(harbour(PHOTO, iou=0.05, agnostic_nms=True)) <= len(harbour(PHOTO, iou=0.05))


@needs_engine
def test_streams_and_tracks_of_a_folder(harbour):
    results = []
    for result in harbour.track(HARBOUR / "clip"):
        results.append(result)
        if len(results) == 10:
            break
    assert [each.index for each in results] == list(range(10))
    assert results[1].timestamp_ns == 40_000_000 and results[3].path.endswith("frame_0003.jpg")
    last = results[-1].detections
    kept = set(last.tracker_id.tolist()) & set(results[5].detections.tracker_id.tolist())
    assert len(last) >= 4 and len(kept) >= 3
    tracker = halyard.Tracker("ocsort")
    images = [HARBOUR / f"clip/frame_{i:04}.jpg" for i in range(6)]
    *_, end = harbour.track(images, tracker=tracker, conf=0.4)
    fails(ValueError, "kind: must be .*'bytetrack.yaml'.; did you mean \"bytetrack\"",
          lambda: next(harbour.track(images, tracker="bytetrack.yaml")))
    assert len(end) >= 3 and end.path.endswith("frame_0005.jpg")
    assert len(list(harbour.stream(images[:3]))) == 3


def test_threads_share_a_model():
    model, wrong = own(), []

    def work(i):
        for _ in range(20):
            result = model(scene(10 + 20 * i), conf=0.1 + 0.1 * i)
            if abs(result[0].xyxy[0] - 10 - 20 * i) > 3:
                wrong.append(i)

    in_threads(work, range(4))
    assert not wrong


def test_masks_keypoints_and_classes_come_out():
    outputs = [models.detection_output(extra=models.PROTOS), models.prototypes()]
    outputs[0][0, :4] *= np.array([640, 480, 640, 480], np.float32)[:, None]
    model = halyard.Model(engine=lambda array: outputs, input_size=models.INPUT,
                          labels=["a", "b", "c", "d", "e"])
    result = model(np.zeros((240, 320, 3), np.uint8))
    assert result.task == "segment" and result.detections.masks.shape == (2, 240, 320)
    assert result.detections[1].mask[180, 220] and not result.detections[1].mask[60, 60]
    document = {"schema_version": 2, "task": "classify",
                "outputs": [{"type": "classification", "shape": [1, 3]}],
                "input": {"shape": [1, 32, 32, 3],
                          "dshape": [["batch", 1], ["height", 32], ["width", 32],
                                     ["num_features", 3]]}}
    model = halyard.Model(engine=lambda a: np.array([[0.1, 0.7, 0.2]], np.float32),
                          description=document, labels={0: "x", 1: "y", 2: "z"})
    result = model(scene())
    assert [name for name, _ in result.top] == ["y", "z", "x"] and len(result) == 0
    assert str(result).startswith("y 0.70") and result.to_dict()["top"][0]["name"] == "y"


@needs_engine
def test_a_trained_network_in_integers():
    data = os.environ.get("HALYARD_TESTDATA_DIR")
    if not data or not pathlib.Path(data, "models").is_dir():
        pytest.skip("HALYARD_TESTDATA_DIR names no folder with models")
    model = halyard.Model(pathlib.Path(data, "models/yolov8n_int8.tflite"))
    names = model(pathlib.Path(data, "photos/bus.jpg")).detections.class_names
    assert names.count("bus") == 1 and names.count("person") >= 3
