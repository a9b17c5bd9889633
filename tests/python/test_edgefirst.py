# SPDX-License-Identifier: Apache-2.0
"""halyard.edgefirst: what programs written for edgefirst_hal see, where halyard itself differs."""
import pathlib
import pickle
import warnings

import numpy as np
import pytest

import halyard
import halyard.edgefirst as ef
import models
from helpers import fails

BOXES = [box for box, _, _ in models.OBJECTS]


def decoder(batch=1, **options):
    return ef.Decoder.new_from_outputs(
        [ef.Output.detection(shape=[batch, 9, 400]).with_normalized(True)], 0.25, 0.45, **options)


def image(fill):
    made = ef.Tensor.image(64, 48, ef.PixelFormat.Rgba, ef.TensorMemory.MEM)
    made.fill(fill)
    return made


def test_all_names_are_there_and_the_same_but_for_what_differs():
    own = {name for name in halyard.__all__ if getattr(ef, name) is not getattr(halyard, name)}
    assert own == {"Decoder", "Detections", "ImageProcessor", "Tensor", "TiledFrameAccumulator",
                   "asarray", "from_numpy", "lift_tile_boxes", "load", "tensor"}
    for name in own - {"Detections"}:
        assert getattr(ef, name).__module__ == "halyard.edgefirst"
    listed = pathlib.Path(__file__).with_name("reference_members.txt").read_text()
    paths = [line.split(" ")[0] for line in listed.splitlines() if line and line[0] != "#"]
    for path in (p for p in paths if p.split(".")[0] in own):
        item = ef
        for name in path.split("."):
            item = getattr(item, name)


def test_boxes_have_the_unit_of_the_model_and_300_candidates_enter():
    made = decoder()
    assert made.normalized_boxes is True and made.pre_nms_top_k == 300
    found = made.decode([models.detection_output()])
    assert np.allclose(found.boxes, BOXES, atol=1e-5) and found.unit == "fractions"
    unknown = ef.Decoder.new_from_outputs([ef.Output.detection(shape=[1, 9, 400])])
    assert unknown.normalized_boxes is None
    assert unknown.decode([models.detection_output()]).unit is None


def test_results_are_tuples_with_names():
    outputs = [models.detection_output(extra=models.PROTOS), models.prototypes()]
    result = models.segmenter(ef).decode(outputs)
    boxes, scores, classes, masks = result
    assert result.boxes is boxes and result[1] is scores and len(result) == 4
    assert result._fields == ("boxes", "scores", "classes", "masks") and len(masks) == 2
    assert (classes.dtype, masks[0].dtype, masks[0].ndim) == (np.uintp, np.uint8, 3)
    back = pickle.loads(pickle.dumps(result))
    assert type(back) is ef.Detections and np.array_equal(back.boxes, boxes)
    records = result.to_coco(size=(100, 200))
    assert records[1]["bbox"] == pytest.approx([50, 100, 40, 80], abs=1e-3)
    native = models.segmenter().decode(outputs).to_coco(size=(100, 200))
    assert [r["segmentation"] for r in records] == [r["segmentation"] for r in native]
    tracked = models.segmenter(ef).decode_tracked(ef.ByteTrack(), 0, outputs)
    boxes, scores, classes, masks, tracks = tracked
    assert isinstance(tracked, ef.TrackedDetections) and len(masks) == len(tracks) == 2


def test_thresholds_of_any_size_and_bare_integers_are_taken():
    made = decoder()
    made.score_threshold = 2.0
    assert len(made.decode([models.detection_output()]).boxes) == 0
    stored = np.zeros((1, 9, 400), np.uint8)
    stored[0, :, 3] = (20, 20, 10, 10, 0, 1, 0, 0, 0)
    assert decoder().decode([stored]).boxes.tolist() == [[15, 15, 25, 25]]


def test_element_0_of_a_described_batch_is_decoded_with_a_warning():
    both = np.concatenate([models.detection_output(models.OBJECTS[:1]), models.detection_output()])
    with pytest.warns(RuntimeWarning, match="element 0 of a batch of 2"):
        found = decoder(batch=2).decode([both])
    assert len(found.boxes) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(decoder(batch=2).decode([both], batch=1).boxes) == 2
        decoder().decode([both[:1]])


def test_another_batch_than_described_is_refused_as_there():
    with pytest.raises(ValueError, match="batch differs from the description's.*4, described as 1"):
        decoder().decode([np.repeat(models.detection_output(), 4, axis=0)])


def test_drawing_without_a_background_blackens():
    box = (np.array([[0.25, 0.25, 0.75, 0.75]], np.float32), [0.9], [0])
    dst = image(99)
    ef.ImageProcessor().draw_decoded_masks(dst, *box)
    assert np.asarray(dst)[0, 0].tolist() == [0] * 4 and np.asarray(dst).any()
    dst = image(99)
    ef.ImageProcessor().draw_masks(decoder(), [models.detection_output()], dst)
    assert np.asarray(dst)[0, 0].tolist() == [0] * 4 and np.asarray(dst).any()
    ef.ImageProcessor().draw_decoded_masks(dst, *box, background=image(7))
    assert np.asarray(dst)[0, 0].tolist() == [7] * 4
    ef.ImageProcessor().draw_decoded_masks(dst, box[0] * 640, *box[1:])  # beyond: not refused
    assert not np.asarray(dst).any()


def test_tiles_take_fractions_of_any_size():
    where = ef.TilePlacement(0, 1, (0, 0), (640, 640), (640, 640))
    boxes = np.array([[0.25, 0.25, 3, 3]], np.float32)
    assert ef.lift_tile_boxes(boxes, [0.9], [1], where)[0].tolist() == [[160, 160, 1920, 1920]]
    merged = ef.TiledFrameAccumulator((640, 640), 1, ef.MergeConfig())
    assert merged.push_tile(boxes, [0.9], [1], where)
    assert merged.finalize()[0].tolist() == [[160, 160, 1920, 1920]]


def split_document(boxes=5):
    """Centres and extents apart, each with its own scale; scores of another type; padding last."""
    def axes(name, extent):
        return [["batch", 1], [name, extent], ["num_boxes", boxes], ["padding", 1]]

    def half(name, scale, zero_point):
        return {"name": name, "type": "boxes_" + name, "dtype": "int8", "shape": [1, 2, boxes, 1],
                "dshape": axes("box_coords", 2),
                "quantization": {"scale": scale, "zero_point": zero_point, "dtype": "int8"}}

    return {"schema_version": 2, "input": {"shape": [1, 3, 100, 200]}, "outputs": [
        {"type": "boxes", "encoding": "direct", "normalized": True, "shape": [1, 4, boxes, 1],
         "dshape": axes("box_coords", 4),
         "outputs": [half("xy", 0.01, 10), half("wh", 0.005, -20)]},
        {"type": "scores", "shape": [1, 3, boxes, 1], "dshape": axes("num_classes", 3),
         "outputs": [{"name": "scores", "type": "scores", "dtype": "uint8",
                      "shape": [1, 3, boxes, 1], "dshape": axes("num_classes", 3),
                      "quantization": {"scale": 1 / 256, "zero_point": 0, "dtype": "uint8"}}]}]}


def test_centres_and_extents_in_tensors_of_their_own_are_boxes():
    xy, wh = np.zeros((2, 1, 2, 5, 1), np.int8)
    xy[0, :, 3, 0], wh[0, :, 3, 0] = (50, 60), (20, 0)
    scores = np.zeros((1, 3, 5, 1), np.uint8)
    scores[0, 1, 3, 0] = 192
    made = ef.Decoder(split_document(), score_threshold=0.5)
    found = made.decode([xy, wh, scores])
    assert made.normalized_boxes is True
    assert np.allclose(found.boxes, [[0.3, 0.45, 0.5, 0.55]], atol=1e-6)
    assert found.scores.tolist() == [0.75] and found.classes.tolist() == [1]
    squeezed = made.decode([xy[..., 0], wh[..., 0], scores[..., 0, None, None]])
    assert np.array_equal(squeezed.boxes, found.boxes)  # padding is left out, and added
    fails(ValueError, "no tensor has the shape", lambda: made.decode([xy[..., 0, 0], wh, scores]))
    pixels = halyard.Decoder(split_document(), score_threshold=0.5).decode([xy, wh, scores])
    assert np.allclose(pixels.xyxy, [[60, 45, 100, 55]], atol=1e-4)


def test_outputs_refuse_in_words_that_programs_match():
    fails(ValueError, "Provide either 'shape' or 'dshape', not both",
          lambda: ef.Output.boxes(shape=[1, 4, 400], dshape=[(ef.DimName.Batch, 1)]))
    fails(ValueError, "Either 'shape' or 'dshape' must be provided", lambda: ef.Output.boxes())
    scores = ef.Output.scores(shape=[1, 5, 400])
    with pytest.raises(ValueError, match="with_anchors.* only valid for detection"):
        scores.with_anchors([[1.0, 1.0]])
    with pytest.raises(ValueError, match="with_normalized.* only valid for detection or boxes"):
        scores.with_normalized(True)


def test_a_map_has_a_view_of_its_elements():
    made = image(3)
    with made.map() as held:
        seen = held.view()
        assert seen.shape == (48, 64, 4) and not seen.flags.owndata
        seen[1, 2] = 9
        del seen
    assert np.asarray(made)[1, 2].tolist() == [9] * 4
