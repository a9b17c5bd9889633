# SPDX-License-Identifier: Apache-2.0
"""Result: Detections with their image, by the names of Ultralytics and supervision too."""
import copy
import inspect
import json
import pickle
import sys
import types

import numpy as np
import pytest

import halyard
import models
from harbour import MODEL, PHOTO, needs_engine
from helpers import fails

W, H, SIDE = 160, 120, 160
# Centres and sizes in the network's input, where the image has 20 rows of pad above it.
OBJECTS = [(70, 70, 60, 60, 1, 0.9), (120, 110, 40, 40, 0, 0.75), (30, 100, 20, 40, 1, 0.5)]
BOXES = [[40, 20, 100, 80], [100, 70, 140, 110], [20, 60, 40, 100]]


def engine(array):
    out = np.zeros((1, 6, 400), np.float32)
    for column, (*box, label, score) in enumerate(OBJECTS):
        out[0, :4, column] = box
        out[0, 4 + label, column] = score
    return out


def model(**options):
    return halyard.Model(engine=engine, input_size=(SIDE, SIDE), labels=["buoy", "boat"],
                         **options)


def result(**options):
    return model()(np.full((H, W, 3), 50, np.uint8), **options)


def test_a_result_is_detections():
    seen = result()
    assert isinstance(seen, halyard.Detections) and isinstance(seen, halyard.Result)
    assert np.allclose(seen.xyxy, BOXES) and seen.unit == "source" and seen.size == (W, H)
    assert seen.confidence.tolist() == [np.float32(0.9), 0.75, 0.5]
    assert seen.class_id.tolist() == [1, 0, 1] and seen.names == ("buoy", "boat")
    assert seen.tracker_id is None and seen.masks is None
    assert seen.class_names == ["boat", "buoy", "boat"]
    assert seen.box_area.tolist() == [3600, 1600, 800]
    assert seen == seen.detections and type(seen.detections) is halyard.Detections
    assert [each.name for each in seen] == ["boat", "buoy", "boat"] and len(seen) == 3
    assert seen[-1].xyxy.tolist() == [20, 60, 40, 100]


def test_a_part_of_a_result_keeps_the_image():
    seen = result()
    for part, rows in ((seen[seen.confidence > 0.6], [0, 1]), (seen[1:], [1, 2]),
                       (seen[[2, 0]], [2, 0]), (seen[seen.class_id == 1], [0, 2]),
                       (seen.with_nms(0.5), [0, 1, 2]), (seen[[]], [])):
        assert isinstance(part, halyard.Result) and np.allclose(part.xyxy, np.array(
            BOXES, np.float32)[rows].reshape(-1, 4))
        assert part.image is seen.image and part.placement is seen.placement
    renamed = seen.replace(names=["a", "b"])
    assert renamed[0].name == "b" and renamed.image is seen.image and renamed.task == "detect"
    # What is put together, or kept one by one, does not hold the image.
    for other in (seen + seen, halyard.Detections.merge([seen, seen.detections])):
        assert type(other) is halyard.Detections and len(other) == 6
    assert type(halyard.Result.empty()) is halyard.Detections
    assert type(seen[0]._of) is halyard.Detections
    assert all(type(each._of) is halyard.Detections for each in seen)


def test_fields_cannot_be_set():
    fails(AttributeError, "replace", lambda: setattr(result(), "names", ["x"]),
          lambda: setattr(result(), "image", None))


def test_plots_show_only_what_is_kept():
    seen = result()
    blank = np.full((H, W, 3), 50, np.uint8)
    both = [np.abs(part.plot().astype(int) - blank).sum(axis=2) > 0
            for part in (seen, seen[1:], seen[[]])]
    assert both[0][20, 60:95].all() and not both[1][20, 60:95].any() and not both[2].any()
    assert both[1][109, 105:135].all()
    assert np.array_equal(seen.plot(), seen.detections.plot(blank))
    red = np.full((H, W, 3), (200, 0, 0), np.uint8)
    assert np.array_equal(seen[[]].plot(red), red)
    assert np.array_equal(seen[[]].plot(red[..., ::-1], bgr=True), red)
    fails(ValueError, "image: must be given", lambda: seen.detections.plot())
    fails(ValueError, "belong to an image of", lambda: seen.plot(np.zeros((H, 80, 3), np.uint8)))


def test_notebooks_show_results_frames_and_detections(tmp_path):
    seen = result()
    png = halyard.Tensor.load_from_bytes(seen._repr_png_())
    assert np.array_equal(np.asarray(png), seen.plot())
    canvas = np.full((H, W, 3), 96, np.uint8)  # of Detections the image is not known
    png = halyard.Tensor.load_from_bytes(seen.detections._repr_png_())
    assert np.array_equal(np.asarray(png), seen.detections.plot(canvas))
    assert halyard.Detections([[0, 0, 1, 1]])._repr_png_() is None
    assert halyard.Detections.empty(size=(8, 8))._repr_png_() is None
    halyard.imwrite(tmp_path / "wide.png", np.zeros((16, 2000, 3), np.uint8))
    (frame,) = halyard.open(tmp_path / "wide.png")
    assert halyard.Tensor.load_from_bytes(frame._repr_png_()).width == 1024
    wide = model()(tmp_path / "wide.png")
    assert halyard.Tensor.load_from_bytes(wide._repr_png_()).width == 1024


def test_ultralytics_names():
    seen = result()
    boxes = seen.boxes
    assert len(boxes) == 3 and boxes.shape == (3, 6) and boxes.orig_shape == (H, W)
    assert np.allclose(boxes.xyxy, BOXES) and np.allclose(boxes.xywh[0], [70, 50, 60, 60])
    assert np.allclose(boxes.xyxyn[1], [100 / W, 70 / H, 140 / W, 110 / H])
    assert np.allclose(boxes.xywhn[0], [70 / W, 50 / H, 60 / W, 60 / H])
    assert boxes.id is None and not boxes.is_track
    assert np.allclose(boxes.data[2], [20, 60, 40, 100, 0.5, 1])
    # As programs for Ultralytics are written.
    rows = []
    for box in seen.boxes:
        rows.append((seen.names[int(box.cls)], round(float(box.conf), 2),
                     box.xyxy[0].cpu().numpy().astype(int).tolist(), int(box.cls[0])))
    assert rows[1] == ("buoy", 0.75, [100, 70, 140, 110], 0)
    array = boxes.xyxy.detach().cpu().numpy()
    assert type(array) is np.ndarray and array.base is not None
    assert np.array_equal(boxes[boxes.conf > 0.6].cls.numpy(), [1, 0])
    assert boxes[-1].cpu().numpy().conf.tolist() == [0.5] and "3 in 160 x 120" in repr(boxes)
    fails(IndexError, "index 3 of 3", lambda: boxes[3])
    assert seen.orig_shape == (H, W) and seen.probs is None
    tracked = halyard.Tracker().update(seen)
    assert isinstance(tracked, halyard.Result) and tracked.boxes.id.tolist() == [1, 2]
    assert tracked.boxes.data.shape == (2, 7) and tracked.boxes.data[1, 4] == 2
    for name, text in (("orig_img", "imread"), ("mask", "result.masks"), ("verbose", "str")):
        fails(AttributeError, text, lambda: getattr(seen, name))
    for name, text in (("boxes", r"model\(\[image\]\) a list"), ("conf", "found.confidence")):
        fails(AttributeError, text, lambda: getattr(seen[0], name))


def test_classes_of_an_image_by_ultralytics_names():
    document = {"schema_version": 2, "task": "classify",
                "outputs": [{"type": "classification", "shape": [1, 6]}],
                "input": {"shape": [1, 32, 32, 3],
                          "dshape": [["batch", 1], ["height", 32], ["width", 32],
                                     ["num_features", 3]]}}
    scores = np.array([[0.05, 0.4, 0.2, 0.04, 0.3, 0.01]], np.float32)
    seen = halyard.Model(engine=lambda a: scores, description=document,
                         labels=list("abcdef"))(np.zeros((H, W, 3), np.uint8))
    assert seen.probs.top1 == 1 and seen.probs.top1conf == pytest.approx(0.4)
    assert seen.probs.top5 == [1, 4, 2, 0, 3] and "top1=1" in repr(seen.probs)
    assert np.allclose(seen.probs.top5conf.cpu().numpy(), [0.4, 0.3, 0.2, 0.05, 0.04])
    assert len(seen.boxes) == 0 and seen.top[0][0] == "b"


class FakeDetections:
    """The constructor of supervision.Detections 0.31.2."""

    def __init__(self, xyxy, mask=None, confidence=None, class_id=None, tracker_id=None, data={},
                 metadata={}):
        self.xyxy, self.mask, self.confidence, self.class_id = xyxy, mask, confidence, class_id
        self.tracker_id, self.data = tracker_id, data

    def __len__(self):
        return len(self.xyxy)


@pytest.fixture(params=["fake", "real"])
def supervision(request, monkeypatch):
    if request.param == "real":
        real = pytest.importorskip("supervision", reason="supervision is not installed")
        fields = list(inspect.signature(real.Detections).parameters)
        assert fields == list(inspect.signature(FakeDetections).parameters)
        return real
    fake = types.ModuleType("supervision")
    fake.Detections = FakeDetections
    monkeypatch.setitem(sys.modules, "supervision", fake)
    return fake


def test_supervision_gets_every_field(supervision):
    seen = halyard.Tracker().update(result())
    made = seen.to_supervision()
    assert isinstance(made, supervision.Detections) and len(made) == 2
    assert np.allclose(made.xyxy, BOXES[:2]) and made.xyxy.dtype == np.float32
    assert made.confidence.tolist() == [np.float32(0.9), 0.75]
    assert made.class_id.tolist() == [1, 0] and made.class_id.dtype == int
    assert made.tracker_id.tolist() == [1, 2] and made.mask is None
    assert made.data["class_name"].tolist() == ["boat", "buoy"]
    masks = np.zeros((2, 30, 40), bool)
    masks[1, 5:10, 6:9] = True
    made = halyard.Detections([[0, 0, 9, 9], [6, 5, 9, 10]], masks=masks).to_supervision()
    assert np.array_equal(made.mask, masks) and made.tracker_id is None
    assert len(result()[[]].to_supervision()) == 0


def test_supervision_reads_a_result_as_one_of_ultralytics():
    real = pytest.importorskip("supervision", reason="supervision is not installed")
    seen = result()
    made = real.Detections.from_ultralytics(seen)
    assert np.array_equal(made.xyxy, seen.xyxy) and made.class_id.tolist() == [1, 0, 1]
    assert made.data["class_name"].tolist() == ["boat", "buoy", "boat"]


def test_coco_and_json():
    seen = result()
    records = seen.to_coco(image_id=7, category_ids=[10, 20])
    assert [each["category_id"] for each in records] == [20, 10, 20]
    assert records[0]["image_id"] == 7 and records[0]["bbox"] == pytest.approx([40, 20, 60, 60])
    said = json.loads(seen.to_json())
    assert said["size"] == [W, H] and said["detections"][1]["name"] == "buoy"
    assert said["task"] == "detect" and set(said["speed"]) == set(seen.speed)
    assert "\n" in seen.to_json(indent=1)


def copies(value):
    return copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))


def test_results_frames_and_placements_are_copied(tmp_path):
    seen = result()
    for each in copies(seen):
        assert type(each) is halyard.Result and each == seen and each.placement == seen.placement
        assert each.names == seen.names and each.speed == seen.speed and each.task == "detect"
        assert np.array_equal(np.asarray(each.image), np.asarray(seen.image))
        assert np.array_equal(each.plot(), seen.plot())
    for each in copies(seen[0]):
        assert each == seen[0] and each.name == "boat"
    for each in copies(seen.detections):
        assert each == seen and type(each) is halyard.Detections
    halyard.imwrite(tmp_path / "a.png", np.arange(60 * 3, dtype=np.uint8).reshape(6, 10, 3))
    (frame,) = halyard.open(tmp_path / "a.png")
    for each in copies(frame):
        assert np.array_equal(each.numpy(), frame.numpy()) and each.index == 0
        assert repr(each) == repr(frame) and "10 x 6" in repr(frame)


def test_placements_are_exact_after_a_copy():
    processor = halyard.ImageProcessor()
    image = halyard.Tensor.image(101, 67, "rgb", mem="mem")
    network = halyard.Tensor.image(64, 48, "rgb", mem="mem")
    pad = [0, 0, 0, 255]
    for options in ({}, {"letterbox": pad}, {"letterbox": pad, "rotation": 90},
                    {"letterbox": pad, "letterbox_rule": "ultralytics"}, {"flip": "horizontal"},
                    {"letterbox": pad, "letterbox_rule": "ultralytics", "rotation": 270},
                    {"fit": "cover", "rotation": 180}):
        placed = processor.convert(image, network, **options)
        for each in copies(placed):
            assert each == placed and repr(each) == repr(placed), options
            assert (each.forward, each.backward) == (placed.forward, placed.backward), options
            assert (each.crop, each.letterbox) == (placed.crop, placed.letterbox), options
    other = processor.convert(image, network, rotation=180)
    assert other != processor.convert(image, network) and other != 3
    from halyard._core import _placement_of
    fails(ValueError, "orientation", lambda: _placement_of(
        (1, 1), (0, 0, 1, 1), (9, 0, 0), (1, 1), (0, 0, 1, 1), (1, 0, 0, 0, 1, 0)))


def test_what_holds_a_camera_s_state_is_not_copied():
    for value in (halyard.Tracker("ocsort"), halyard.Overlay()):
        for call in (copy.copy, copy.deepcopy, pickle.dumps):
            fails(TypeError, "is not copied or pickled", lambda: call(value))
    assert repr(halyard.Overlay(["a"], color_by="track")).startswith("Overlay(1 names, color_by")


@needs_engine
def test_a_model_is_opened_again_by_its_file():
    first = halyard.Model(MODEL, threads=1)
    again = pickle.loads(pickle.dumps(first))
    assert repr(again) == repr(first) and again.engine is not first.engine
    assert again(PHOTO) == first(PHOTO)
    mine = pickle.loads(pickle.dumps(model()))
    assert mine(np.zeros((H, W, 3), np.uint8)) == result()
    assert "320 x 320, 3 labels" in repr(first.description)


def test_a_frame_is_an_image():
    pixels = np.full((H, W, 3), (10, 60, 200), np.uint8)
    tensor = halyard.tensor(pixels)
    tensor.set_format("rgb")
    frame = halyard.Frame(tensor, "camera:0", 5, 70_000_000)
    seen = model()(frame)
    assert (seen.path, seen.index, seen.timestamp_ns) == ("camera:0", 5, 70_000_000)
    assert seen == result() and seen.image is tensor
    assert np.array_equal(frame.numpy(), pixels)
    assert np.array_equal(frame.numpy("bgr"), pixels[..., ::-1])
    fails(ValueError, "format", lambda: frame.numpy("hsv"))
    message = halyard.Image.from_numpy(pixels)
    assert model()(message) == result()


def test_masks_belong_to_the_part_that_is_kept():
    outputs = [models.detection_output(extra=models.PROTOS), models.prototypes()]
    outputs[0][0, :4] *= np.array([640, 480, 640, 480], np.float32)[:, None]
    seen = halyard.Model(engine=lambda a: outputs, input_size=models.INPUT,
                         labels=list("abcde"))(np.zeros((240, 320, 3), np.uint8))
    assert seen.masks.shape == (2, 240, 320)
    assert np.array_equal(seen[1:].masks[0], seen.masks[1]) and seen[1:].masks.any()
    assert np.array_equal(pickle.loads(pickle.dumps(seen)).masks, seen.masks)
    assert seen.to_coco()[1]["segmentation"]["size"] == [240, 320]
