# SPDX-License-Identifier: Apache-2.0
"""Tiles: grids, placements, merged results."""
import pickle

import numpy as np
import pytest

import halyard as ef
from helpers import fails


def found(boxes, score=0.9, label=1):
    n = len(boxes)
    return (np.array(boxes, np.float32).reshape(n, 4), np.full(n, score, np.float32),
            np.full(n, label, np.uintp))


def placement(index=0, count=2, origin=(0, 0), letterbox=None):
    return ef.TilePlacement(index, count, origin, (640, 640), (1280, 640), letterbox)


def test_a_grid_covers_the_frame_evenly():
    tiles = ef.tile_grid(1920, 640, 640, 640, 0.1)
    assert [tile.source.x for tile in tiles] == [0, 427, 853, 1280]
    assert [(t.index, t.row, t.col) for t in tiles] == [(0, 0, 0), (1, 0, 1), (2, 0, 2), (3, 0, 3)]
    assert len(ef.tile_grid(3840, 2160, 640, 640)) == 32
    whole = ef.tile_grid(320, 240, 640, 640)
    assert len(whole) == 1 and (whole[0].source.width, whole[0].source.height) == (320, 240)


@pytest.mark.parametrize("call, error", [
    (dict(tile_w=0), ValueError), (dict(overlap=1.0), ValueError), (dict(overlap=-0.1), ValueError),
    (dict(overlap=float("nan")), ValueError), (dict(frame_w=-1), OverflowError),
    (dict(frame_w=2**40), (ValueError, OverflowError)), (dict(tile_h="a"), TypeError)])
def test_grids_of_nothing_are_refused(call, error):
    with pytest.raises(error):
        ef.tile_grid(**{**dict(frame_w=10, frame_h=10, tile_w=5, tile_h=5), **call})


def test_value_classes_have_names_equality_and_travel():
    config = ef.TilingConfig(640, 320, 0.3, ef.Fit.Letterbox, [1, 2, 3, 4])
    assert (config.tile_w, config.tile_h, config.fit) == (640, 320, ef.Fit.Letterbox)
    assert config.pad == (1, 2, 3, 4) and config.overlap == pytest.approx(0.3)
    assert config.with_overlap(0.5).overlap == 0.5 and config.overlap == pytest.approx(0.3)
    assert config.with_fit(ef.Fit.Stretch).fit == ef.Fit.Stretch
    default = ef.TilingConfig(640, 640)
    assert default.overlap == 0.2 and default.pad == (114, 114, 114, 255)
    merge = ef.MergeConfig()
    assert (merge.metric, merge.threshold, merge.class_agnostic, merge.max_det,
            merge.score_threshold) == (ef.MatchMetric.Ios, 0.5, False, 300, 0.0)
    where = placement(letterbox=[0, 0.25, 1, 0.75])
    assert where.letterbox == (0.0, 0.25, 1.0, 0.75) and where.origin == (0.0, 0.0)
    for value in (config, merge, where, ef.tile_grid(64, 64, 32, 32)[1].index):
        assert pickle.loads(pickle.dumps(value)) == value and repr(value)
    assert "MergeConfig(metric=" in repr(merge)


@pytest.mark.parametrize("make", [
    lambda: ef.TilingConfig(1, 1, pad=(1, 2, 3)), lambda: ef.TilingConfig(1, 1, pad=(1, 2, 3, 256)),
    lambda: ef.TilePlacement(0, 1, (0,), (1, 1), (1, 1)),
    lambda: ef.TilePlacement(0, 1, (0, 0), (1, 1), (1, 1), (0, 0, 1))])
def test_values_of_the_wrong_length_are_refused(make):
    fails(ValueError, make)


def test_boxes_are_lifted_to_the_frame():
    boxes, scores, classes = ef.lift_tile_boxes(*found([[0.25, 0.5, 0.75, 1.0]]),
                                                placement(origin=(100, 200)))
    assert boxes.tolist() == [[260, 520, 580, 840]]
    assert (boxes.dtype, scores.dtype, classes.dtype) == (np.float32, np.float32, np.uintp)
    inside = ef.lift_tile_boxes(*found([[0, 0.25, 1, 0.75]]),
                                placement(letterbox=(0, 0.25, 1, 0.75)))[0]
    assert inside.tolist() == [[0, 0, 640, 640]]


def test_the_merge_takes_the_box_around_all():
    boxes = [[0, 0, 100, 100], [90, 0, 150, 100], [0, 0, 99, 100]]
    merged, scores, classes = ef.merge_tiled_detections(
        boxes, [0.5, 0.9, 0.8], np.array([1, 1, 1], np.int64), ef.MergeConfig())
    assert merged.tolist() == [[90, 0, 150, 100], [0, 0, 100, 100]]
    assert scores.tolist() == pytest.approx([0.9, 0.8]) and classes.tolist() == [1, 1]
    empty = ef.merge_tiled_detections(*found([]), ef.MergeConfig())
    assert [a.shape for a in empty] == [(0, 4), (0,), (0,)]


def test_the_accumulator_takes_each_tile_once_in_any_order():
    results = []
    for order in ((0, 1), (1, 0)):
        frame = ef.TiledFrameAccumulator((1280, 640), 2, ef.MergeConfig())
        assert frame.remaining() == 2 and not frame.is_complete()
        for index in order:
            where = placement(index, origin=(640 * index, 0))
            assert frame.push_tile(*found([[0.1, 0.1, 0.2, 0.2]], 0.5 + index / 4), where) is True
            assert frame.push_tile(*found([[0.1, 0.1, 0.2, 0.2]]), where) is False
        assert frame.is_complete() and frame.push_tile(*found([]), placement(7)) is False
        results.append(frame.finalize())
        fails(RuntimeError, frame.remaining, frame.finalize, frame.is_complete)
    for one, other in zip(*results):
        assert np.array_equal(one, other)
    assert np.allclose(results[0][0], [[704, 64, 768, 128], [64, 64, 128, 128]])


def test_a_frame_without_extent_has_no_fractions():
    frame = ef.TiledFrameAccumulator((0, 640), 2, ef.MergeConfig())
    assert frame.finalize_normalized()[0].shape == (0, 4)


@pytest.mark.parametrize("arguments, name", [
    ((np.zeros((1, 3), np.float32), [0.5], [1]), "bbox"),
    ((np.zeros((1, 4), np.float32), [0.5, 0.6], [1]), "scores"),
    ((np.zeros((1, 4), np.float32), [0.5], [1.5]), "classes")])
def test_bad_arrays_are_named(arguments, name):
    fails((TypeError, ValueError), name,
          lambda: ef.merge_tiled_detections(*arguments, ef.MergeConfig()))
    fails((TypeError, ValueError), name, lambda: ef.lift_tile_boxes(*arguments, placement()))


@pytest.mark.parametrize("other", [None, 3, "tile"])
def test_other_objects_are_no_placements(other):
    fails(TypeError, lambda: ef.lift_tile_boxes(*found([]), other))
    fails((TypeError, AttributeError), lambda: ef.merge_tiled_detections(*found([]), other))
