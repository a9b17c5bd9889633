# SPDX-License-Identifier: Apache-2.0
"""Tracker: all four kinds, by name, over Detections."""
import numpy as np
import pytest

import halyard
from helpers import fails
import models
from halyard import edgefirst

KINDS = ["bytetrack", "bytetrack-paper", "ocsort", "sort"]
STEP = 33_333_333


def frame(number, rows=(0, 1), **fields):
    """Two objects that move to the right, best last."""
    boxes = np.array([[10 + 4 * number, 20, 60 + 4 * number, 90],
                      [300 + 4 * number, 200, 380 + 4 * number, 300]], np.float32)
    return halyard.Detections(boxes, [0.8, 0.9], [1, 0], names=["a", "b"], size=(640, 480),
                              **fields)[list(rows)]


@pytest.mark.parametrize("kind", KINDS)
def test_ids_follow_objects_whatever_their_order(kind):
    tracker = halyard.Tracker(kind)
    for number in range(8):
        seen = tracker.update(frame(number, (0, 1) if number % 2 else (1, 0)))
    assert seen.tracker_id[seen.class_id == 0].tolist() == [1]
    assert len(seen) == 2 and seen.names == ("a", "b") and seen.size == (640, 480)
    by_class = dict(zip(seen.class_names, seen.tracker_id.tolist()))
    assert sorted(by_class.values()) == [1, 2] and len(set(seen.tracker_uuid.tolist())) == 2
    after = tracker.update(frame(8, (1, 0)))
    assert dict(zip(after.class_names, after.tracker_id.tolist())) == by_class
    assert np.allclose(np.sort(after.xyxy[:, 0]), [42, 332], atol=4)
    tracker.reset()
    for number in range(8):
        seen = tracker.update(frame(number, (0,)))  # it was 2 before
    assert seen.tracker_id.tolist() == [1]


@pytest.mark.parametrize("kind", KINDS)
def test_masks_and_keypoints_stay_with_their_object(kind):
    masks = np.zeros((2, 480, 640), bool)
    masks[1, 200:300, 300:380] = True
    keypoints = np.array([[[1, 2, 0.5]], [[3, 4, 0.75]]], np.float32)
    tracker = halyard.Tracker(kind, coast=1.0)
    for number in range(8):
        tracker.update(frame(number, (1, 0), masks=masks, keypoints=keypoints))
    seen = tracker.update(frame(8, (1,), masks=masks, keypoints=keypoints))
    assert seen.class_id.tolist() == [0] and seen.masks.sum() == 8000
    seen = tracker.update(frame(9, (1,), masks=masks, keypoints=keypoints), coasting=True)
    assert seen.is_coasting.tolist() == [False, True] and seen.class_id.tolist() == [0, 1]
    assert seen.keypoints[0].tolist() == [[3, 4, 0.75]] and np.isnan(seen.keypoints[1]).all()
    assert seen[1].is_coasting and not seen[1].mask.any() and len(seen.to_coco()) == 2
    assert "keypoints" not in seen.to_coco()[1]


def test_decoding_and_tracking_in_one_call_takes_every_tracker():
    outputs = [models.detection_output(extra=models.PROTOS), models.prototypes()]
    for make in (*(lambda kind=kind: halyard.Tracker(kind) for kind in KINDS), halyard.ByteTrack,
                 halyard.OcSort, halyard.Sort):
        tracker, decoder = make(), models.segmenter()
        for number in range(6):
            seen = decoder.decode_tracked(tracker, number * STEP, outputs)
        assert sorted(seen.tracker_id.tolist()) == [1, 2]
        assert {(name.class_id, name.mask.sum() > 0) for name in seen} == {(0, True), (2, False)}
    assert len(models.segmenter().decode_tracked(halyard.Tracker(), None, outputs, 1)) == 1
    with pytest.raises(TypeError, match="timestamp"):
        models.segmenter().decode_tracked(halyard.Sort(), None, outputs)
    with pytest.raises(TypeError, match="tracker: must be a Tracker"):
        models.segmenter().decode_tracked(3, 0, outputs)


ALL = [*(lambda kind=kind: halyard.Tracker(kind) for kind in KINDS), halyard.ByteTrack,
       halyard.OcSort, halyard.Sort]


def segments():
    return [models.detection_output(extra=models.PROTOS), models.prototypes()]


@pytest.mark.parametrize("module", [halyard, edgefirst])
@pytest.mark.parametrize("make", ALL)
def test_drawing_takes_every_tracker(make, module):
    processor, decoder, tracker = module.ImageProcessor(), models.segmenter(), make()
    one, other = (module.Tensor.image(64, 48, "rgb", "heap") for _ in range(2))
    for number in range(6):
        boxes, scores, classes, tracks = processor.draw_masks(
            decoder, segments(), one, tracker, number * STEP, "black", color_mode="track")
    assert boxes.shape == (2, 4) and scores.shape == classes.shape == (2,)
    assert len({track.uuid for track in tracks}) == 2
    assert {track.count for track in tracks} == {6}
    assert {track.last_updated for track in tracks} == {5 * STEP}
    assert np.allclose(boxes, [track.tracked_location for track in tracks], atol=1e-3)
    processor.draw_masks(decoder, segments(), other, background="black", color_mode="instance")
    assert np.asarray(one).any() and not np.array_equal(np.asarray(one), np.asarray(other))
    with pytest.raises(ValueError, match="before"):
        processor.draw_masks(decoder, segments(), one, tracker, STEP)


def test_drawing_moves_a_tracker_as_update_does():
    processor, decoder = halyard.ImageProcessor(), models.segmenter()
    image = halyard.Tensor.image(64, 48, "rgb", "heap")
    drawn, updated = halyard.Tracker("ocsort"), halyard.Tracker("ocsort")
    for number in range(6):
        *_, tracks = processor.draw_masks(decoder, segments(), image, drawn)
        found = updated.update(decoder.decode(segments()))
    assert [track.last_updated for track in tracks] == [5 * STEP] * 2
    after, same = drawn.update(found), updated.update(found)
    assert after.tracker_id.tolist() == same.tracker_id.tolist() == [1, 2]
    assert np.array_equal(after.xyxy, same.xyxy)
    assert [track.uuid for track in tracks] == after.tracker_uuid.tolist()


@pytest.mark.parametrize("make", ALL)
def test_the_decoder_of_edgefirst_takes_every_tracker(make):
    output = edgefirst.Output.detection(shape=[1, 9, 400]).with_normalized(True)
    decoder = edgefirst.Decoder.new_from_outputs([output])
    tracker = make()
    for number in range(6):
        found = decoder.decode_tracked(tracker, number * STEP, [models.detection_output()])
    boxes, scores, classes, masks, tracks = found
    assert isinstance(found, edgefirst.TrackedDetections) and len(boxes) == len(tracks) == 2
    assert boxes.max() <= 1 and {track.count for track in tracks} == {6}
    with pytest.raises(TypeError, match="timestamp"):
        decoder.decode_tracked(tracker, None, [models.detection_output()])


@pytest.mark.parametrize("make", ALL)
def test_a_model_takes_every_tracker(make):
    def engine(_):
        return models.detection_output()

    model = halyard.Model(engine=engine, input_size=models.INPUT, labels=list("abcde"))
    images = [np.zeros((48, 64, 3), np.uint8)] * 6
    *_, last = model.track(images, tracker=make())
    assert sorted(last.detections.tracker_id.tolist()) == [1, 2]
    overlaid = last.plot(overlay=halyard.Overlay(color_by="track"))
    assert overlaid.shape == (48, 64, 3) and overlaid.any()
    fails(TypeError, "tracker: must be a Tracker", lambda: next(model.track(images, tracker=3)))


def test_what_is_no_tracker_is_named():
    image = halyard.Tensor.image(64, 48, "rgb", "heap")
    outputs = [models.detection_output()]
    reference = edgefirst.Decoder.new_from_outputs([edgefirst.Output.detection(shape=[1, 9, 400])])
    for bad in (3, "bytetrack", halyard.Tracker, halyard.ImageProcessor()):
        for call in (lambda: models.decoder().decode_tracked(bad, 0, outputs),
                     lambda: reference.decode_tracked(bad, 0, outputs),
                     lambda: halyard.ImageProcessor().draw_masks(models.segmenter(), segments(),
                                                                 image, bad)):
            with pytest.raises(TypeError, match="tracker: must be a Tracker, ByteTrack, OcSort or "
                                                "Sort, not"):
                call()


def test_options_belong_to_a_kind_and_have_limits():
    weak = frame(0).replace(confidence=[0.5, 0.5])
    assert len(halyard.Tracker().update(weak)) == 0
    assert len(halyard.Tracker(high_score=0.4).update(weak)) == 2
    for options, text in (({"kind": "deepsort"}, 'kind: must be "bytetrack"'),
                          ({"kind": "sort", "inertia": 0.1}, "inertia: the tracker .sort. has no"),
                          ({"high_score": 2}, "high_score"), ({"coast": -1}, "coast: must be 0"),
                          ({"frame_rate": 0}, "frame_rate"), ({"max_tracks": 0}, "max_tracks")):
        fails(ValueError, text, lambda: halyard.Tracker(**options))
    with pytest.raises(TypeError, match="detections: must be Detections, not ndarray"):
        halyard.Tracker().update(np.zeros((1, 4)))
    tracker = halyard.Tracker()
    tracker.update(frame(0), 1000)
    fails(ValueError, "before", lambda: tracker.update(frame(0), 500))
    assert halyard.Tracker(max_tracks=1).left_out == 0
