# SPDX-License-Identifier: Apache-2.0
"""halyard.Pipeline: what it finds is what a loop of Model finds, in order, with any sources."""
import gc
import json
import pathlib
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import halyard
from harbour import HARBOUR, MODEL, needs_engine

CLIP = HARBOUR / "clip"
FILES = sorted(CLIP.iterdir())


def grey(value, width=16, height=8):
    return np.full((height, width), value, np.uint8)


def numbered(count):
    for index in range(count):
        yield grey(index)


def part_of_clip():
    """The last 30 frames: enough for tracks to begin, to coast and to end."""
    return halyard.open(CLIP, start=2.4)


def pixel(result):
    return int(np.asarray(result.image).flat[0])


def assert_same(found, wanted):
    assert np.array_equal(found.class_id, wanted.class_id)
    np.testing.assert_allclose(found.confidence, wanted.confidence, atol=1e-5)
    np.testing.assert_allclose(found.xyxy, wanted.xyxy, atol=0.01)
    assert found.names == wanted.names and found.unit == wanted.unit


@needs_engine
def test_finds_what_a_loop_of_the_model_finds():
    model = halyard.Model(MODEL)
    with halyard.Pipeline(CLIP, model, conf=0.4, iou=0.6) as pipeline:
        found = list(pipeline)
    wanted = list(model.stream(CLIP, conf=0.4, iou=0.6))
    assert len(found) == len(wanted) == len(FILES)
    for ours, each in zip(found, wanted):
        assert (ours.index, ours.timestamp_ns, ours.path) == (
            each.index, each.timestamp_ns, each.path)
        assert ours.error is None and not ours.is_skipped()
        assert isinstance(ours.detections, halyard.Result)
        assert_same(ours.detections, each)
        assert ours.detections.placement == each.placement
    assert sum(map(len, found)) > 100


@needs_engine
@pytest.mark.parametrize("kind", ["bytetrack", "bytetrack-paper", "ocsort", "sort"])
def test_tracks_what_the_model_tracks(kind):
    model = halyard.Model(MODEL)
    found = list(halyard.Pipeline(part_of_clip(), model, tracker=kind))
    wanted = list(model.track(part_of_clip(), tracker=kind))
    coasting = list(model.track(part_of_clip(), tracker=kind, coasting=True))
    assert len(found) == len(wanted)
    for ours, each, all_tracks in zip(found, wanted, coasting):
        assert_same(ours.detections, each)
        assert np.array_equal(ours.detections.tracker_id, each.tracker_id)
        assert np.array_equal(ours.tracks.tracker_id, all_tracks.tracker_id)
        assert np.array_equal(ours.tracks.is_coasting, all_tracks.is_coasting)
    uuids = {number: uuid for ours in found
             for number, uuid in zip(ours.tracks.tracker_id, ours.tracks.tracker_uuid)}
    assert len(set(uuids.values())) == len(uuids) > 3


@needs_engine
def test_a_trackers_options_are_used():
    tracker = halyard.Tracker("bytetrack", high_score=0.99)
    results = list(halyard.Pipeline(CLIP, MODEL, tracker=tracker))
    assert sum(map(len, results)) == 0  # nothing starts a track


@needs_engine
def test_keeps_the_wanted_classes_before_it_tracks():
    model = halyard.Model(MODEL)
    name = model.names[0]
    found = list(halyard.Pipeline(part_of_clip(), model, classes=name, tracker="ocsort"))
    wanted = list(model.track(part_of_clip(), classes=name, tracker="ocsort"))
    for ours, each in zip(found, wanted):
        assert_same(ours.detections, each)
        assert np.array_equal(ours.detections.tracker_id, each.tracker_id)
    assert {0} == {label for ours in found for label in ours.detections.class_id}


@needs_engine
def test_two_models_see_every_frame():
    first, second = halyard.Model(MODEL), halyard.Model(HARBOUR / "harbour_int8.onnx")
    results = list(halyard.Pipeline(FILES[0], [first, second]))
    assert len(results) == 1 and len(results[0].results) == 2
    assert_same(results[0].results[0], first(FILES[0]))
    assert_same(results[0].results[1], second(FILES[0]))


@needs_engine
def test_tiles_find_small_objects_in_pixels_of_the_image():
    model = halyard.Model(MODEL)
    small = model(FILES[0])
    width, height = small.placement.source
    canvas = np.zeros((height * 2, width * 2, 3), np.uint8)
    canvas[:height, :width] = np.asarray(small.picture())
    (result,) = halyard.Pipeline(iter([canvas]), model, tiles=(width, height))
    best = small[small.confidence > 0.7]
    assert len(best) >= 2 and result.detections.size == (width * 2, height * 2)
    for box in best.xyxy:
        assert np.abs(result.detections.xyxy - box).max(axis=1).min() < 30
    assert result.detections.plot().shape == (height * 2, width * 2, 3)


@needs_engine
def test_a_result_draws_and_exports_as_a_models():
    (result,) = halyard.Pipeline(FILES[0], MODEL, tracker="bytetrack")
    assert result.detections.plot().shape == np.asarray(result.detections.picture()).shape
    assert len(result.detections.to_coco(1)) == len(result) > 2
    assert [found.name for found in result] == result.detections.class_names
    assert json.loads(json.dumps(result.detections.to_dict()))["path"] == str(FILES[0])
    assert set(result.detections.speed) == {"preprocess", "inference", "postprocess"}
    stages = [each.stage for each in result.times]
    assert stages == ["load", "convert", "model", "decode", "track"]
    assert all(each.duration > 0 for each in result.times)


@needs_engine
def test_networks_for_the_whole_image_and_callables_are_refused():
    own = halyard.Model(engine=lambda image: np.zeros((1, 6, 100), np.float32),
                        input_size=(64, 64))
    with pytest.raises(halyard.UnsupportedError, match="add_stage"):
        halyard.Pipeline(CLIP, own)


def test_frames_of_an_iterator_keep_their_order_and_values():
    pipeline = halyard.Pipeline(numbered(50), in_flight=3)
    seen = [(pixel(result), result.index, result.ordinal) for result in pipeline]
    assert seen == [(i, i, i) for i in range(50)]
    stats = pipeline.stats()
    assert stats.frames == stats.sources[0].read == stats.sources[0].delivered == 50
    assert stats.sources[0].has_ended and stats.in_flight == 0
    assert stats.to_dict()["sources"][0]["name"] == "generator 0"
    assert stats.stage("load").frames == 50 and stats.fps > 0
    with pytest.raises(KeyError, match="'sort'.*load"):
        stats.stage("sort")


def test_takes_what_open_gives_and_arrays_with_blue_first():
    blue = np.zeros((4, 4, 3), np.uint8)
    blue[..., 0] = 200
    (result,) = halyard.Pipeline(iter([blue]), bgr=True)
    assert result.frame.numpy()[0, 0].tolist() == [0, 0, 200]
    with halyard.open(CLIP) as frames:
        results = list(halyard.Pipeline(frames))
    assert [result.path for result in results] == [str(file) for file in FILES]
    (result,) = halyard.Pipeline(iter([str(FILES[3])]))
    assert result.path == str(FILES[3]) and result.image.upright_size[0] > 100


def test_several_sources_are_each_in_order():
    pipeline = halyard.Pipeline([numbered(20), CLIP, numbered(30)], in_flight=5)
    assert pipeline.source_names == ("generator 0", str(CLIP), "generator 2")
    seen = {0: [], 1: [], 2: []}
    ordinals = []
    for result in pipeline:
        seen[result.source].append(result.index)
        ordinals.append(result.ordinal)
    assert seen == {0: list(range(20)), 1: list(range(len(FILES))), 2: list(range(30))}
    assert ordinals == list(range(50 + len(FILES)))


def test_a_frame_is_given_back_when_its_result_dies():
    read = []

    def frames():
        for index in range(20):
            read.append(index)
            yield grey(index)

    pipeline = halyard.Pipeline(frames(), in_flight=1)
    results = iter(pipeline)
    first = next(results)
    reference = weakref.ref(first)

    def wait_until_read(count):
        until = time.monotonic() + 60
        while len(read) < count and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(0.1)  # time to read more
        assert len(read) == count

    wait_until_read(4)  # the only frame in flight is ours
    del first
    assert reference() is None  # nothing else keeps it
    wait_until_read(5)
    assert [pixel(result) for result in results] == list(range(1, 20))


@pytest.mark.parametrize("in_flight", [1, 2, 7])
def test_kept_results_get_their_own_copy(in_flight):
    results = list(halyard.Pipeline(numbered(40), in_flight=in_flight))
    assert [pixel(result) for result in results] == list(range(40))
    assert [result.index for result in results] == list(range(40))
    assert all(result.error is None and result.times[0].stage == "load" for result in results)


@needs_engine
def test_a_result_outlives_its_pipeline():
    pipeline = halyard.Pipeline(FILES[:1] + FILES[:1], MODEL)
    result = next(iter(pipeline))
    pipeline.stop()
    del pipeline
    gc.collect()
    assert_same(result.detections, halyard.Model(MODEL)(FILES[0]))


def test_drop_oldest_counts_what_it_drops():
    all_read = threading.Event()

    def fast():
        yield from map(grey, range(60))
        all_read.set()

    pipeline = halyard.Pipeline(fast(), on_overload="drop_oldest", in_flight=1)
    seen = []
    for result in pipeline:
        seen.append(pixel(result))
        assert all_read.wait(60)
    source = pipeline.stats().sources[0]
    assert seen == sorted(set(seen)) and len(seen) < 60
    assert source.read == 60 and source.dropped == 60 - len(seen) > 0


@needs_engine
def test_skip_inference_passes_the_network_by():
    def images():
        image = halyard.load(FILES[0])
        for _ in range(30):
            yield image

    pipeline = halyard.Pipeline(images(), MODEL, tracker="bytetrack",
                                on_overload="skip_inference", in_flight=1)
    results = list(pipeline)
    skipped = [result for result in results if result.is_skipped()]
    assert len(results) == 30
    assert pipeline.stats().sources[0].skipped == len(skipped) > 0
    for result in skipped:
        assert len(result) == 0 and result.detections.placement.source == (640, 360)
    assert any(len(result.tracks) for result in skipped)


def test_fields_of_an_unknown_kind_are_refused():
    for options, match in (({"on_overload": "drop-oldest"}, "did you mean 'drop_oldest'"),
                           ({"tracker": "bytetrak"}, "bytetrack"), ({"engine": "x"}, "model")):
        with pytest.raises(ValueError, match=match):
            halyard.Pipeline(CLIP, **options)
    with pytest.raises(ValueError, match="in_flight: must be 1..64"):
        halyard.Pipeline(CLIP, in_flight=0).start()
    with pytest.raises(TypeError, match="one image"):
        halyard.Pipeline([grey(1), grey(2)])
    with pytest.raises(TypeError, match="sources"):
        halyard.Pipeline(3.5)
    with pytest.raises(FileNotFoundError, match="missing.mp4"):
        halyard.Pipeline("missing.mp4")
    with pytest.raises(TypeError, match="tracker"):
        halyard.Pipeline(CLIP, tracker=3)
    with pytest.raises(TypeError, match="on_error"):
        halyard.Pipeline(CLIP, on_error=3)
    with pytest.raises(ValueError, match="sources: must be 1..64"):
        halyard.Pipeline([]).start()


def test_the_example_counts_objects_of_two_clips():
    pytest.importorskip("openvino")
    example = pathlib.Path(__file__).parents[2] / "examples/python/pipeline.py"
    done = subprocess.run([sys.executable, "-B", example, MODEL, CLIP, CLIP],
                          capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert f"{2 * len(FILES)} frames" in lines[-1]
    assert sum("boat" in line for line in lines) >= 2
