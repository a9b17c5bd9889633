# SPDX-License-Identifier: Apache-2.0
"""Pipeline: reads, infers, decodes and tracks frames side by side."""
from __future__ import annotations

import atexit
import threading
import weakref
from functools import partial
from typing import (TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Literal, Optional, Tuple,
                    TypeVar, Union)

from ._calls import helpful
from ._core import _PipelineCore
from ._errors import Error
from ._pipeline_parts import Fed, model_options, models_from, sources_from, tracker_options
from ._pipeline_result import PipelineResult
from ._pipeline_stats import PipelineStats

if TYPE_CHECKING:
    from types import TracebackType

    from ._model import Classes, Model, Path
    from ._tiling import TilingConfig
    from ._tracking import Tracker, TrackerKind

__all__ = ["Pipeline"]

Stage = TypeVar("Stage", bound=Callable[[PipelineResult], Any])
_running: "weakref.WeakSet[Pipeline]" = weakref.WeakSet()


@atexit.register
def _stop_all() -> None:
    """The threads of pipelines call Python, which they must not do when it has ended."""
    for each in list(_running):
        try:
            each.stop()
        except Error:  # of the parent process
            pass


class Pipeline:
    """Runs a network on the frames of sources, with reading, inference and tracking side by side::

        for result in halyard.Pipeline("harbour.mp4", "yolov8n.onnx", tracker="bytetrack"):
            print(result.index, result.detections)

    Args:
        sources: a path, an address, the number of a camera, "topic:NAME", a Topic, open()'s Frames,
            or an iterable of images (Frame, Tensor, NumPy array, path...); or a list of these.
            Arrays are not copied: yield a new one for each frame.
        model: a file or a Model, or a list of them, each of which sees every frame; None: none.
        tracker: its kind, or a Tracker, whose options are used; each source has its own.
        on_overload: "wait": no frame is lost; "drop_oldest": results are of new frames;
            "skip_inference": frames that come too fast pass the networks by.
        in_flight: frames between the sources and the end, 1..64.
        conf, iou, classes, max_det: as of a Model's call.
        tiles: runs the networks on overlapping tiles: True: of their input's size; (width, height);
            a TilingConfig, whose size and overlap are used.
        bgr: arrays of iterables have blue first.
        engine, device: of the models that are opened from files.
        on_error: called as on_error(what, exception) for errors of sources and stages, on the
            pipeline's threads.

    An error of one frame does not end the run: ``result.error``. Classifiers and semantic networks
    do not run here. All methods may be called from any thread, but stages call none that waits.

    Raises what halyard.open() and Model() raise."""

    @helpful
    def __init__(self, sources: Any, model: Union[None, Path, Model, List[Any]] = None, *,
                 tracker: Union[None, TrackerKind, Tracker] = None,
                 on_overload: Literal["wait", "drop_oldest", "skip_inference"] = "wait",
                 in_flight: int = 4, conf: float = 0.25, iou: float = 0.45,
                 classes: Classes = None, max_det: int = 300,
                 tiles: Union[None, bool, Tuple[int, int], TilingConfig] = None,
                 bgr: bool = False, engine: Optional[str] = None, device: str = "CPU",
                 on_error: Optional[Callable[[str, Exception], Any]] = None) -> None:
        if on_error is not None and not callable(on_error):
            raise TypeError(f"on_error: must be callable, not {type(on_error).__name__}")
        self._models = models_from(model, engine, device)
        self._sources = sources_from(sources, bgr)
        made = [model_options(each, conf, iou, max_det, classes, tiles) for each in self._models]
        self._facts = tuple(facts for _, facts in made)
        options: Dict[str, Any] = {
            "sources": [(each.name, each.feed) if isinstance(each, Fed) else each
                        for each in self._sources],
            "models": [each for each, _ in made], "tracker": tracker_options(tracker),
            "on_overload": on_overload, "in_flight": in_flight, "on_error": on_error,
            "make": partial(PipelineResult, self._facts)}
        self._core = _PipelineCore(options)
        self._in_flight = in_flight
        self._has_started = False
        self._lock = threading.RLock()
        self._live: List[weakref.ref[PipelineResult]] = []
        self._readers: Dict[int, int] = {}
        self._ended = threading.Event()

    @helpful
    def add_stage(self, fn: Stage, in_order: bool = True, *, name: Optional[str] = None) -> Stage:
        """Adds a function that is called with each frame's PipelineResult, behind those that were
        added before; before start(). Returns it: also a decorator.

        Args:
            in_order: one call at a time, in the order of frames; False: of several frames at once.
            name: in statistics and messages; None: the function's.

        Its exception becomes the frame's ``result.error``; the frame passes later stages by."""
        if not callable(fn):
            raise TypeError(f"fn: must be callable, not {type(fn).__name__}")
        own = str(name or getattr(fn, "__name__", type(fn).__name__))
        with self._lock:
            self._core.add_stage(own, fn, in_order)
        return fn

    @helpful
    def add_drawing(self, *, mask_opacity: float = 0.5) -> None:
        """Draws what is found on an upright RGB copy of each frame, ``result.drawn``; before
        start(). With a tracker the tracks are drawn, with their identities and trails.

        Args:
            mask_opacity: 0 to 1; 0: no masks.

        Raises MissingFileError if no font is installed."""
        with self._lock:
            self._core.add_drawing(mask_opacity)

    @helpful
    def add_json_lines(self, path: Path) -> None:
        """Writes a line of JSON for each frame and model (docs/json.md, "frame") to a file, which
        is emptied now; other programs may follow it. An error of writing ends the run."""
        with self._lock:
            self._core.add_json_lines(path)

    @helpful
    def add_video(self, path: Path, rate: float = 25.0) -> None:
        """Writes the frames, as drawn, to a video (.mp4, .mkv, .mov, .avi) of `rate` frames a
        second. The file gets its name at the end of the run. An error of writing ends the run."""
        with self._lock:
            self._core.add_video(path, rate)

    @helpful
    def add_topic(self, name: str) -> None:
        """Publishes the frames, as drawn, to a topic, and what is found to NAME/detections:
        ``halyard serve topic:NAME`` shows both in a browser, also while this program is not
        there."""
        with self._lock:
            self._core.add_topic(name)

    @property
    def models(self) -> Tuple[Model, ...]:
        """The networks."""
        return tuple(self._models)

    @property
    def source_names(self) -> Tuple[str, ...]:
        """Names of the sources: result.source is an index into them."""
        return tuple(each.name for each in self._sources)

    def start(self) -> None:
        """Starts the threads. Iteration does it, too. A pipeline runs once."""
        with self._lock:
            self._core.start()
            self._has_started = True
            _running.add(self)
            for each in self._sources:
                if isinstance(each, Fed):
                    each.start()

    def _begin(self) -> None:
        with self._lock:
            if not self._has_started:
                self.start()

    def _make_room(self) -> None:
        """Of results that the program keeps, the newest one of each thread stays in the pipeline's
        memory; older ones get their own copy."""
        with self._lock:
            held = [result for result in (ref() for ref in self._live)
                    if result is not None and not result._is_detached]
            allowed = min(max(1, len(self._readers)), self._in_flight - 1)
            excess = max(len(held) - allowed, 0)
            self._live = [weakref.ref(result) for result in held[excess:]]
        for result in held[:excess]:
            result._detach()

    @helpful
    def next(self, timeout: Optional[float] = None) -> Optional[PipelineResult]:
        """The next result; None at the end, or after stop().

        Raises WaitTimeoutError after `timeout` seconds; None: waits for ever."""
        self._begin()
        self._make_room()
        result: Optional[PipelineResult] = self._core.next(timeout)
        if result is None:
            self._ended.set()
        elif not result._is_detached:
            with self._lock:
                self._live.append(weakref.ref(result))
        return result

    def __iter__(self) -> Iterator[PipelineResult]:
        self._begin()
        return self._iterate()

    def _iterate(self) -> Iterator[PipelineResult]:
        own = threading.get_ident()
        with self._lock:
            self._readers[own] = self._readers.get(own, 0) + 1
        try:
            # The list is empty while the program has the result, so that it alone keeps it.
            taken = [self.next()]
            while taken[0] is not None:
                yield taken.pop()  # type: ignore[misc]
                taken.append(self.next())
        finally:
            with self._lock:
                self._readers[own] -= 1
                if self._readers[own] == 0:
                    del self._readers[own]
        self._finish()

    def _finish(self) -> None:
        try:
            self._core.wait()
        finally:
            _running.discard(self)
            self._ended.set()
            self._core.close()

    def wait(self) -> None:
        """Waits until all sources have ended and all frames have passed. Results that no other
        thread takes are dropped: for pipelines whose stages do the work."""
        self._begin()
        own = threading.get_ident()
        while any(reader != own for reader in list(self._readers)) and not self._ended.is_set():
            self._ended.wait(0.05)
        while self.next() is not None:
            pass
        self._finish()

    def drain(self) -> None:
        """Reads no more frames, lets those on their way pass, and waits for them as wait() does."""
        self._begin()
        self._core.request_drain()
        self.wait()

    def stop(self) -> None:
        """Reads no more frames and drops those on their way. Results that were taken stay valid."""
        with self._lock:
            if not self._has_started:
                return
        self._core.stop()
        self._finish()

    def pause(self) -> None:
        """Reads no frames until resume(); of cameras and topics the frames are dropped."""
        self._core.set_paused(True)

    def resume(self) -> None:
        """Continues after pause()."""
        self._core.set_paused(False)

    @property
    def is_paused(self) -> bool:
        """Whether pause() was called last."""
        return self._core.is_paused

    def stats(self) -> PipelineStats:
        """Counts and times, at any time."""
        return PipelineStats._of(self._core.stats())

    def __enter__(self) -> Pipeline:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.stop()

    def __repr__(self) -> str:
        models = ", ".join(facts.name for facts in self._facts) or "no model"
        return f"Pipeline({', '.join(self.source_names)} -> {models})"


Pipeline.__module__ = "halyard"
