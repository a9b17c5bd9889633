# SPDX-License-Identifier: Apache-2.0
"""Masks against a plain implementation of the trainers' definitions with NumPy and OpenCV, class
maps against resize and argmax, run lengths against pycocotools."""
import os
import subprocess

import numpy as np
import pytest
from trainer import Letterbox, enlarged, is_inside

RULES = {"logits": 0, "prototype": 1, "ultralytics": 3, "ultralytics_quick": 4}
UNDECIDED = 1e-3  # logits nearer to 0 than this may fall to either side


def call(folder, command, *numbers, given=None):
    path = os.environ.get("HALYARD_MASK_PROGRAM", "halyard_mask_program")
    done = subprocess.run([path, command, str(folder), *map(str, numbers)], capture_output=True,
                          text=True, check=False, input=given)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Scene:
    """Smooth logits: prototypes are waves, as of a network, with 32 channels."""

    def __init__(self, seed, input_size, count=12):
        random = np.random.default_rng(seed)
        self.input = input_size
        width, height = input_size[0] // 4, input_size[1] // 4
        y, x = np.mgrid[0:height, 0:width] / 9.0
        waves = [np.sin(a * x + b * y + c) for a, b, c in random.normal(0, 1, (32, 3))]
        self.prototypes = np.stack(waves).astype(np.float32)
        self.coefficients = random.normal(0, 1, (count, 32)).astype(np.float32)
        centre = random.uniform(0.1, 0.9, (count, 2)) * input_size
        extent = random.uniform(0.05, 0.5, (count, 2)) * input_size
        boxes = np.concatenate([centre - extent / 2, centre + extent / 2], 1)
        self.boxes = np.clip(boxes, 0, [*input_size, *input_size]).astype(np.float32)
        self.logits = np.tensordot(self.coefficients, self.prototypes, 1)

    def masks(self, folder, rule, size=(0, 0), content=(0, 0, 0, 0)):
        for name in ("prototypes", "coefficients", "boxes"):
            np.save(folder / f"{name}.npy", getattr(self, name))
        call(folder, "materialize", RULES[rule], *self.input, *size, *content)
        return np.load(folder / "masks.npy") > 0


def near(values):
    """Pixels that a tie decides, and their neighbours."""
    cv2 = pytest.importorskip("cv2")
    return cv2.dilate((np.abs(values) < UNDECIDED).astype(np.uint8), np.ones((3, 3))) > 0


@pytest.mark.parametrize("seed", range(4))
def test_masks_at_the_input_follow_the_trainers_definition(tmp_path, seed):
    scene = Scene(seed, (320, 256))
    got = scene.masks(tmp_path, "ultralytics")
    for mask, logits, box in zip(got, scene.logits, scene.boxes, strict=True):
        large = enlarged(logits, scene.input)
        want = (large > 0) & is_inside(box, large.shape)
        clear = np.abs(large) >= UNDECIDED
        np.testing.assert_array_equal(mask[clear], want[clear])
        assert clear.mean() > 0.99


@pytest.mark.parametrize("image", [(810, 1080), (640, 360), (1280, 720), (333, 222)])
def test_masks_of_the_image_follow_the_trainers_definition(tmp_path, image):
    scene = Scene(5, (320, 320))
    letterbox = Letterbox.of(image, scene.input, True)
    content = letterbox.left, letterbox.top, *letterbox.inner
    got = scene.masks(tmp_path, "ultralytics", image, content)
    on = 0
    for mask, logits, box in zip(got, scene.logits, scene.boxes, strict=True):
        large = enlarged(logits, scene.input)
        binary = ((large > 0) & is_inside(box, large.shape)).astype(np.float32)
        want = np.floor(enlarged(letterbox.cut(binary), image) + 1e-6) > 0
        unclear = enlarged(letterbox.cut(near(large)), image) > 0
        np.testing.assert_array_equal(mask[~unclear], want[~unclear])
        assert unclear.mean() < 0.05
        on += want.sum()
    assert on > 1000


@pytest.mark.parametrize("seed", range(4))
def test_quick_masks_follow_the_trainers_definition(tmp_path, seed):
    scene = Scene(seed + 10, (320, 256))
    got = scene.masks(tmp_path, "ultralytics_quick")
    for mask, logits, box in zip(got, scene.logits, scene.boxes, strict=True):
        large = enlarged(np.where(is_inside(box / 4, logits.shape), logits, 0), scene.input)
        clear = (np.abs(large) >= UNDECIDED) | (large == 0)
        np.testing.assert_array_equal(mask[clear], (large > 0)[clear])


def test_masks_of_logits_equal_opencv(tmp_path):
    scene = Scene(20, (320, 256))
    got = scene.masks(tmp_path, "logits")
    for mask, logits, box in zip(got, scene.logits, scene.boxes, strict=True):
        large = enlarged(logits, scene.input)
        want = (large > 0) & is_inside(np.floor(box + 0.5), large.shape)
        clear = np.abs(large) >= UNDECIDED
        np.testing.assert_array_equal(mask[clear], want[clear])


@pytest.mark.parametrize("classes,size,target", [
    (150, (32, 32), (128, 128)), (5, (40, 30), (97, 61)), (19, (64, 32), (512, 256)),
    (3, (50, 50), (20, 33))])
@pytest.mark.parametrize("last", [False, True])
def test_class_maps_equal_resize_and_argmax(tmp_path, classes, size, target, last):
    random = np.random.default_rng(classes)
    y, x = np.mgrid[0:size[1], 0:size[0]] / 7.0
    planes = np.stack([np.sin(a * x + b * y + c) for a, b, c in random.normal(0, 1, (classes, 3))])
    planes = (planes + random.normal(0, 0.1, planes.shape)).astype(np.float32)
    scores = planes.transpose(1, 2, 0) if last else planes
    np.save(tmp_path / "scores.npy", np.ascontiguousarray(scores))
    call(tmp_path, "semantic", int(last), 0, *target, 0, 0, 0, 0, 0, 0)
    got = np.load(tmp_path / "map.npy")[0]
    large = np.stack([enlarged(plane, target) for plane in planes])
    best = np.sort(large, 0)
    clear = best[-1] - best[-2] > 1e-5
    np.testing.assert_array_equal(got[clear], large.argmax(0)[clear])
    assert clear.mean() > 0.99


def blobs(seed, width, height, count):
    cv2 = pytest.importorskip("cv2")
    random = np.random.default_rng(seed)
    noise = [cv2.GaussianBlur(random.normal(0, 1, (height, width)), (0, 0), s)
             for s in random.uniform(0.1, 4, count)]
    masks = (np.stack(noise) > 0).astype(np.uint8)
    masks[1], masks[2] = 0, 1
    return masks


@pytest.mark.parametrize("size", [(61, 47), (1, 9), (200, 3), (640, 480)])
def test_run_lengths_equal_pycocotools(tmp_path, size):
    coco = pytest.importorskip("pycocotools.mask")
    masks = blobs(3, *size, 10)
    np.save(tmp_path / "masks.npy", masks)
    want = [coco.encode(np.asfortranarray(m)) for m in masks]
    lines = call(tmp_path, "rle").splitlines()
    assert len(lines) == len(masks)
    for line, mask, theirs in zip(lines, masks, want, strict=True):
        text, area, *bounds, iou, crowd, union, common, again = line.split(" ")
        assert text == theirs["counts"].decode()
        assert again == text
        assert int(area) == coco.area(theirs) == mask.sum()
        if mask.any():
            np.testing.assert_array_equal([int(b) for b in bounds], coco.toBbox(theirs))
        plain, of_crowd = (coco.iou([theirs], [want[0]], [c])[0][0] for c in (0, 1))
        assert float(iou) == pytest.approx(plain, abs=1e-12)
        if mask.any():
            assert float(crowd) == pytest.approx(of_crowd, abs=1e-12)
        assert union == coco.merge([theirs, want[0]])["counts"].decode()
        assert common == coco.merge([theirs, want[0]], intersect=True)["counts"].decode()
    given = "".join(rle["counts"].decode() + "\n" for rle in want)
    call(tmp_path, "unrle", *size, given=given)
    np.testing.assert_array_equal(np.load(tmp_path / "masks.npy") > 0, masks > 0)
