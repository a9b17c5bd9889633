# SPDX-License-Identifier: Apache-2.0
"""Filters, letterbox rules and free maps against OpenCV and PIL, as far as their definitions are
ours; where they are not, the test says what differs."""
import numpy as np
import pytest
from test_resample import SIZES, random_image
from trainer import RULES, Letterbox


def smooth_image(width, height):
    """No step between neighbours, so that coordinates count and ringing does not."""
    y, x = np.mgrid[0:height, 0:width]
    waves = [120 + 100 * np.sin(x / 17 + c) * np.cos(y / 23 - c) for c in range(3)]
    return np.stack(waves, -1).round().astype(np.uint8)


def differences(got, want):
    return np.abs(got.astype(int) - want.astype(int))


def size_of(target):
    return ["--size", f"{target[0]}x{target[1]}"]


@pytest.mark.parametrize("source,target", SIZES)
def test_bicubic_equals_opencv_within_one(program, source, target):
    cv2 = pytest.importorskip("cv2")
    image = random_image(11, *source)
    got = program.convert(image, "rgb", source, *size_of(target), "--filter", "bicubic")
    want = cv2.resize(image, target, interpolation=cv2.INTER_CUBIC)
    assert differences(got, want).max() <= 1


@pytest.mark.parametrize("source,target", SIZES)
@pytest.mark.parametrize("name", ["bicubic", "lanczos3", "box"])
def test_antialiased_filters_equal_pil(program, source, target, name):
    pil = pytest.importorskip("PIL.Image")
    filters = {"bicubic": pil.Resampling.BICUBIC, "lanczos3": pil.Resampling.LANCZOS,
               "box": pil.Resampling.BOX}
    image = smooth_image(*source)
    got = program.convert(image, "rgb", source, *size_of(target), "--filter", name, "--antialias")
    want = np.asarray(pil.fromarray(image).resize(target, filters[name]))
    # PIL rounds to 8 bit, and clamps overshoot, between its two passes; ours does both at the end.
    assert differences(got, want).max() <= 1


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("source", [(810, 1080), (1280, 720), (333, 222), (101, 67), (640, 427),
                                    (97, 640), (640, 640), (1023, 511)])
def test_letterbox_rules_of_trainers_equal_opencv_within_one(program, source, rule):
    image = random_image(12, *source)
    got = program.convert(image, "rgb", source, *size_of((640, 640)), "--fit", "letterbox",
                          "--letterbox-rule", rule)
    want = Letterbox.of(source, (640, 640), RULES[rule].enlarges).padded(image)
    assert differences(got, want).max() <= 1


@pytest.mark.parametrize("source,target", [((200, 100), (64, 64)), ((100, 200), (64, 64)),
                                           ((320, 180), (160, 160))])
def test_cover_shows_the_middle_that_has_the_shape_of_the_target(program, source, target):
    cv2 = pytest.importorskip("cv2")
    image = random_image(13, *source)
    got = program.convert(image, "rgb", source, *size_of(target), "--fit", "cover")
    side = min(source)
    x, y = (source[0] - side) // 2, (source[1] - side) // 2
    want = cv2.resize(image[y:y + side, x:x + side], target, interpolation=cv2.INTER_LINEAR)
    assert differences(got, want).max() <= 1


@pytest.mark.parametrize("degrees,scale", [(0, 1.0), (30, 1.0), (-75, 0.8), (180, 1.3), (12, 2.0)])
def test_free_maps_follow_opencv(program, degrees, scale):
    cv2 = pytest.importorskip("cv2")
    width, height = 160, 120
    image = smooth_image(width, height)
    # OpenCV counts from the first pixel's centre, ours from its corner.
    centres = cv2.getRotationMatrix2D((width / 2 - 0.5, height / 2 - 0.5), degrees, scale)
    corners = centres.copy()
    corners[:, 2] += 0.5 - centres[:, :2] @ [0.5, 0.5]
    got = program.convert(image, "rgb", (width, height), *size_of((width, height)),
                          "--affine", ",".join(repr(float(v)) for v in corners.reshape(-1)))
    want = cv2.warpAffine(image, centres, (width, height), flags=cv2.INTER_LINEAR,
                          borderMode=cv2.BORDER_CONSTANT, borderValue=(114, 114, 114))
    # OpenCV blends border pixels with the pad and keeps 5 bits of a coordinate: judge the inside.
    inside = cv2.warpAffine(np.full((height, width), 255, np.uint8), centres, (width, height))
    inside = cv2.erode(inside, np.ones((3, 3), np.uint8), borderValue=0) == 255
    assert inside.sum() > 1000
    assert differences(got, want)[inside].max() <= 1


@pytest.mark.parametrize("dtype,tolerance", [("f32", 1e-6), ("f16", 1e-3)])
def test_normalised_input_equals_numpy(program, dtype, tolerance):
    image = random_image(14, 40, 30)
    mean, std = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
    got = program.convert(image, "rgb", (40, 30), "--dtype", dtype, "--mean", "0.485,0.456,0.406",
                          "--std", "0.229,0.224,0.225", target_format="planar_rgb")
    want = ((image / 255 - mean) / std).transpose(2, 0, 1)
    np.testing.assert_allclose(got.reshape(want.shape), want, rtol=tolerance, atol=tolerance)


def test_quantized_input_equals_numpy(program):
    image = random_image(15, 40, 30)
    got = program.convert(image, "rgb", (40, 30), "--dtype", "i8", "--quant", "0.0187,-14",
                          "--mean", "0.485,0.456,0.406", "--std", "0.229,0.224,0.225",
                          target_format="planar_rgb")
    mean, std = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
    real = ((image / 255 - mean) / std).transpose(2, 0, 1)
    want = np.clip(np.round(real / 0.0187) - 14, -128, 127)
    assert differences(got.reshape(want.shape), want).max() <= 1
    assert np.mean(got.reshape(want.shape) != want) < 1e-3
