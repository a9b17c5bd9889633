# SPDX-License-Identifier: Apache-2.0
"""Tracing: sessions, spans of the library and of the program."""
import json
import pathlib
import threading

import pytest

import halyard as ef
from helpers import fails


def spans(path):
    events = json.loads(pathlib.Path(path).read_text())
    events = events["traceEvents"] if isinstance(events, dict) else events
    return {e["name"]: e for e in events if e.get("ph") == "X"}


def test_a_session_records_the_program_s_spans_with_their_values(tmp_path):
    with ef.Tracing(str(tmp_path / "a.json")) as session:
        assert isinstance(session, ef.Tracing) and ef.is_tracing_active()
        with ef.span("step", frame=7, share=0.5, label="boat"):
            pass
    assert not ef.is_tracing_active()
    step = spans(tmp_path / "a.json")["step"]
    assert step["args"] == {"frame": 7, "share": 0.5, "label": "boat"}
    assert step["dur"] >= 0


def test_sessions_follow_one_another_and_one_object_serves_twice(tmp_path):
    session = ef.Tracing(tmp_path / "b.json")
    for name in ("first", "second"):
        with session, ef.span(name):
            pass
        assert name in spans(tmp_path / "b.json")
    assert "first" not in spans(tmp_path / "b.json")


def test_one_session_at_a_time(tmp_path):
    with ef.Tracing(tmp_path / "c.json"):
        other = ef.Tracing(tmp_path / "d.json")
        fails(RuntimeError, lambda: other.start())
        other.stop()
        assert ef.is_tracing_active()


def test_exceptions_pass_and_the_file_is_written(tmp_path):
    with pytest.raises(ZeroDivisionError):
        with ef.Tracing(tmp_path / "e.json"), ef.span("fails"):
            raise ZeroDivisionError
    assert "fails" in spans(tmp_path / "e.json")


def test_stop_without_a_session_does_nothing(tmp_path):
    ef.Tracing(tmp_path / "f.json").stop()
    assert not (tmp_path / "f.json").exists()


def test_a_folder_that_is_missing_is_an_error(tmp_path):
    fails(ef.MissingFileError, lambda: ef.Tracing(tmp_path / "none" / "g.json").start())
    assert not ef.is_tracing_active()


@pytest.mark.parametrize("path", [None, 7, b"bytes"])
def test_paths_of_another_type_are_refused(path):
    fails(TypeError, lambda: ef.Tracing(path))


def test_a_span_belongs_to_its_thread(tmp_path):
    with ef.Tracing(tmp_path / "h.json"):
        span = ef.span("mine")
        span.__enter__()
        fails(ValueError, lambda: span.__enter__())
        errors = []

        def close():
            try:
                span.__exit__(None, None, None)
            except ValueError as error:
                errors.append(error)
        thread = threading.Thread(target=close)
        thread.start()
        thread.join()
        assert len(errors) == 1
        span.__exit__(None, None, None)
    assert "mine" in spans(tmp_path / "h.json")


def test_names_beyond_the_limit_share_one(tmp_path):
    with ef.Tracing(tmp_path / "i.json"):
        for i in range(5000):
            with ef.span(f"name {i}"):
                pass
    seen = spans(tmp_path / "i.json")
    assert "name 100" in seen and "python.span" in seen and "name 4999" not in seen
