# SPDX-License-Identifier: Apache-2.0
"""Detections as a container: rows, filters, joins, suppression, equality, masks, files."""
import copy
import json
import pickle

import numpy as np
import pytest

import halyard
import models
from helpers import fails

BOXES = np.array([[10, 20, 50, 60], [12, 22, 52, 62], [100, 100, 140, 180]], np.float32)
NAMES = ["boat", "buoy", "person"]


def made(**fields):
    return halyard.Detections(BOXES, [0.9, 0.8, 0.4], [0, 0, 2],
                              **{"names": NAMES, "size": (200, 200), **fields})


def segmented():
    return models.segmenter().decode(
        [models.detection_output(extra=models.PROTOS), models.prototypes()])


def test_rows_are_arrays_and_items_are_scalars():
    found = made(tracker_id=[3, 1, 2])
    assert len(found) == 3 and found.xyxy.dtype == np.float32
    assert (found.confidence.dtype, found.class_id.dtype) == (np.float32, np.int64)
    item = found[2]
    assert item.xyxy.tolist() == [100, 100, 140, 180] and item.name == "person"
    assert type(item.confidence) is float and type(item.class_id) is int and item.tracker_id == 2
    assert item.mask is item.keypoints is item.obb is None and not item.is_coasting
    assert [each.name for each in found] == ["boat", "boat", "person"] == found.class_names
    assert found[-1] == item and found[-1] != found[0] and "boat" in repr(found[0])
    fails(IndexError, "index 3 of 3", lambda: found[3])


@pytest.mark.parametrize("index, rows", [
    (slice(1), [0]), (slice(None, None, -1), [2, 1, 0]), ([2, 0], [2, 0]), ([], []),
    (np.array([1, 1]), [1, 1]), (np.array([True, False, True]), [0, 2]), ([False] * 3, []),
    (np.array([-1]), [2])])
def test_slices_lists_and_bools_pick_rows(index, rows):
    keypoints = np.arange(18, dtype=np.float32).reshape(3, 2, 3)
    found = made(tracker_id=[3, 1, 2], keypoints=keypoints, obb=np.ones((3, 5)),
                 masks=np.zeros((3, 200, 200), bool))[index]
    assert isinstance(found, halyard.Detections) and len(found) == len(rows)
    assert np.array_equal(found.xyxy, BOXES[rows])
    assert found.tracker_id.tolist() == [[3, 1, 2][row] for row in rows]
    assert np.array_equal(found.keypoints, keypoints[rows]) and found.masks.shape[0] == len(rows)
    assert found.names == tuple(NAMES) and found.size == (200, 200) and found.unit == "source"


def test_filters_read_as_they_are_meant():
    found = made()
    assert len(found[found.confidence > 0.5]) == 2 and len(found[found.class_id == 2]) == 1
    assert len(found[(found.class_id == 0) & (found.confidence > 0.85)]) == 1
    for index, error in (((0, 1), TypeError), (1.5, TypeError), ("a", TypeError),
                         ([[0]], TypeError), ([True], IndexError), ([7], IndexError)):
        fails(error, lambda: found[index])


def test_joins_keep_what_all_have():
    first, second = made(tracker_id=[1, 2, 3])[:1], made()[2:]
    both = first + second
    assert len(both) == 2 and both.tracker_id is None and both.names == tuple(NAMES)
    assert halyard.Detections.merge([first, first]).tracker_id.tolist() == [1, 1]
    assert halyard.Detections.concatenate([first]) == first
    assert len(halyard.Detections.merge([])) == 0
    parts = segmented()
    assert np.array_equal((parts[1:] + parts[:1]).masks, parts.masks[::-1])
    fails(ValueError, "merge: unit differs: 'pixels' and 'source'",
          lambda: first + first.replace(unit="pixels"))
    fails(ValueError, "merge: size differs", lambda: first + first.replace(size=(3, 3)))
    fails(TypeError, lambda: first + [1])


def test_suppression_by_class_or_over_all():
    found = made().replace(class_id=[0, 1, 2])
    assert len(found.with_nms(0.5)) == 3 and len(made().with_nms(0.5)) == 2
    kept = found.with_nms(0.5, class_agnostic=True)
    assert kept.class_id.tolist() == [0, 2] and kept.names == tuple(NAMES)
    assert len(found.with_nms(0.9, class_agnostic=True)) == 3
    rotated = np.array([[50, 50, 80, 4, 0], [50, 50, 80, 4, np.pi / 2], [50, 50, 80, 4, 0.01]], "f")
    crossed = halyard.Detections(BOXES * 0 + [10, 10, 90, 90], [0.9, 0.8, 0.7], obb=rotated)
    assert np.allclose(crossed.with_nms(0.5).obb, rotated[:2])  # the cross stays, the double goes
    fails(ValueError, "iou_threshold", lambda: made().with_nms(1.5))


def test_equality_is_of_all_that_is_held():
    assert made() == made() and made() != made(names=None) and made() != 3
    assert made() != made().replace(confidence=[0.9, 0.8, 0.5])
    nan = np.full((3, 1, 3), np.nan, np.float32)
    assert made(keypoints=nan) == made(keypoints=nan) != made()
    assert segmented() == segmented() and segmented() != segmented()[::-1]
    image = halyard.Tensor.image(320, 180, "rgb", mem="mem")
    network = halyard.Tensor.image(*models.INPUT, "rgb", mem="mem")
    placed = halyard.ImageProcessor().convert(image, network, letterbox=[0, 0, 0, 255])
    for found in (segmented(), segmented().to_source(placed)):
        for again in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
            assert again == found and np.array_equal(again.masks, found.masks)
            assert again.input_dims == models.INPUT
    fails(TypeError, "unhashable", lambda: hash(made()))


def test_masks_are_made_when_asked_for_and_one_at_a_time():
    found = segmented()
    assert found._whole is None and found[1].mask.sum() == 256 * 192 and found._whole is None
    masks = found.masks
    assert masks.dtype == bool and masks.shape == (2, 480, 640) and found.masks is masks
    assert np.array_equal(masks[1], found[1].mask)
    assert models.decoder().decode([models.detection_output()]).masks is None
    whole = np.zeros((3, 100, 80), bool)
    whole[1, 20:40, 10:30] = True
    own = made(size=None, masks=whole)
    assert own.size == (80, 100) and np.array_equal(own.masks, whole)


def test_masks_are_as_smooth_as_those_of_the_library():
    """A disc over 16 x 16 prototypes, in an image of 320 x 240: against the library's masks,
    whose logits are interpolated."""
    y, x = np.mgrid[:models.SIDE, :models.SIDE] + 0.5
    protos = np.zeros((1, models.SIDE, models.SIDE, models.PROTOS), np.float32)
    protos[0, ..., 0] = 1.25 - 0.25 * np.hypot(x - 8, y - 8)
    wide = [((0.05, 0.05, 0.95, 0.95), 0.9, 2)]
    outputs, decoder = [models.detection_output(wide, models.PROTOS), protos], models.segmenter()
    ours = decoder.decode(outputs)._resized((320, 240), models.INPUT)[0].mask
    (theirs,) = halyard.ImageProcessor().materialize_masks(
        *decoder.decode_proto(outputs), resolution=halyard.MaskResolution.Scaled(320, 240))
    whole = np.zeros((240, 320), bool)
    left, top = np.rint(ours.shape[1] * 0.05).astype(int), np.rint(ours.shape[0] * 0.05).astype(int)
    tile = theirs[..., 0] > 127
    whole[top:top + tile.shape[0], left:left + tile.shape[1]] = tile
    assert 10000 < whole.sum() < 30000
    assert (ours & whole).sum() / (ours | whole).sum() > 0.98


def test_wrong_arrays_are_named():
    for fields, text in (({"xyxy": [[1, 2, 3]]}, r"xyxy: must have the shape \(N, 4\)"),
                         ({"xyxy": "a"}, "xyxy"), ({"confidence": [1]}, "confidence"),
                         ({"class_id": ["a", "b", "c"]}, "class_id"),
                         ({"masks": np.zeros((3, 4, 5))}, "masks: must have the shape"),
                         ({"obb": np.zeros((3, 4))}, r"obb: must have the shape \(3, 5\)"),
                         ({"keypoints": np.zeros((2, 4, 3))}, "keypoints"),
                         ({"unit": "metres"}, "unit"), ({"names": "boat"}, "names")):
        with pytest.raises((ValueError, TypeError), match=text):
            halyard.Detections(**{"xyxy": BOXES, "size": (9, 9), **fields})
    fails(TypeError, "replace: Detections has no 'boxes'", lambda: made().replace(boxes=BOXES))


def test_names_of_the_tuple_are_told_what_to_write():
    for old, new in (("boxes", "xyxy"), ("scores", "confidence"), ("classes", "class_id"),
                     ("rotated", "obb")):
        fails(AttributeError, f"write d.{new}", lambda: getattr(made(), old))
    with pytest.raises(AttributeError, match=r"d.replace\(xyxy=...\)"):
        made().xyxy = BOXES
    with pytest.raises(ValueError):
        boxes, scores, classes, masks = made()


def test_four_detections_unpack_into_items_and_no_tuple_of_arrays():
    four = made() + made()[:1]
    first, *_, last = four
    assert (first.xyxy.tolist(), last.xyxy.tolist()) == ([10, 20, 50, 60], [10, 20, 50, 60])
    boxes, scores, classes, masks = four
    assert {type(each) for each in (boxes, scores, classes, masks)} == {type(first)}
    with pytest.raises(ValueError, match="unpack"):
        boxes, scores, classes, masks = made()
    assert "``boxes, scores, classes, masks = ...`` is for" in halyard.Detections.__doc__


def test_dict_and_json():
    said = json.loads(json.dumps(made(tracker_id=[3, 1, 2]).to_dict()))
    assert said["unit"] == "source" and said["size"] == [200, 200]
    assert said["detections"][2] == {"xyxy": [100, 100, 140, 180], "class_id": 2, "name": "person",
                                     "confidence": pytest.approx(0.4), "tracker_id": 2}
    assert json.loads(json.dumps(segmented().to_dict()))["detections"][1]["mask"]["size"] == \
        [480, 640]


def test_outlines_give_the_mask_back():
    cv2 = pytest.importorskip("cv2", reason="cv2 is not installed")
    found = segmented()
    outlines = found.to_polygons(tolerance=0)
    assert [len(each) for each in outlines] == [0, 1] and outlines[1][0].dtype == np.float32
    assert outlines[1][0].min(0).tolist() == [320, 240]
    for polygons, mask in zip(outlines, found.masks):
        drawn = np.zeros(mask.shape, np.uint8)
        # OpenCV counts pixels by their centres.
        cv2.fillPoly(drawn, [np.ceil(p - 0.5).astype(np.int32) - (p == p.max(0)) for p in polygons],
                     1)
        assert np.array_equal(drawn.astype(bool), mask)
    ring = np.ones((1, 9, 9), bool)
    ring[0, 3:6, 3:6] = False
    one = halyard.Detections([[0, 0, 9, 9]], masks=ring)
    assert len(one.to_polygons()[0]) == 1 and len(one.to_polygons(holes=True)[0]) == 2
    fails(ValueError, "no masks", lambda: made().to_polygons())


def test_run_lengths_are_those_of_pycocotools():
    coco = pytest.importorskip("pycocotools.mask", reason="pycocotools is not installed")
    random = np.random.default_rng(1).random((4, 31, 17)) < 0.5
    random[1], random[2] = True, False
    found = halyard.Detections(np.tile([0, 0, 17, 31], (4, 1)), masks=random)
    for runs, mask in zip(found.to_rle(), random):
        theirs = coco.encode(np.asfortranarray(mask.astype(np.uint8)))
        assert runs["counts"] == theirs["counts"].decode() and runs["size"] == [31, 17]
        assert np.array_equal(coco.decode(runs).astype(bool), mask)


def test_repr_says_what_is_there():
    assert repr(made(tracker_id=[1, 2, 3])) == \
        "Detections(3 in source 200 x 200: boat x2, person; tracker_id)"
    assert repr(halyard.Detections.empty(unit=None)) == "Detections(0 in unit not known)"
    assert "masks" in repr(segmented()) and "network input 640 x 480" in repr(segmented())
