# SPDX-License-Identifier: Apache-2.0
"""ByteTrack and its kin, and what they tell of objects."""
import pickle

import numpy as np
import pytest

import halyard as ef
from helpers import fails, in_threads

UUID = "f81d4fae-7dec-41d0-a765-00a0c91e6bf6"
TRACKERS = [ef.ByteTrack, ef.OcSort, ef.Sort]


def arrays(boxes, score=0.9, label=1):
    n = len(boxes)
    return (np.array(boxes, np.float32).reshape(n, 4), np.full(n, score, np.float32),
            np.full(n, label, np.uintp))


def moving(frame):
    at = 0.1 + 0.01 * frame
    return [[at, at, at + 0.2, at + 0.2], [0.7, 0.1, 0.9, 0.3]]


@pytest.mark.parametrize("kind", TRACKERS)
def test_objects_keep_their_name_while_they_move(kind):
    tracker = kind()
    for frame in range(12):
        found = tracker.update(*arrays(moving(frame)), 1000 + frame * 33_000_000)
    assert len(found) == 2 and found[0].uuid != found[1].uuid
    again = tracker.update(*arrays(moving(12)), 1000 + 12 * 33_000_000)
    assert [a.uuid for a in again] == [f.uuid for f in found]
    assert again[0].count == 13 and again[0].created == 1000
    assert again[0].last_updated == 1000 + 12 * 33_000_000
    assert np.allclose(again[0].tracked_location, moving(12)[0], atol=0.03)
    assert [t.info for t in tracker.get_active_tracks()] == again


def test_what_is_given_is_parallel_to_the_input():
    tracker = ef.ByteTrack(high_conf=0.7)
    boxes, scores, labels = arrays(moving(0))
    scores[0] = 0.3
    found = tracker.update(boxes, scores, labels, 1000)
    assert found[0] is None and isinstance(found[1], ef.TrackInfo)
    assert tracker.update(*arrays([]), 2000) == []


def test_active_tracks_coast_within_their_lifespan():
    tracker = ef.ByteTrack(lifespan_ns=100)
    tracker.update(*arrays(moving(0), label=5), 1000)
    tracker.update(*arrays([]), 1050)
    seen = tracker.get_active_tracks()
    assert len(seen) == 2 and seen[0].last_box[2] == 5
    assert seen[0].last_box[1] == pytest.approx(0.9)
    assert seen[0].last_box[0] == pytest.approx(moving(0)[0])
    tracker.update(*arrays([]), 1300)
    assert tracker.get_active_tracks() == []


@pytest.mark.parametrize("kind", [list, lambda a: a.astype(np.float64) if a.dtype.kind == "f"
                                  else a.astype(np.int64), lambda a: a[::-1][::-1],
                                  np.asfortranarray])
def test_array_likes_are_taken(kind):
    boxes, scores, labels = arrays(moving(0))
    if kind is list:
        boxes, scores, labels = boxes.tolist(), scores.tolist(), labels.tolist()
    else:
        boxes, scores, labels = kind(boxes), kind(scores), kind(labels)
    found = ef.ByteTrack().update(boxes, scores, labels, 1000)
    assert np.allclose(found[1].tracked_location, moving(0)[1], atol=1e-5)


@pytest.mark.parametrize("change, error, name", [
    (dict(boxes=np.zeros((2, 3), np.float32)), ValueError, "boxes"),
    (dict(boxes=np.zeros((2, 4, 1), np.float32)), TypeError, "boxes"),
    (dict(boxes=np.zeros((2, 4), ">f4")), TypeError, "boxes"),
    (dict(boxes=np.zeros((2, 4), np.complex64)), TypeError, "boxes"),
    (dict(boxes="ab"), TypeError, "boxes"), (dict(boxes=None), TypeError, "boxes"),
    (dict(boxes=[[1, 2], [3]]), TypeError, "boxes"),
    (dict(scores=np.zeros(3, np.float32)), ValueError, "scores"),
    (dict(labels=np.zeros(2, np.float32)), TypeError, "labels"),
    (dict(labels=[-1, 0]), ValueError, "labels"),
    (dict(labels=np.array([0, 2**31], np.uint64)), ValueError, "labels"),
    (dict(labels=np.array([0, 2**64 - 1], np.uint64)), ValueError, "labels"),
    (dict(labels=[0]), ValueError, "labels"),
    (dict(timestamp_ns=-1), OverflowError, "timestamp_ns"),
    (dict(timestamp_ns=2**64), OverflowError, "timestamp_ns"),
    (dict(timestamp_ns="now"), TypeError, "timestamp_ns")])
def test_bad_arguments_are_named(change, error, name):
    boxes, scores, labels = arrays(moving(0))
    call = dict(boxes=boxes, scores=scores, labels=labels, timestamp_ns=1000)
    tracker = ef.ByteTrack()
    fails(error, name, lambda: tracker.update(**{**call, **change}))
    assert tracker.get_active_tracks() == []
    assert len(tracker.update(**call)) == 2


@pytest.mark.parametrize("kind", TRACKERS)
def test_detections_beyond_the_limit_are_counted(kind):
    tracker = kind()
    assert tracker.left_out == 0
    boxes = [[x, y, x + 5, y + 5] for x in range(0, 400, 10) for y in range(0, 260, 10)]
    tracker.update(*arrays(boxes), 1000)
    assert len(boxes) == 1040 and tracker.left_out == 40
    tracker.update(*arrays(boxes[:1000]), 2000)
    assert tracker.left_out == 0
    with pytest.raises(AttributeError):
        tracker.left_out = 1


def test_time_does_not_run_backwards():
    tracker = ef.ByteTrack()
    tracker.update(*arrays(moving(0)), 1000)
    fails(RuntimeError, lambda: tracker.update(*arrays(moving(0)), 999))


@pytest.mark.parametrize("options", [dict(high_conf=float("nan")), dict(iou=float("nan")),
                                     dict(lifespan_ns=-1)])
def test_options_are_checked(options):
    fails((ValueError, OverflowError), lambda: ef.ByteTrack(**options))


def test_track_info_is_a_value():
    info = ef.TrackInfo(UUID.replace("-", ""), (1, 2, 3, 4), 5, 6, 7)
    assert info.uuid == UUID and info.tracked_location == [1.0, 2.0, 3.0, 4.0]
    assert (info.count, info.created, info.last_updated) == (5, 6, 7)
    same = ef.TrackInfo(uuid=UUID, tracked_location=[1, 2, 3, 4], count=5, created=6,
                        last_updated=7)
    other = ef.TrackInfo(UUID, [1, 2, 3, 5], 5, 6, 7)
    assert info == same and hash(info) == hash(same) and info != other and info != 3
    assert pickle.loads(pickle.dumps(info)) == info
    assert UUID in repr(info) and eval(repr(info), {"TrackInfo": ef.TrackInfo}) == info


def test_active_track_info_is_a_value():
    info = ef.TrackInfo(UUID, [1, 2, 3, 4], 5, 6, 7)
    active = ef.ActiveTrackInfo(info, [1, 2, 3, 4], 0.5, 7)
    assert active.info == info and active.last_box == ([1.0, 2.0, 3.0, 4.0], 0.5, 7)
    assert active == ef.ActiveTrackInfo(track_info=info, bbox=[1, 2, 3, 4], score=0.5, label=7)
    assert active == ef.ActiveTrackInfo(info=info, bbox=[1, 2, 3, 4], score=0.5, label=7)
    assert active != ef.ActiveTrackInfo(info, [1, 2, 3, 4], 0.5, 8)
    assert pickle.loads(pickle.dumps(active)) == active and UUID in repr(active)


@pytest.mark.parametrize("change, error", [
    (dict(uuid="x"), ValueError), (dict(uuid=UUID + "0"), ValueError), (dict(uuid=3), TypeError),
    (dict(tracked_location=[1, 2, 3]), ValueError), (dict(tracked_location=3), TypeError),
    (dict(tracked_location=["a"] * 4), TypeError), (dict(created=-1), OverflowError)])
def test_bad_track_infos_are_refused(change, error):
    call = dict(uuid=UUID, tracked_location=[1, 2, 3, 4], count=1, created=2, last_updated=3)
    fails(error, lambda: ef.TrackInfo(**{**call, **change}))


def test_one_tracker_serves_several_threads():
    tracker = ef.ByteTrack()

    def work(_):
        for _ in range(200):
            tracker.update(*arrays(moving(0)), 1000)
            tracker.get_active_tracks()

    in_threads(work, range(4))
    assert len(tracker.get_active_tracks()) == 2
