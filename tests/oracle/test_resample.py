# SPDX-License-Identifier: Apache-2.0
"""Resampling against OpenCV's INTER_LINEAR (two taps) and PIL's BILINEAR (antialiased)."""
import numpy as np
import pytest

SIZES = [((97, 61), (64, 64)), ((33, 47), (80, 100)), ((200, 120), (37, 53)), ((64, 64), (64, 64)),
         ((5, 3), (16, 9)), ((640, 360), (320, 180))]


def random_image(seed, width, height):
    """Half noise, half smooth, so that both rounding and aliasing show."""
    rng = np.random.default_rng(seed)
    noise = rng.integers(0, 256, (height, width, 3))
    y, x = np.mgrid[0:height, 0:width]
    smooth = np.stack([x * 255 / width, y * 255 / height, (x + y) % 256], -1)
    return np.where((x + y)[..., None] % 32 < 16, noise, smooth).astype(np.uint8)


@pytest.mark.parametrize("source,target", SIZES)
def test_bilinear_equals_opencv_within_one(program, source, target):
    cv2 = pytest.importorskip("cv2")
    image = random_image(1, *source)
    got = program.convert(image, "rgb", source, "--size", f"{target[0]}x{target[1]}",
                          "--filter", "bilinear", "--fit", "stretch")
    want = cv2.resize(image, target, interpolation=cv2.INTER_LINEAR)
    difference = np.abs(got.astype(int) - want)
    print(f"{source}->{target}: max {difference.max()} mean {difference.mean():.4f}")
    assert difference.max() <= 1


@pytest.mark.parametrize("source,target", SIZES)
def test_antialiased_bilinear_equals_pil_within_one(program, source, target):
    pil = pytest.importorskip("PIL.Image")
    image = random_image(2, *source)
    got = program.convert(image, "rgb", source, "--size", f"{target[0]}x{target[1]}",
                          "--filter", "bilinear", "--antialias", "--fit", "stretch")
    want = np.asarray(pil.fromarray(image).resize(target, pil.Resampling.BILINEAR))
    difference = np.abs(got.astype(int) - want)
    print(f"{source}->{target}: max {difference.max()} mean {difference.mean():.4f}")
    # PIL rounds to 8 bit between its two passes; ours rounds once.
    assert difference.max() <= 1


@pytest.mark.parametrize("source,target", SIZES)
def test_nearest_takes_the_pixel_under_the_centre(program, source, target):
    image = random_image(3, *source)
    got = program.convert(image, "rgb", source, "--size", f"{target[0]}x{target[1]}",
                          "--filter", "nearest", "--fit", "stretch")
    columns = ((np.arange(target[0]) + 0.5) * source[0] / target[0]).astype(int)
    rows = ((np.arange(target[1]) + 0.5) * source[1] / target[1]).astype(int)
    assert np.array_equal(got, image[rows][:, columns])


def test_letterbox_of_a_camera_frame_lies_where_the_rule_says(program):
    cv2 = pytest.importorskip("cv2")
    image = random_image(5, 1280, 720)
    got = program.convert(image, "rgb", (1280, 720), "--size", "640x640", "--fit", "letterbox")
    want = np.full((640, 640, 3), 114, np.uint8)
    want[140:500] = cv2.resize(image, (640, 360), interpolation=cv2.INTER_LINEAR)
    difference = np.abs(got.astype(int) - want)
    assert np.all(got[:140] == 114) and np.all(got[500:] == 114)
    assert difference.max() <= 1


@pytest.mark.parametrize("flip,axis", [("none", None), ("horizontal", 1), ("vertical", 0)])
@pytest.mark.parametrize("degrees", [0, 90, 180, 270])
def test_flip_then_clockwise_turn_moves_every_pixel(program, flip, axis, degrees):
    image = random_image(6, 31, 18)
    got = program.convert(image, "rgb", (31, 18), "--flip", flip, "--rotate", degrees)
    want = image if axis is None else np.flip(image, axis)
    assert np.array_equal(got, np.rot90(want, -degrees // 90))


@pytest.mark.parametrize("dtype", ["i8", "f32"])
def test_network_input_dtypes_follow_from_the_bytes(program, dtype):
    image = random_image(7, 40, 30)
    got = program.convert(image, "rgb", (40, 30), "--dtype", dtype, target_format="planar_rgb")
    planar = image.transpose(2, 0, 1)
    want = (planar ^ 0x80).view(np.int8) if dtype == "i8" else planar.astype(np.float32) / 255
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got.reshape(want.shape), want, rtol=2e-7, atol=0)
