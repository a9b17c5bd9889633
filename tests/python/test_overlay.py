# SPDX-License-Identifier: Apache-2.0
"""Overlay on every drawable format, and what Result shows, saves and says."""
import json

import numpy as np
import pytest

import halyard
from helpers import fails

W, H = 160, 120
FORMATS = ["rgb", "rgba", "bgr", "bgra", "planar_rgb", "planar_rgba", "grey", "nv12"]


def found(**fields):
    return halyard.Detections([[40, 40, 100, 100]], [0.9], [1], names=["a", "boat"], size=(W, H),
                              **fields)


def noise(kind):
    """An image of the format, of smooth noise, and its R G B."""
    random = np.random.default_rng(1).integers(60, 200, (H // 8, W // 8, 3), np.uint8)
    rgb = halyard.Tensor.from_array(np.ascontiguousarray(random.repeat(8, 0).repeat(8, 1)))
    rgb.set_format("rgb")
    made = halyard.Tensor.image(W, H, kind, mem="mem")
    halyard.ImageProcessor().convert(rgb, made)
    if kind == "nv12":  # values that no way through R G B keeps
        view = np.asarray(made)
        view[:] = np.random.default_rng(2).integers(30, 220, view.shape, np.uint8)
    return made


def rgb_of(image):
    made = halyard.Tensor.image(W, H, "rgb", mem="mem")
    halyard.ImageProcessor().convert(image, made)
    return np.array(made).astype(int)


def masks():
    made = np.zeros((1, H, W), bool)
    made[0, 50:90, 50:90] = True
    return made


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_shows_the_same_and_keeps_the_rest(kind):
    image = noise(kind)
    before, raw = rgb_of(image), np.array(image)
    halyard.Overlay(line_width=4).draw(image, found(masks=masks()))
    after, changed = rgb_of(image), np.array(image) != raw
    moved = np.abs(after - before).max(axis=2) > 12
    # Of grey some blocks are about as bright as what is drawn.
    least = 0.5 if kind == "grey" else 0.9
    assert moved[38:42, 60:90].mean() > least and moved[55:85, 55:85].mean() > least - 0.2
    assert not moved[110:, :].any() and not moved[:, 130:].any()
    color = np.array(halyard.palette_color(1))
    edge = after[70, 40]
    if kind != "grey":
        assert np.abs(edge - color).max() < 40
    # Samples beside what is drawn keep their bytes.
    if kind == "nv12":
        assert not changed[108:H].any() and not changed[H + 54:].any()
    elif kind.startswith("planar"):
        assert not changed[:, 108:].any() and not changed[3:].any()
    else:
        assert not changed[108:].any() and not changed[..., 3:].any()


def test_arrays_are_drawn_in_place_and_others_refused():
    pixels = np.zeros((H, W, 3), np.uint8)
    overlay = halyard.Overlay()
    overlay.draw(pixels, found())
    assert pixels.any()
    overlay.text(pixels, (2, 100), "words", (255, 0, 0))
    assert (pixels[100:, 2:40, 0] == 255).any()
    for image, detections, error, text in (
            (np.zeros((H, W), np.uint8), found(), TypeError, "picture: must be a Tensor, or an"),
            (halyard.Tensor.image(W, H, "yuyv"), found(), halyard.UnsupportedError, "convert"),
            (np.zeros((9, 9, 3), np.uint8), found(), ValueError, "belong to an image of"),
            (pixels, found(unit="pixels").replace(size=(9, 9)), ValueError, "to_source")):
        fails(error, text, lambda: overlay.draw(image, detections))
    fails(ValueError, "opacity", lambda: halyard.Overlay(opacity=2))
    fails(FileNotFoundError, "nothing.ttf", lambda: halyard.Overlay(font="nothing.ttf"))


def test_masks_are_blended_once_best_on_top():
    pixels = np.zeros((H, W, 3), np.uint8)
    whole = np.ones((2, H, W), bool)
    both = halyard.Detections([[200, 200, 201, 201]] * 2, [0.9, 0.8], [0, 1], masks=whole)
    halyard.Overlay(opacity=0.5).draw(pixels, both)
    assert np.abs(pixels[60, 80].astype(int) - np.array(halyard.palette_color(0)) / 2).max() <= 1
    pixels[:] = 0
    halyard.Overlay(opacity=0).draw(pixels, both)
    assert not pixels.any()


def test_ids_choose_colours_and_leave_trails():
    overlay, pixels = halyard.Overlay(), np.zeros((H, W, 3), np.uint8)
    box = np.array([[10, 60, 40, 100]], np.float32)
    for step in range(4):
        pixels[:] = 0
        moved = box + np.array([20, 0, 20, 0], np.float32) * step
        overlay.draw(pixels, halyard.Detections(moved, [0.9], [0], tracker_id=[5], size=(W, H)))
    assert np.array_equal(pixels[80, 70], halyard.palette_color(5))
    behind = pixels[62:, :60].max(axis=2) > 0
    assert behind.any()  # the trail, left of the box
    pixels[:] = 0
    halyard.Overlay(trail_length=0, color_by="class").draw(
        pixels, halyard.Detections(moved, [0.9], [0], tracker_id=[5], size=(W, H)))
    assert np.array_equal(pixels[80, 70], halyard.palette_color(0))
    assert not (pixels[62:, :60].max(axis=2) > 0).any()


def test_keypoints_and_oriented_boxes_are_drawn():
    pixels = np.zeros((H, W, 3), np.uint8)
    rotated = np.array([[80, 60, 60, 20, np.pi / 4]], np.float32)
    halyard.Overlay().draw(pixels, halyard.Detections(
        [[20, 20, 140, 110]], [0.9], [0], obb=rotated,
        keypoints=[[[50, 90, 1], [60, 95, 0.2], [np.nan, 3, 1]]]))
    color = halyard.palette_color(0)
    assert (pixels[88:93, 48:53] == color).all() and not pixels[95, 60].any()
    end = 80 + np.cos(np.pi / 4) * 30, 60 + np.sin(np.pi / 4) * 30
    assert (pixels[int(end[1]) - 1:int(end[1]) + 3, int(end[0]) - 1:int(end[0]) + 3] == color).any()


def result(**fields):
    pixels = np.full((H, W, 3), 50, np.uint8)
    out = np.zeros((1, 6, 400), np.float32)
    out[0, :, 5] = (70, 70, 60, 60, 0, 0.9)
    model = halyard.Model(engine=lambda a: out, input_size=(W, W), labels=["a", "boat"])
    return model(pixels)


def test_a_result_is_plotted_saved_and_put_into_words(tmp_path, monkeypatch):
    seen = result()
    drawn = seen.plot()
    assert drawn.shape == (H, W, 3) and drawn.dtype == np.uint8 and (drawn != 50).any()
    assert (np.asarray(seen.image) == 50).all()  # the image itself is as it was
    for name in ("seen.png", "seen.jpg", "seen.bmp"):
        seen.save(tmp_path / name)
        assert np.abs(halyard.imread(tmp_path / name).astype(int) - drawn).mean() < 6
    fails(ValueError, r"seen\.xyz, writable: .*\.png", lambda: seen.save(tmp_path / "seen.xyz"))
    png = seen._repr_png_()
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    assert np.array_equal(np.asarray(halyard.Tensor.load_from_bytes(png)), drawn)
    assert str(seen) == "1 boat" and repr(seen) == "Result(1 boat)" and len(seen) == 1
    assert [each.name for each in seen] == ["boat"] and seen[0].name == "boat"
    said = json.loads(json.dumps(seen.to_dict()))
    assert said["task"] == "detect" and said["detections"][0]["name"] == "boat"
    assert seen.to_coco(3)[0]["image_id"] == 3
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    fails(halyard.UnsupportedError, "no display.*result.save", lambda: seen.show())


def test_class_maps_are_upright_and_plotted():
    scores = np.zeros((1, 3, 20, 20), np.float32)
    scores[0, 1, :, :10], scores[0, 2, :, 10:] = 5, 5
    document = {"schema_version": 2, "task": "semantic", "outputs": [
        {"type": "segmentation", "shape": [1, 3, 20, 20], "decoder": "modelpack",
         "dshape": [["batch", 1], ["num_classes", 3], ["height", 20], ["width", 20]]}],
        "input": {"shape": [1, W, W, 3], "dshape": [["batch", 1], ["height", W], ["width", W],
                                                    ["num_features", 3]]}}
    model = halyard.Model(engine=lambda a: scores, description=document)
    seen = model(np.full((H, W, 3), 50, np.uint8))
    assert seen.class_map.shape == (H, W) and set(np.unique(seen.class_map)) == {1, 2}
    assert (seen.class_map[:, :79] == 1).all() and (seen.class_map[:, 81:] == 2).all()
    drawn = seen.plot()
    assert len({tuple(drawn[60, 20]), tuple(drawn[60, 140]), (50, 50, 50)}) == 3


def test_plots_are_upright(tmp_path):
    cv2 = pytest.importorskip("cv2", reason="cv2 is not installed")
    pixels = np.zeros((60, 90, 3), np.uint8)
    path = tmp_path / "lying.png"
    cv2.imwrite(str(path), pixels)
    image = halyard.load(path)
    image.orientation = (halyard.Flip.NoFlip, halyard.Rotation.Clockwise90)
    out = np.zeros((1, 6, 400), np.float32)
    out[0, :, 5] = (30, 45, 40, 60, 0, 0.9)
    model = halyard.Model(engine=lambda a: out, input_size=(90, 90))
    seen = model(image)
    assert seen.detections.size == (60, 90) and seen.plot().shape == (90, 60, 3)


@pytest.mark.parametrize("kind", FORMATS)
def test_opengl_draws_the_same(kind, monkeypatch):
    monkeypatch.setenv("HALYARD_ALLOW_SOFTWARE_GL", "1")
    try:
        by_gl = halyard.Overlay(backend="opengl")
    except halyard.UnsupportedError as why:
        pytest.skip(str(why))
    image, same = noise(kind), noise(kind)
    assert by_gl.explain(image) == "opengl: draws (copied)"
    by_gl.draw(image, found(masks=masks()))
    by_cpu = halyard.Overlay(backend="cpu")
    assert by_cpu.explain(same) == "opengl: the options name another backend\ncpu: draws"
    by_cpu.draw(same, found(masks=masks()))
    apart = np.abs(np.array(image).astype(int) - np.array(same).astype(int))
    assert apart.max() <= 2 and (np.array(same) != np.array(noise(kind))).any()


def test_a_backend_is_one_of_the_words():
    fails(ValueError, "backend", lambda: halyard.Overlay(backend="abacus"))
