# SPDX-License-Identifier: Apache-2.0
"""The library's own stages of a Pipeline: drawings, lines of JSON, videos and topics."""
import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import halyard
import peers  # noqa: F401  a namespace of its own for topics
from harbour import HARBOUR, MODEL, needs_engine

CLIP = HARBOUR / "clip"


def grey(count, width=64, height=48):
    for index in range(count):
        yield np.full((height, width), 10 * index, np.uint8)


def test_without_a_drawing_there_is_none():
    assert [result.drawn for result in halyard.Pipeline(grey(3))] == [None] * 3


def test_drawings_are_kept_with_their_results():
    pipeline = halyard.Pipeline(grey(12), in_flight=2)
    pipeline.add_drawing()
    results = list(pipeline)
    for index, result in enumerate(results):
        drawn = np.asarray(result.drawn)
        assert drawn.shape == (48, 64, 3) and set(drawn.flat) == {10 * index}


@needs_engine
def test_tracks_are_drawn_before_the_stages_behind():
    pipeline = halyard.Pipeline(sorted(CLIP.iterdir())[:6], MODEL, tracker="bytetrack")
    early, late = [], []
    pipeline.add_stage(lambda result: early.append(result.drawn), name="early")
    pipeline.add_drawing(mask_opacity=0)
    pipeline.add_stage(lambda result: late.append(np.array(result.drawn)), name="late")
    for result, drawn in zip(pipeline, late):
        assert np.array_equal(np.asarray(result.drawn), drawn)
        assert drawn.shape == (360, 640, 3)
    assert early == [None] * 6
    stages = [each.name for each in pipeline.stats().stages]
    assert stages[-4:] == ["early", "paint", "draw", "late"]


@needs_engine
def test_lines_and_a_video_have_each_frame(tmp_path):
    pipeline = halyard.Pipeline(CLIP, MODEL)
    pipeline.add_drawing()
    pipeline.add_json_lines(tmp_path / "seen.jsonl")
    pipeline.add_video(str(tmp_path / "seen.mp4"), 15)
    found = [len(result) for result in pipeline]
    lines = [json.loads(line) for line in (tmp_path / "seen.jsonl").read_text().splitlines()]
    assert [len(line["detections"]) for line in lines] == found
    assert [line["index"] for line in lines] == list(range(90))
    with halyard.open(tmp_path / "seen.mp4") as frames:
        assert sum(1 for _ in frames) == 90 and frames.rate == 15


@needs_engine
def test_a_topic_has_the_frames_and_what_was_found():
    with halyard.Topic("sinks/boats", halyard.Image, role="subscriber", depth=16) as topic:
        pipeline = halyard.Pipeline(sorted(CLIP.iterdir())[0], MODEL)
        pipeline.add_topic("sinks/boats")
        (result,) = pipeline
        image = topic.recv(5)
        assert (image.width, image.height) == (640, 360) and len(result) > 3


@needs_engine
def test_the_example_watches_a_clip(tmp_path):
    example = pathlib.Path(__file__).parents[2] / "examples/python/watch_camera.py"
    done = subprocess.run([sys.executable, "-B", example, MODEL, CLIP], cwd=tmp_path,
                          capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("0: ") and "boat" in done.stdout
    lines = (tmp_path / "seen.jsonl").read_text().splitlines()
    assert len(lines) == 90 and json.loads(lines[-1])["index"] == 89


def test_bad_arguments_are_refused(tmp_path):
    pipeline = halyard.Pipeline(grey(1))
    for opacity in (-1, 2, float("nan")):
        with pytest.raises(halyard.InvalidArgumentError, match="mask_opacity"):
            pipeline.add_drawing(mask_opacity=opacity)
    with pytest.raises(halyard.MissingFileError, match="none"):
        pipeline.add_json_lines(tmp_path / "none" / "x")
    with pytest.raises(halyard.UnsupportedError, match="extension"):
        pipeline.add_video(tmp_path / "x.txt")
    with pytest.raises(halyard.InvalidArgumentError, match="rate"):
        pipeline.add_video(tmp_path / "x.mp4", rate=0)
    with pytest.raises(halyard.InvalidArgumentError, match="name"):
        pipeline.add_topic("no spaces")
    with pytest.raises(TypeError):
        pipeline.add_topic(5)
    list(pipeline)
    for add in (pipeline.add_drawing, lambda: pipeline.add_topic("sinks/late"),
                lambda: pipeline.add_json_lines(tmp_path / "x"),
                lambda: pipeline.add_video(tmp_path / "x.mp4")):
        with pytest.raises(halyard.InvalidArgumentError, match="before the start"):
            add()


@needs_engine
def test_an_error_of_writing_ends_the_run():
    pipeline = halyard.Pipeline(CLIP, MODEL)
    pipeline.add_json_lines("/dev/full")
    with pytest.raises(halyard.Error, match="/dev/full"):
        for _ in pipeline:
            pass
    assert pipeline.stats().frames < 90
