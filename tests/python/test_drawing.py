# SPDX-License-Identifier: Apache-2.0
"""ImageProcessor's drawing, masks and tiles."""
import pickle
import sys

import numpy as np
import pytest

import halyard as ef
import models
from helpers import fails, in_threads

BOX = (np.array([[0.25, 0.25, 0.75, 0.75]], np.float32), np.array([0.9], np.float32),
       np.array([0], np.uintp))


def image(width=64, height=48, format=ef.PixelFormat.Rgba, fill=None):
    made = ef.Tensor.image(width, height, format, ef.TensorMemory.MEM)
    if fill is not None:
        made.from_numpy(np.full(made.shape, fill, np.uint8))
    return made


def pixels(tensor):
    with tensor.map() as mapped:
        return np.array(mapped)


def segments():
    return [models.detection_output(extra=models.PROTOS), models.prototypes()]


def test_boxes_are_drawn_over_black_or_a_background():
    dst = image(fill=99)
    assert ef.ImageProcessor().draw_decoded_masks(dst, *BOX, background="black") is None
    drawn = pixels(dst)
    assert drawn[0, 0].tolist() == [0, 0, 0, 0] and drawn[9:16, 20, :3].any()
    ef.ImageProcessor().draw_decoded_masks(dst, *BOX, background=image(fill=77))
    assert pixels(dst)[0, 0].tolist() == [77] * 4


def test_without_a_background_the_image_shows_through():
    """Boxes, masks of both kinds and what a decoder finds are drawn over dst as it is."""
    processor, mask = ef.ImageProcessor(), np.full((8, 8, 1), 255, np.uint8)
    scores = np.zeros((4, 4, 3), np.uint8)
    scores[..., 2], scores[:2, :2, 0] = 100, 200
    calls = [lambda dst, **k: processor.draw_decoded_masks(dst, *BOX, **k),
             lambda dst, **k: processor.draw_decoded_masks(dst, *BOX, seg=[mask], **k),
             lambda dst, **k: processor.draw_decoded_masks(dst, *BOX, seg=[scores], **k),
             lambda dst, **k: processor.draw_masks(models.segmenter(), segments(), dst, **k),
             lambda dst, **k: processor.draw_masks(models.segmenter(), segments(), dst,
                                                   ef.ByteTrack(), 1, **k)]
    for call in calls:
        dst, other = image(fill=99), image()
        call(dst)
        call(other, background=image(fill=99))
        assert np.array_equal(pixels(dst), pixels(other))
        assert pixels(dst)[0, -1].tolist() == [99] * 4 and (pixels(dst) != 99).any()


def test_masks_show_the_class_s_colour():
    processor = ef.ImageProcessor()
    processor.set_class_colors([[10, 200, 30, 255]])
    dst = image()
    mask = np.full((8, 8, 1), 255, np.uint8)
    processor.draw_decoded_masks(dst, *BOX, seg=[mask], opacity=1.0)
    assert pixels(dst)[24, 32, :3].tolist() == [10, 200, 30]
    processor.draw_decoded_masks(dst, *BOX, seg=[mask[::-1, ::-1]], opacity=0.0,
                                 background="black")
    assert pixels(dst)[24, 32, :3].tolist() == [0, 0, 0]


@pytest.mark.parametrize("format", [ef.PixelFormat.Rgb, ef.PixelFormat.Rgba, ef.PixelFormat.Bgra])
def test_boxes_look_the_same_with_and_without_masks(format):
    random = np.random.default_rng(3)
    corners = random.uniform(-0.1, 1.1, (40, 4)).astype(np.float32)
    found = corners, np.ones(40, np.float32), np.arange(40)
    background = image(131, 77, format)
    background.from_numpy(random.integers(0, 256, background.shape, dtype=np.uint8))
    empty = np.zeros((2, 2, 1), np.uint8)
    for under in (background, "black"):
        plain, masked = image(131, 77, format, 9), image(131, 77, format, 8)
        ef.ImageProcessor().draw_decoded_masks(plain, *found, background=under)
        ef.ImageProcessor().draw_decoded_masks(masked, *found, seg=[empty], background=under)
        assert np.array_equal(pixels(plain), pixels(masked)) and pixels(plain).any()


def test_drawing_keeps_arrays_that_are_images():
    array = np.zeros((48, 64, 3), np.uint8)
    wrapped = ef.Tensor.image(64, 48, ef.PixelFormat.Rgb, ef.TensorMemory.MEM)
    ef.ImageProcessor().draw_decoded_masks(wrapped, *BOX, color_mode=ef.ColorMode.Instance)
    assert pixels(wrapped).any() and not array.any()


@pytest.mark.parametrize("change, error, text", [
    (dict(bbox=BOX[0][:, :3]), ValueError, "bbox"), (dict(scores=[0.1, 0.2]), ValueError, "scores"),
    (dict(classes=[0.5]), TypeError, "classes"), (dict(seg=[np.zeros((4, 4))]), TypeError, "seg"),
    (dict(seg=[np.zeros((4, 4), np.uint8)]), TypeError, "seg"), (dict(seg=3), TypeError, "seg"),
    (dict(seg=[np.zeros((4, 4, 1), np.uint8)] * 2), RuntimeError, ""),
    (dict(letterbox=[0, 0, 1]), ValueError, "letterbox"), (dict(dst=3), TypeError, "dst"),
    (dict(background=3), TypeError, "background"), (dict(color_mode="nothing"), ValueError, ""),
    (dict(background=image(32, 32)), RuntimeError, "")])
def test_bad_arguments_are_named(change, error, text):
    call = dict(dst=image(), bbox=BOX[0], scores=BOX[1], classes=BOX[2])
    fails(error, text or None, lambda: ef.ImageProcessor().draw_decoded_masks(**{**call, **change}))


def test_an_image_is_no_background_of_itself():
    dst = image()
    with pytest.raises(RuntimeError):
        ef.ImageProcessor().draw_decoded_masks(dst, *BOX, background=dst)


def test_formats_that_cannot_be_drawn_on_are_refused():
    with pytest.raises(RuntimeError):
        ef.ImageProcessor().draw_decoded_masks(image(format=ef.PixelFormat.Yuyv), *BOX)


def test_draw_masks_decodes_and_draws():
    processor, dst = ef.ImageProcessor(), image()
    found = processor.draw_masks(models.segmenter(), segments(), dst)
    assert isinstance(found, tuple) and len(found) == 3 and found[0].shape == (2, 4)
    assert pixels(dst).any()
    tracker = ef.ByteTrack()
    found = processor.draw_masks(models.segmenter(), segments(), dst, tracker, 1000,
                                 color_mode=ef.ColorMode.Track)
    assert len(found) == 4 and found[3] == [t.info for t in tracker.get_active_tracks()]
    processor.draw_masks(decoder=models.segmenter(), model_output=segments(), dst=dst,
                         tracker=tracker, background=image(), opacity=0.5,
                         letterbox=(0, 0.125, 1, 0.875))
    with pytest.raises(TypeError, match="tracker"):
        processor.draw_masks(models.segmenter(), segments(), dst, tracker=3)


def test_masks_are_made_at_both_resolutions():
    processor = ef.ImageProcessor()
    boxes, scores, classes, protos = models.segmenter().decode_proto(segments())
    small = processor.materialize_masks(boxes, scores, classes, protos)
    large = processor.materialize_masks(boxes, scores, classes, protos,
                                        resolution=ef.MaskResolution.Scaled(640, 480))
    assert large[1].shape == (192, 256, 1) and small[1].shape[0] < 16
    for mask in small + large:
        assert mask.dtype == np.uint8 and set(np.unique(mask)) <= {0, 255}
    assert (large[1] == 255).all()
    fails(RuntimeError,
          lambda: processor.materialize_masks(boxes[:1], scores[:1], classes[:1], protos))
    fails(TypeError, lambda: processor.materialize_masks(boxes, scores, classes, None))
    fails(TypeError, "resolution",
          lambda: processor.materialize_masks(boxes, scores, classes, protos, resolution=3))
    protos.take_protos()
    fails(RuntimeError, lambda: processor.materialize_masks(boxes, scores, classes, protos))


def test_mask_resolutions_are_values():
    proto, scaled = ef.MaskResolution.Proto(), ef.MaskResolution.Scaled(width=640, height=480)
    assert repr(proto) == "MaskResolution.Proto()"
    assert repr(scaled) == "MaskResolution.Scaled(width=640, height=480)"
    assert scaled == ef.MaskResolution.Scaled(640, 480) != proto and proto.is_proto
    assert pickle.loads(pickle.dumps(scaled)) == scaled and hash(proto) != hash(scaled)
    fails(TypeError, ef.MaskResolution, lambda: ef.MaskResolution.Scaled(1.5, 2))
    fails(OverflowError, lambda: ef.MaskResolution.Scaled(-1, 2))
    fails(ValueError, lambda: ef.MaskResolution.Scaled(0, 2))
    with pytest.raises(AttributeError):
        scaled.width = 3


@pytest.mark.parametrize("colors, error", [([[1, 2, 3]], ValueError), ([[1, 2, 3, 256]],
                                                                       OverflowError),
                                           ([[1, 2, 3, -1]], OverflowError), ([3], ValueError),
                                           (3, TypeError)])
def test_colours_are_four_bytes_each(colors, error):
    fails(error, lambda: ef.ImageProcessor().set_class_colors(colors))


def test_interpolation_modes():
    processor = ef.ImageProcessor()
    for mode in ("nearest", "bilinear", "twopass"):
        assert processor.set_int8_interpolation(mode) is None
    fails(RuntimeError, "mode", lambda: processor.set_int8_interpolation("cubic"))


def test_tiles_are_planned_and_rendered():
    processor, config = ef.ImageProcessor(), ef.TilingConfig(32, 32, overlap=0.0)
    frame = ef.Tensor.image(64, 48, ef.PixelFormat.Rgb, ef.TensorMemory.MEM)
    ramp = np.arange(64 * 48 * 3, dtype=np.uint32).astype(np.uint8).reshape(48, 64, 3)
    frame.from_numpy(ramp)
    plan = processor.plan_tiles(64, 48, config)
    assert [p.origin for p in plan] == [(0, 0), (32, 0), (0, 16), (32, 16)]
    assert plan[0].frame_dims == (64.0, 48.0) and plan[0].crop_size == (32.0, 32.0)
    batch = processor.alloc_tile_batch(4, config, ef.PixelFormat.Rgb)
    assert batch.shape == (128, 32, 3) and batch.dtype == "uint8"
    assert processor.tile_into(frame, batch, config) == plan
    processor.flush()
    tiles = pixels(batch).reshape(4, 32, 32, 3)
    assert np.array_equal(tiles[3], ramp[16:, 32:])
    slot = ef.Tensor.image(32, 32, ef.PixelFormat.Rgb, ef.TensorMemory.MEM)
    processor.tile_one(frame, slot, plan[1], config)
    processor.flush()
    assert np.array_equal(pixels(slot), ramp[:32, 32:])


def test_tiles_that_do_not_fit_are_refused():
    processor, config = ef.ImageProcessor(), ef.TilingConfig(32, 32, overlap=0.0)
    frame, short = image(64, 48), processor.alloc_tile_batch(3, config)
    fails(RuntimeError, lambda: processor.tile_into(frame, short, config))
    for origin in ((-1, 0), (float("nan"), 0), (0.5, 0), (60, 0)):
        where = ef.TilePlacement(0, 1, origin, (32, 32), (64, 48))
        fails(RuntimeError, lambda: processor.tile_one(frame, image(32, 32), where, config))
    fails(ValueError, lambda: processor.plan_tiles(64, 48, ef.TilingConfig(0, 32)))
    fails(TypeError, lambda: processor.plan_tiles(64, 48, None))


def test_masks_after_a_refusal_are_those_of_before():
    processor = ef.ImageProcessor()
    boxes, scores, classes, protos = models.segmenter().decode_proto(
        [models.tensor(models.detection_output(extra=models.PROTOS)),
         models.tensor(models.prototypes())])
    first = processor.materialize_masks(boxes, scores, classes, protos)
    assert len(first) == 2
    for _ in range(3):
        with pytest.raises(ValueError):
            processor.materialize_masks(boxes[:1], scores[:1], classes[:1], protos)
        again = processor.materialize_masks(boxes, scores, classes, protos)
        assert all(np.array_equal(a, b) for a, b in zip(first, again))


def test_threads_that_make_masks_with_one_processor_wait_for_each_other():
    processor = ef.ImageProcessor()
    outputs = [models.tensor(models.detection_output(extra=models.PROTOS)),
               models.tensor(models.prototypes())]
    size = ef.MaskResolution.Scaled(1600, 1200)
    expected = processor.materialize_masks(*models.segmenter().decode_proto(outputs),
                                           resolution=size)
    wrong, done = [], []

    def work(_):
        found = models.segmenter().decode_proto(outputs)
        for _ in range(50):
            masks = processor.materialize_masks(*found, resolution=size)
            if not all(np.array_equal(a, b) for a, b in zip(expected, masks)):
                wrong.append(masks)
            done.append(1)

    old = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        in_threads(work, range(4))
    finally:
        sys.setswitchinterval(old)
    assert wrong == [] and len(done) == 200
