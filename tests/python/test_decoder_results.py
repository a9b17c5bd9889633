# SPDX-License-Identifier: Apache-2.0
"""What Decoder gives beside boxes, in which unit, of which element of a batch, and what it
refuses."""
import numpy as np
import pytest

import halyard as ef
import models
from helpers import fails

SIDE = 640


def document(outputs, **fields):
    return {"schema_version": 2, "outputs": outputs, **fields,
            "input": {"shape": [1, SIDE, SIDE, 3],
                      "dshape": [["batch", 1], ["height", SIDE], ["width", SIDE],
                                 ["num_features", 3]]}}


def rows(*columns, features, boxes=400):
    """(1, features, boxes) f32: the columns given, and zeros."""
    out = np.zeros((1, features, boxes), np.float32)
    for i, column in enumerate(columns):
        out[0, :len(column), 5 + 7 * i] = column
    return out


def pose():
    output = {"type": "detection", "shape": [1, 11, 400],
              "dshape": [["batch", 1], ["num_features", 11], ["num_boxes", 400]]}
    return ef.Decoder(document([output], task="pose", kpt_shape=[2, 3]), 0.25, 0.5)


POSES = rows((100, 100, 40, 60, 0.9, 90, 80, 0.75, 110, 120, 0.25),
             (300, 200, 40, 60, 0.8, 290, 180, 0.5, 310, 220, 1), features=11)


def oriented():
    output = {"type": "detection", "shape": [1, 6, 400],
              "dshape": [["batch", 1], ["num_features", 6], ["num_boxes", 400]]}
    return ef.Decoder(document([output], task="obb"), 0.25, 0.5)


ANGLE = np.pi / 6
ORIENTED = rows((320, 320, 200, 40, 0.9, ANGLE), features=6)


# ---- Batches

def test_a_batch_gives_a_list_of_one_result_for_each_element():
    decoder = models.decoder()
    batch = np.concatenate([models.detection_output(models.OBJECTS[:n]) for n in (1, 0, 2)])
    found = decoder.decode([batch])
    assert isinstance(found, list) and [len(each) for each in found] == [1, 0, 2]
    assert all(isinstance(each, ef.Detections) for each in found)
    for i, each in enumerate(found):
        one = decoder.decode([batch], batch=i)
        assert isinstance(one, ef.Detections) and one == each
    fails(ValueError, "batch: must be below", lambda: decoder.decode([batch], batch=3))
    fails(OverflowError, "batch", lambda: decoder.decode([batch], batch=-1))


def test_a_batch_of_masks_has_its_own_prototypes():
    head = np.repeat(models.detection_output(extra=models.PROTOS), 2, axis=0)
    protos = np.concatenate([models.prototypes(), -models.prototypes()])
    first, second = models.segmenter().decode([head, protos])
    assert first.masks[1].sum() == 256 * 192 and not second.masks[1].any()
    first, second = models.segmenter().decode_proto([head, protos])
    taken = [np.asarray(each.protos.take_protos()) for each in (first, second)]
    assert np.array_equal(taken[0], -taken[1]) and np.array_equal(taken[0], protos[0])


def test_extents_of_a_batch_that_differ_are_refused():
    head = np.repeat(models.detection_output(extra=models.PROTOS), 2, axis=0)
    with pytest.raises(ValueError, match="batch extents of the tensors differ"):
        models.segmenter().decode([head, models.prototypes()])


def test_calls_with_one_result_are_told_which_element():
    batch = np.concatenate([models.detection_output(models.OBJECTS[:n]) for n in (1, 2)])
    dst = ef.Tensor.image(64, 48, ef.PixelFormat.Rgb, ef.TensorMemory.MEM)
    processor, decoder, tracker = ef.ImageProcessor(), models.decoder(), ef.ByteTrack()
    fails(ValueError, "batch: must be given .*: 2 elements",
          lambda **k: decoder.decode_tracked(tracker, 1, [batch], **k),
          lambda **k: processor.draw_masks(decoder, [batch], dst, **k))
    assert len(decoder.decode_tracked(tracker, 1, [batch], batch=1)) == 2
    assert len(processor.draw_masks(decoder, [batch], dst, batch=1)[0]) == 2


# ---- Units

@pytest.mark.parametrize("normalized", [True, False])
def test_boxes_are_pixels_whatever_the_head_holds(normalized):
    output = ef.Output.detection(shape=[1, 9, 400]).with_normalized(normalized)
    decoder = ef.Decoder.new_from_outputs([output], input_dims=models.INPUT)
    given = models.detection_output()
    if not normalized:
        given[0, :4] *= np.array([*models.INPUT, *models.INPUT], np.float32)[:, None]
    found = decoder.decode([given])
    assert np.allclose(found.xyxy, models.pixels([b for b, _, _ in models.OBJECTS]), atol=1e-2)
    assert decoder.normalized_boxes is False
    assert (found.unit, found.input_dims) == ("pixels", models.INPUT)


def test_levels_and_grids_give_pixels_too():
    boxes = {"type": "boxes", "encoding": "direct", "shape": [1, 4, 400], "outputs": [
        {"name": "b", "type": "boxes", "stride": 32, "shape": [1, 20, 20, 4], "dtype": "float32",
         "dshape": [["batch", 1], ["height", 20], ["width", 20], ["box_coords", 4]]}]}
    scores = {"type": "scores", "shape": [1, 2, 400], "outputs": [
        {"name": "s", "type": "scores", "stride": 32, "shape": [1, 20, 20, 2], "dtype": "float32",
         "dshape": [["batch", 1], ["height", 20], ["width", 20], ["num_classes", 2]]}]}
    distances, chances = np.zeros((1, 20, 20, 4), "f"), np.zeros((1, 20, 20, 2), "f")
    distances[0, 3, 4], chances[0, 3, 4, 1] = (1, 1, 2, 2), 0.9
    found = ef.Decoder(document([boxes, scores])).decode([distances, chances])
    assert found.xyxy.tolist() == [[112, 80, 208, 176]] and found.unit == "pixels"
    grid = ef.Output.detection(shape=[1, 20, 20, 6], decoder=ef.DecoderType.ModelPack)
    grid = grid.with_anchors([(0.25, 0.125)])
    logits = np.full((1, 20, 20, 6), -20, "f")
    logits[0, 10, 10] = (0, 0, 0, 0, 20, 20)
    found = ef.Decoder.new_from_outputs([grid], input_dims=(640, 320)).decode([logits])
    assert np.allclose(found.xyxy, [[256, 148, 416, 188]])


def test_fractions_and_masks_need_the_input_s_size():
    for output in ([ef.Output.detection(shape=[1, 9, 400]).with_normalized(True)],
                   [ef.Output.detection(shape=[1, 17, 400]), ef.Output.protos([1, 16, 16, 8])]):
        fails(ValueError, "input_dims", lambda: ef.Decoder.new_from_outputs(output))


def letterboxed(width=320, height=240):
    frame = ef.Tensor.image(width, height, ef.PixelFormat.Rgb, ef.TensorMemory.MEM)
    net = ef.Tensor.image(SIDE, SIDE, ef.PixelFormat.Rgb, ef.TensorMemory.MEM)
    return ef.ImageProcessor().convert(frame, net, letterbox=[0, 0, 0, 255])


def test_to_source_takes_detections_and_checks_their_unit():
    placed = letterboxed()
    found = models.decoder(input_dims=(SIDE, SIDE)).decode([models.detection_output()])
    there = placed.to_source(found)
    assert isinstance(there, ef.Detections) and there.unit == "source"
    assert np.array_equal(there.xyxy, placed.to_source(found.xyxy))
    assert np.allclose(there.xyxy[1], [160, 120, 288, 240], atol=0.1)  # cut at the image's edge
    fails(ValueError, "unit 'source'", lambda: placed.to_source(there))
    other = models.decoder(input_dims=(320, 320)).decode([models.detection_output()])
    with pytest.raises(ValueError, match="an input of 320 x 320, the placement to 640"):
        placed.to_source(other)
    unknown = found.replace(xyxy=found.xyxy / SIDE)
    fails(ValueError, "unit None", lambda: placed.to_source(unknown))
    fractions = ef.edgefirst.Decoder(models.config(), 0.25, 0.45).decode(
        [models.detection_output()])
    assert fractions.unit == "fractions"
    assert np.allclose(placed.to_source(fractions).boxes, there.xyxy, atol=0.01)


def test_drawing_and_tiles_know_the_unit_or_refuse():
    found = models.decoder().decode([models.detection_output()])
    images = [ef.Tensor.image(64, 48, ef.PixelFormat.Rgb, ef.TensorMemory.MEM) for _ in range(3)]
    processor = ef.ImageProcessor()
    processor.draw_decoded_masks(images[0], found)
    processor.draw_decoded_masks(images[1], *models.arrays(found), input_dims=models.INPUT)
    processor.draw_decoded_masks(images[2], found.xyxy / np.tile(models.INPUT, 2),
                                  *models.arrays(found)[1:])
    drawn = [np.asarray(each) for each in images]
    assert drawn[0].any() and all(np.array_equal(drawn[0], each) for each in drawn[1:])
    with pytest.raises(ValueError, match="bbox: must be fractions.*input_dims"):
        processor.draw_decoded_masks(images[0], *models.arrays(found))
    where = ef.TilePlacement(0, 1, (0, 0), (1280, 960), (1280, 960))
    with pytest.raises(ValueError, match="bbox: must be fractions"):
        ef.lift_tile_boxes(*models.arrays(found), where)
    for lifted in (ef.lift_tile_boxes(found, None, None, where),
                   ef.lift_tile_boxes(*models.arrays(found), where, models.INPUT)):
        assert np.allclose(lifted[0], found.xyxy * 2)
    merged = ef.TiledFrameAccumulator((1280, 960), 1, ef.MergeConfig())
    assert merged.push_tile(found, None, None, where)
    assert np.allclose(merged.finalize()[0], found.xyxy * 2)


def test_masks_are_the_same_as_those_of_fractions():
    outputs = [models.detection_output(extra=models.PROTOS), models.prototypes()]
    plain = ef.edgefirst.Decoder.new_from_outputs(
        [ef.Output.detection(shape=[1, 17, 400]).with_normalized(True),
         ef.Output.protos(shape=[1, 16, 16, 8])], 0.25, 0.45)
    pixels, fractions = models.segmenter().decode(outputs), plain.decode(outputs)
    for mine, theirs, region in zip(pixels._mask_items, fractions.masks, fractions.mask_boxes):
        assert np.array_equal(mine.data, theirs)
        assert np.allclose(mine.region, models.pixels(region))
    processor, size = ef.ImageProcessor(), ef.MaskResolution.Scaled(320, 240)
    box = (0, 0.125, 1, 0.875)
    for resolution in (None, size):
        pair = [processor.materialize_masks(*each.decode_proto(outputs), letterbox=box,
                                            resolution=resolution)
                for each in (models.segmenter(), plain)]
        assert all(np.array_equal(a, b) for a, b in zip(*pair)) and len(pair[0]) == 2
    drawn = []
    for decoder in (models.segmenter(), plain):
        dst = ef.Tensor.image(320, 240, ef.PixelFormat.Rgb, ef.TensorMemory.MEM)
        processor.draw_masks(decoder, outputs, dst, letterbox=box)
        drawn.append(np.array(dst))
    assert np.array_equal(*drawn) and drawn[0].any()


# ---- What is refused

def test_integers_without_quantization_are_refused():
    output = ef.Output.detection(shape=[1, 9, 400]).with_normalized(True)
    decoder = ef.Decoder.new_from_outputs([output], input_dims=models.INPUT)
    for dtype in (np.int8, np.uint8, np.int16, np.int32):
        with pytest.raises(ValueError, match="needs quantization"):
            decoder.decode([np.zeros((1, 9, 400), dtype)])
    plain = ef.Output.detection(shape=[1, 9, 400]).with_quantization(1, 0).with_normalized(False)
    stored = np.zeros((1, 9, 400), np.uint8)
    stored[0, :, 3] = (20, 20, 10, 10, 0, 1, 0, 0, 0)
    found = ef.Decoder.new_from_outputs([plain]).decode([stored])
    assert found.xyxy.tolist() == [[15, 15, 25, 25]]  # a scale of 1 that is said


@pytest.mark.parametrize("value", [-0.1, 1.1, 30, float("inf"), float("nan")])
@pytest.mark.parametrize("name", ["score_threshold", "iou_threshold"])
def test_thresholds_beyond_0_and_1_are_refused(name, value):
    with pytest.raises(ValueError, match=name):
        ef.Decoder(models.config(), input_dims=models.INPUT, **{name: value})
    decoder = models.decoder()
    before = getattr(decoder, name)
    fails(ValueError, name, lambda: setattr(decoder, name, value))
    assert getattr(decoder, name) == before


# ---- What else heads give

def test_keypoints_come_out_are_mapped_and_tracked():
    found = pose().decode([POSES])
    assert found.keypoints.shape == (2, 2, 3) and found.keypoints.dtype == np.float32
    assert np.allclose(found.keypoints[0], [[90, 80, 0.75], [110, 120, 0.25]])
    placed = letterboxed()
    there = placed.to_source(found).keypoints
    assert np.allclose(there[1, :, :2], placed.points_to_source(found.keypoints[1, :, :2]))
    assert np.array_equal(there[..., 2], found.keypoints[..., 2])
    assert there[0, 0, 1] == 0  # above the image: at its edge
    empty = pose().decode([np.zeros_like(POSES)])
    assert empty.keypoints.shape == (0, 2, 3) and empty.obb is None
    tracker = ef.ByteTrack()
    pose().decode_tracked(tracker, 0, [POSES])
    second = rows((300, 200, 40, 60, 0.8, 290, 180, 0.5, 310, 220, 1), features=11)
    tracked = pose().decode_tracked(tracker, 1000, [second], coasting=True)
    assert tracked.keypoints.shape == (2, 2, 3) and np.isnan(tracked.keypoints[1]).all()
    assert np.allclose(tracked.keypoints[0, 0], [290, 180, 0.5])
    assert models.decoder().decode([models.detection_output()]).keypoints is None


def test_rotated_boxes_come_out_and_are_mapped():
    found = oriented().decode([ORIENTED])
    assert np.allclose(found.obb, [[320, 320, 200, 40, ANGLE]], atol=1e-3)
    half = 200 / 2 * np.cos(ANGLE) + 40 / 2 * np.sin(ANGLE)
    assert found.xyxy[0, 2] - 320 == pytest.approx(half, abs=0.01)
    assert oriented().decode([np.zeros_like(ORIENTED)]).obb.shape == (0, 5)
    there = letterboxed().to_source(found).obb
    assert np.allclose(there, [[160, 120, 100, 20, ANGLE]], atol=1e-3)
    flipped = ef.ImageProcessor().convert(
        ef.Tensor.image(SIDE, SIDE, ef.PixelFormat.Rgb, ef.TensorMemory.MEM),
        ef.Tensor.image(SIDE, SIDE, ef.PixelFormat.Rgb, ef.TensorMemory.MEM),
        flip=ef.Flip.Horizontal)
    rotated = flipped.to_source(found).obb[0]
    assert np.allclose(rotated[2:4], [200, 40])
    assert np.tan(rotated[4]) == pytest.approx(-np.tan(ANGLE))
    tracked = oriented().decode_tracked(ef.ByteTrack(), 0, [ORIENTED])
    assert np.allclose(tracked.obb, found.obb)


def test_classes_of_the_image_come_out():
    decoder = ef.Decoder(document([{"type": "classification", "shape": [1, 7]}]))
    scores = np.array([[0.05, 0.5, 0.1, 0.02, 0.3, 0.02, 0.01]], np.float32)
    found = decoder.decode([scores])
    assert found.top_classes.tolist()[:3] == [1, 4, 2] and found.top_classes.dtype == np.int64
    assert np.allclose(found.top_scores, [0.5, 0.3, 0.1, 0.05, 0.02]) and len(found) == 0
    both = decoder.decode([np.concatenate([scores, scores[:, ::-1]])])
    assert [each.top_classes[0] for each in both] == [1, 5]


def test_keypoints_and_rotated_boxes_are_drawn():
    processor = ef.ImageProcessor()
    processor.set_class_colors([[255, 0, 0, 255]])
    dst = ef.Tensor.image(SIDE, SIDE, ef.PixelFormat.Rgb, ef.TensorMemory.MEM)
    processor.draw_masks(pose(), [POSES], dst)
    red = np.asarray(dst)[..., 0]
    assert (red[78:83, 88:93] == 255).all() and red[120, 110] == 0  # of visibility 0.75 and 0.25
    assert (red[178:183, 288:293] == 255).all() and (red[218:223, 308:313] == 255).all()
    dst.fill(0)
    processor.draw_masks(oriented(), [ORIENTED], dst)
    red = np.asarray(dst)[..., 0]
    along, across = np.array([np.cos(ANGLE), np.sin(ANGLE)]), np.array([-np.sin(ANGLE),
                                                                       np.cos(ANGLE)])
    for u, v in ((1, 1), (1, -1), (-1, 0), (0, 1)):
        x, y = np.rint(320 + u * 100 * along + v * 20 * across).astype(int)
        assert red[y - 1:y + 2, x - 1:x + 2].any()
    left, top, _, _ = oriented().decode([ORIENTED]).xyxy[0].astype(int)
    assert not red[top:top + 8, left:left + 8].any()  # no upright outline


# ---- One decode for both languages

def test_all_candidates_enter_suppression_and_all_boxes_come_out():
    side, count = 20, 400
    output = np.zeros((1, 5, count), np.float32)
    at = np.arange(count)
    output[0] = (20 * (at % side) + 10, 20 * (at // side) + 10, np.full(count, 10),
                 np.full(count, 10), 0.5 + at / 1000)
    decoder = ef.Decoder.new_from_outputs(
        [ef.Output.detection(shape=[1, 5, count]).with_normalized(False)], 0.001)
    assert len(decoder.decode([output])) == 300  # max_det
    decoder.max_det = 1000
    assert len(decoder.decode([output])) == count
    assert len(decoder.decode([output], 7)) == 7


def test_suppression_compares_pixels():
    """Two boxes whose overlap in float32 depends on the unit they are compared in."""
    size, wanted = (640, 480), []
    random = np.random.default_rng(5)
    output = np.zeros((1, 5, 400), np.float32)
    output[0, :2] = random.uniform(0.2, 0.8, (2, 400))
    output[0, 2:4] = random.uniform(0.1, 0.3, (2, 400))
    output[0, 4] = np.linspace(0.3, 0.9, 400)
    in_pixels = output.copy()
    in_pixels[0, :4] *= np.array([*size, *size], np.float32)[:, None]
    for given, normalized in ((output, True), (in_pixels, False)):
        decoder = ef.Decoder.new_from_outputs(
            [ef.Output.detection(shape=[1, 5, 400]).with_normalized(normalized)], 0.25, 0.45,
            input_dims=size)
        wanted.append(decoder.decode([given]))
    assert np.array_equal(wanted[0].confidence, wanted[1].confidence)
    assert np.allclose(wanted[0].xyxy, wanted[1].xyxy, atol=1e-3)
