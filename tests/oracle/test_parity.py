# SPDX-License-Identifier: Apache-2.0
"""Every step between an image and its detections against trainer.py: what Ultralytics does, in
NumPy and OpenCV. Recorded outputs of real networks, and generated ones with near ties."""
import json
import os
import subprocess

import numpy as np
import pytest
import trainer
from test_boxes import NAMES
from test_resample import random_image

PRESETS = list(trainer.RULES)
TIE = 2e-6         # of an overlap: what f32 corners at 640 px may move it by
UNDECIDED = 1e-3   # of a logit


class Ours:
    """One call of the parity program in a folder of its own."""

    def __init__(self, folder, image, outputs=(), family="yolov8", preset="ultralytics-val",
                 rule="ultralytics", classes=80, size=(640, 640), keypoints=0, quant=None,
                 fraction=False):
        cv2 = pytest.importorskip("cv2")
        if isinstance(image, np.ndarray):
            cv2.imwrite(str(folder / "image.png"), image[:, :, ::-1])
        else:
            (folder / "image.jpg").write_bytes(image.read_bytes())
        for i, output in enumerate(outputs):
            np.save(folder / f"output{i}.npy", output)
        numbers = [classes, *size, keypoints, *(quant or (0, 0)), int(fraction)]
        path = os.environ.get("HALYARD_PARITY_PROGRAM", "halyard_parity_program")
        done = subprocess.run([path, str(folder), family, preset, rule, *map(repr, numbers)],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        self.folder = folder
        self.input = np.load(folder / "input.npy")
        if outputs:
            found = np.load(folder / "found.npy")
            self.labels, self.anchors = found[:, 0].astype(int), found[:, 1].astype(int)
            self.scores, self.boxes, self.shown = found[:, 2], found[:, 3:7], found[:, 7:11]

    def load(self, name):
        return np.load(self.folder / f"{name}.npy")


def blank(size):
    return np.full((size[1], size[0], 3), 90, np.uint8)


def expect_same(ours, want, letterbox):
    """The same detections in the same order; coordinates to 1e-3 px, what f32 leaves of them."""
    np.testing.assert_array_equal(ours.anchors, want.anchors)
    np.testing.assert_array_equal(ours.labels, want.labels)
    np.testing.assert_allclose(ours.scores, want.scores, atol=1e-6)
    np.testing.assert_allclose(ours.boxes, want.boxes, atol=1e-3)
    np.testing.assert_allclose(ours.shown, letterbox.boxes_back(want.boxes), atol=1e-3)


def expect_greedy(ours, raw, classes, rules):
    """Each decision of ours is the plain one, but where an overlap is within TIE of the threshold:
    there either is right, and what follows may differ from any other implementation."""
    raw = raw.astype(np.float64)
    anchors, labels = trainer.candidates(raw[4:4 + classes], rules)
    boxes = trainer.corners(raw[:4, anchors])
    place = {pair: i for i, pair in enumerate(zip(anchors.tolist(), labels.tolist()))}
    kept = [place[pair] for pair in zip(ours.anchors.tolist(), ours.labels.tolist())]
    assert kept == sorted(kept)
    end = kept[-1] if len(kept) == trainer.MOST_DETECTIONS else len(anchors)
    is_kept = np.zeros(len(anchors), bool)
    is_kept[kept] = True
    for i in range(end):
        before = np.array([k for k in kept if k < i and labels[k] == labels[i]], int)
        most = trainer.overlaps(boxes[i], boxes[before]).max() if before.size else 0
        assert most < trainer.OVERLAP + TIE if is_kept[i] else most > trainer.OVERLAP - TIE


# Scale, new size, pads, resample, network input.

@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("size", [(640, 480), (1283, 720), (333, 222), (101, 67), (97, 640),
                                  (1023, 511), (640, 640), (75, 1001)])
def test_the_network_s_input_is_that_of_the_trainer(tmp_path, size, preset):
    image = random_image(31, *size)
    letterbox = trainer.Letterbox.of(size, (640, 640), trainer.RULES[preset].enlarges)
    want = letterbox.network_input(image)
    got = Ours(tmp_path, image, preset=preset).input
    # Ours rounds once, to f32; OpenCV to bytes, and its weights have 11 bits.
    print(f"{size} {preset}: at most {np.abs(got - want).max() * 255:.3f} of 255")
    assert np.abs(got - want).max() < 1 / 255
    outside = np.ones((640, 640), bool)
    letterbox.cut(outside)[:] = False
    np.testing.assert_allclose(got[:, outside], np.float32(114) / 255, rtol=2e-7)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("name", ["bus", "zidane", "bus_320"])
def test_photographs_reach_the_network_as_the_trainer_s_do(tmp_path, testdata, name, preset):
    cv2 = pytest.importorskip("cv2")
    path = testdata / "photos" / f"{name}.jpg"
    rgb = cv2.imread(str(path), cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION)[:, :, ::-1]
    size = rgb.shape[1], rgb.shape[0]
    letterbox = trainer.Letterbox.of(size, (640, 640), trainer.RULES[preset].enlarges)
    want = letterbox.network_input(np.ascontiguousarray(rgb))
    got = Ours(tmp_path, path, preset=preset).input
    steps = np.abs(got - want) * 255
    print(f"{name} {preset}: at most {steps.max():.0f}, mean {steps.mean():.3f}")
    assert steps.max() < 2.5 and steps.mean() < 0.35


# Candidates, order, suppression, the way back: recorded outputs.

def recorded(testdata, name):
    """Tensor as recorded, real values with boxes in pixels of the input, description."""
    folder = testdata / "model_outputs"
    meta = json.loads((folder / f"{name}.json").read_text())
    stored = np.load(folder / f"{name}.npy")
    raw = stored[0].astype(np.float64)
    quant = meta["outputs"][0]["quantization"]
    if quant:
        raw = (raw - quant["zero_point"]) * np.float64(np.float32(quant["scale"]))
    raw[:4] *= np.array([[meta["input_width"]], [meta["input_height"]]] * 2).reshape(4, 1)
    return stored, raw, meta, quant


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("name", NAMES)
def test_recorded_outputs_give_the_trainer_s_boxes(tmp_path, testdata, name, preset):
    stored, raw, meta, quant = recorded(testdata, name)
    rules = trainer.RULES[preset]
    image = meta["image_width"], meta["image_height"]
    size = meta["input_width"], meta["input_height"]
    ours = Ours(tmp_path, blank(image), [stored], preset=preset, size=size, fraction=True,
                quant=(quant["scale"], quant["zero_point"]) if quant else None)
    want = trainer.detect(raw, 80, rules)
    expect_greedy(ours, raw, 80, rules)
    letterbox = trainer.Letterbox.of(image, size, rules.enlarges)
    np.testing.assert_allclose(
        ours.shown, letterbox.boxes_back(trainer.corners(raw[:4, ours.anchors])), atol=1e-3)
    shared = len({*zip(want.anchors, want.labels)} & {*zip(ours.anchors, ours.labels)})
    print(f"{name} {preset}: {shared} of {len(want.anchors)} the same, "
          f"closest overlap {want.closest:.1e}")
    if want.closest > TIE:
        expect_same(ours, want, letterbox)
    # Integers make overlaps of exactly 7/10; at such a tie f32 and f64 part.
    assert shared >= len(want.anchors) - 1 > 0
    assert abs(len(ours.anchors) - len(want.anchors)) <= 1


def centred(boxes):
    x1, y1, x2, y2 = np.asarray(boxes, float).T
    return np.stack([(x1 + x2) / 2, (y1 + y2) / 2, x2 - x1, y2 - y1])


def near_ties(seed, classes, size, anchors):
    """Anchors around a few objects that lie in one another by 0.7 of their area, give or take
    1e-5 to 1e-2; many scores are equal, and some are exactly at the thresholds."""
    random = np.random.default_rng(seed)
    raw = np.zeros((4 + classes, anchors), np.float32)
    objects = 60
    width = random.uniform(40, 200, objects)
    height = random.uniform(40, 200, objects)
    left = random.uniform(0, size[0] - width)
    top = random.uniform(0, size[1] - height)
    kind = random.integers(0, classes, objects)
    which = random.integers(0, objects, anchors)
    share = 0.7 + random.choice([-1, 1], anchors) * 10 ** random.uniform(-5, -2, anchors)
    share[random.random(anchors) < 0.2] = 1
    right = left[which] + width[which] * np.where(random.random(anchors) < 0.5, share, 1)
    raw[:4] = centred(np.stack([left[which], top[which], right, (top + height)[which]], 1))
    spare = random.random(anchors) < 0.8
    special = [0.001, 0.25, np.nextafter(np.float32(0.25), np.float32(1)),
               np.nextafter(np.float32(0.001), np.float32(1))]
    scores = np.round(random.uniform(0, 1, anchors), 2)
    scores[::17] = random.choice(special, scores[::17].shape)
    raw[4 + kind[which], np.arange(anchors)] = np.where(spare, scores, 0)
    second = random.integers(0, classes, anchors)
    raw[4 + second, np.arange(anchors)] = np.round(random.uniform(0, 0.5, anchors), 2)
    return raw


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("seed", range(6))
def test_near_ties_give_the_trainer_s_boxes(tmp_path, seed, preset):
    rules, image, size = trainer.RULES[preset], (810, 603), (320, 320)
    raw = near_ties(seed, 80, size, 2100)
    ours = Ours(tmp_path, blank(image), [raw[None]], preset=preset, size=size)
    want = trainer.detect(raw, 80, rules)
    expect_greedy(ours, raw, 80, rules)
    print(f"{len(want.anchors)} boxes, closest overlap {want.closest:.1e}")
    assert len(want.anchors) > 100
    expect_same(ours, want, trainer.Letterbox.of(image, size, rules.enlarges))
    # As the trainer computes, in f32: classes moved by up to 600 000 px lose 1/16 px.
    theirs = trainer.detect(raw, 80, rules, np.float32)
    shared = len({*zip(theirs.anchors, theirs.labels)} & {*zip(ours.anchors, ours.labels)})
    print(f"with the class shift in f32: {shared} of {len(theirs.anchors)}")
    assert shared >= 0.96 * len(theirs.anchors)


def test_only_the_best_30000_candidates_enter(tmp_path):
    rules, size = trainer.RULES["ultralytics-val"], (320, 320)
    raw = np.zeros((84, 2100), np.float32)
    raw[:4] = centred([[10, 10, 90, 90]]).repeat(2100, 1)
    raw[4:] = np.linspace(0.9, 0.002, 80 * 2100).reshape(80, 2100)  # 168 000 candidates
    raw[4:, 7:9] = 0
    order = np.sort(raw[4:].ravel())[::-1]
    for anchor, place in ((7, 29998), (8, 30002)):  # boxes elsewhere, the one in, the other out
        raw[:4, anchor] = centred([[200, 200, 290, 290]])[:, 0]
        raw[4 + 70 + anchor % 2, anchor] = (order[place] + order[place - 1]) / 2
    assert (raw[4:] > rules.threshold).sum() > 30000
    ours = Ours(tmp_path, blank((320, 320)), [raw[None]], size=size)
    want = trainer.detect(raw, 80, rules)
    assert 7 in want.anchors and 8 not in want.anchors
    expect_same(ours, want, trainer.Letterbox.of((320, 320), size, False))


# Masks.

def segments(seed, size, classes=3, anchors=2100, objects=9):
    """A head's two outputs: objects, several anchors at each, masks like ellipses. And what the
    objects are: x1 y1 x2 y2 in the input, class."""
    random = np.random.default_rng(seed)
    width, height = size[0] // 4, size[1] // 4
    extent = random.uniform(30, 140, (objects, 2))
    low = random.uniform(0, np.array(size) - extent)
    truth = np.concatenate([low, low + extent], 1)
    kinds = random.integers(0, classes, objects)
    y, x = (np.mgrid[0:height, 0:width] + 0.5) * 4
    prototypes = random.normal(0, 0.05, (32, height, width))
    for i, (x1, y1, x2, y2) in enumerate(truth):
        apart = ((2 * x - x1 - x2) / (x2 - x1)) ** 2 + ((2 * y - y1 - y2) / (y2 - y1)) ** 2
        prototypes[i] += np.clip(3 - 3 * apart, -6, 6)
    which = random.integers(0, objects, anchors)
    raw = np.zeros((4 + classes + 32, anchors), np.float32)
    jitter = random.normal(0, random.choice([0.02, 0.08, 0.2], (anchors, 1)), (anchors, 4))
    raw[:4] = centred(truth[which] + jitter * np.tile(extent[which], 2))
    raw[2:4] = np.maximum(raw[2:4], 2)
    scores = random.beta(0.3, 2, anchors)
    raw[4 + kinds[which], np.arange(anchors)] = np.where(random.random(anchors) < 0.5, scores, 0)
    raw[4:4 + classes] += np.float32(0.02) * random.random((classes, anchors)) ** 4
    raw[4 + classes:] = random.normal(0, 0.1, (32, anchors))
    raw[4 + classes + which, np.arange(anchors)] += 1
    return raw, prototypes.astype(np.float32), truth, kinds


def near(large):
    cv2 = pytest.importorskip("cv2")
    unclear = (np.abs(large) < UNDECIDED) & (large != 0)
    return cv2.dilate(unclear.astype(np.uint8), np.ones((3, 3)))


@pytest.mark.parametrize("image", [(810, 1080), (640, 360), (333, 222), (100, 90)])
@pytest.mark.parametrize("preset,rule", [("ultralytics-val", "ultralytics"),
                                         ("ultralytics", "ultralytics_quick")])
def test_both_masks_are_the_trainer_s(tmp_path, image, preset, rule):
    rules, size = trainer.RULES[preset], (320, 320)
    raw, prototypes, _, _ = segments(image[0], size)
    ours = Ours(tmp_path, blank(image), [raw[None], prototypes[None]], "yolov8-seg", preset, rule,
                3, size)
    want = trainer.detect(raw, 3, rules)
    letterbox = trainer.Letterbox.of(image, size, rules.enlarges)
    expect_same(ours, want, letterbox)
    masks, differ, on = ours.load("masks") > 0, 0, 0
    assert masks.shape == (len(want.anchors), image[1], image[0])
    for got, anchor in zip(masks, want.anchors, strict=True):
        make = trainer.mask if rule == "ultralytics" else trainer.quick_mask
        # The box as the network gives it, in f32: which columns it has is not a matter of rounding.
        box = trainer.corners(raw[:4, [anchor]])[0]
        mine, large = make(raw[7:, anchor], prototypes, box, letterbox)
        unclear = near(large) > 0
        if rule == "ultralytics":
            unclear = trainer.enlarged(letterbox.cut(unclear), image) > 0
        assert np.all((got == mine) | unclear)
        differ, on = differ + (got != mine).sum(), on + mine.sum()
    print(f"{len(masks)} masks, {on} pixels, {differ} differ, all at logits below {UNDECIDED}")
    assert on > 1000 * len(masks) ** 0.5
    assert differ <= 2e-5 * on


# End-to-end heads and keypoints.

@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("has_masks", [False, True])
def test_end_to_end_rows_are_filtered_and_not_suppressed(tmp_path, preset, has_masks):
    rules, image, size = trainer.RULES[preset], (500, 333), (320, 320)
    random = np.random.default_rng(9)
    low = random.uniform(-5, 250, (300, 2))
    rows = np.zeros((300, 38 if has_masks else 6), np.float32)
    rows[:, :4] = np.concatenate([low, low + random.uniform(3, 80, (300, 2))], 1)
    rows[:, 4] = np.sort(np.round(random.uniform(0, 1, 300) ** 4, 3))[::-1]
    rows[:, 4][rows[:, 4] == 0.25] = 0.26
    rows[140], rows[141, 4] = rows[141], rows[140, 4]  # the same box twice
    rows[:, 5] = random.integers(0, 3, 300)
    rows[:, 6:] = random.normal(0, 1, (300, rows.shape[1] - 6))
    outputs, family = [rows[None]], "yolo26"
    if has_masks:
        outputs.append(random.normal(0, 1, (1, 32, 80, 80)).astype(np.float32))
        family += "-seg"
    ours = Ours(tmp_path, blank(image), outputs, family, preset, "ultralytics", 3, size)
    want = trainer.detect_rows(rows, rules)
    letterbox = trainer.Letterbox.of(image, size, rules.enlarges)
    expect_same(ours, want, letterbox)
    if not has_masks:
        return
    for got, row in zip(ours.load("masks") > 0, rows[want.anchors], strict=True):
        mine, large = trainer.mask(row[6:], outputs[1][0], row[:4], letterbox)
        clear = trainer.enlarged(letterbox.cut(near(large)), image) == 0
        np.testing.assert_array_equal(got[clear], mine[clear])


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("image", [(810, 603), (90, 200)])
def test_keypoints_go_back_like_boxes(tmp_path, image, preset):
    rules, size = trainer.RULES[preset], (320, 320)
    random = np.random.default_rng(4)
    raw = np.zeros((4 + 1 + 51, 2100), np.float32)
    low = random.uniform(0, 250, (2100, 2))
    raw[:4] = centred(np.concatenate([low, low + random.uniform(20, 90, (2100, 2))], 1))
    raw[4] = random.uniform(0, 1, 2100) ** 6
    raw[5:] = random.uniform(-40, 360, (51, 2100))  # some outside of the image
    raw[7::3] = random.uniform(0, 1, (17, 2100))
    ours = Ours(tmp_path, blank(image), [raw[None]], "yolov8-pose", preset, classes=1, size=size,
                keypoints=17)
    want = trainer.detect(raw, 1, rules)
    letterbox = trainer.Letterbox.of(image, size, rules.enlarges)
    expect_same(ours, want, letterbox)
    points = raw[5:, want.anchors].T.reshape(-1, 17, 3)
    got = ours.load("keypoints").reshape(-1, 17, 3)
    np.testing.assert_allclose(got[:, :, :2], letterbox.points_back(points[:, :, :2]), atol=1e-3)
    np.testing.assert_array_equal(got[:, :, 2], points[:, :, 2])
    assert (got[:, :, 0] == 0).any() and (got[:, :, 0] == image[0]).any()
