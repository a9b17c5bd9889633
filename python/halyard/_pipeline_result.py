# SPDX-License-Identifier: Apache-2.0
"""PipelineResult: one frame of a Pipeline and what was found in it."""
from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

import numpy as np

from . import _core
from ._core import Placement, Tensor
from ._detections import Detections
from ._frames import Frame, upright
from ._result import Result
from ._tracking import _joined

if TYPE_CHECKING:
    from ._core import _PipelineItem
    from ._detection import Detection

__all__ = ["PipelineResult", "StageTime"]


class StageTime(NamedTuple):
    """When a stage of a frame ran: its start after the frame was read, and its duration, in
    milliseconds."""

    stage: str
    start: float
    duration: float


@dataclass(frozen=True)
class ModelFacts:
    """What the results of one model repeat."""

    name: str
    names: Optional[Tuple[str, ...]]
    task: str
    classes: Optional[List[int]]
    is_tiled: bool


def _whole(width: int, height: int) -> Placement:
    """The placement of an image that no network has seen as a whole."""
    size = (width, height)
    return _core._placement_of(size, (0.0, 0.0, width, height), (0, 0, 0), size,
                               (0, 0, width, height), (1.0, 0.0, 0.0, 0.0, 1.0, 0.0))


class PipelineResult:
    """One frame of a Pipeline: from ``for result in pipeline``, and the argument of its stages.

    - detections: a halyard.Result, as ``model(image)`` gives it, or with a tracker as
      ``model.track()`` does; empty if the frame failed or passed the network by;
    - iteration, ``len()`` and an index are those of ``detections``.

    A program may set its own attributes on it: what a stage sets, later stages and the loop see.
    The pipeline's memory of the frame is in use until the result is dropped, or the next one is
    taken while it is kept: then it gets its own copy of everything but the image, which is not
    copied."""

    if TYPE_CHECKING:
        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...

    def __init__(self, models: Tuple[ModelFacts, ...], item: _PipelineItem) -> None:
        self._models, self._item = models, item
        self._lock = threading.RLock()
        self._raised: Optional[BaseException] = None
        self._is_detached = False
        self._known: Dict[Any, Any] = {}

    def _once(self, key: Any, make: Any) -> Any:
        found = self._known.get(key)
        if found is None:
            with self._lock:
                found = self._known.get(key)
                if found is None:
                    found = self._known[key] = make()
        return found

    def _detach(self) -> None:
        """Takes a copy of everything and gives the frame back."""
        with self._lock:
            if self._is_detached:
                return
            try:
                if self._raised is None:
                    self._known["error"] = (self._item.error,)
                self._known["failed_stage"] = (self._item.failed_stage,)
                self._known["times"] = self.times
                self._known["drawn"] = (self.drawn,)
                self._numbers, self._frame  # noqa: B018
                for model in range(len(self._models)):
                    self.is_skipped(model), self._found(model), self._tracked(model)  # noqa: B018
            finally:
                self._is_detached = True
                self._item.release()

    @property
    def _numbers(self) -> Tuple[int, int]:
        found: Tuple[int, int] = self._once(
            "numbers", lambda: (self._item.source, self._item.ordinal))
        return found

    @property
    def _frame(self) -> Tuple[Tensor, str, int, int]:
        found: Tuple[Tensor, str, int, int] = self._once("frame", lambda: self._item.frame)
        return found

    @property
    def frame(self) -> Frame:
        """The Frame, upright, as open() gives it."""
        image, source, index, timestamp_ns = self._frame
        return Frame(upright(image), source, index, timestamp_ns)

    @property
    def drawn(self) -> Optional[Tensor]:
        """What Pipeline.add_drawing() drew: the upright image, RGB; None: nothing."""
        with self._lock:
            found: Tuple[Optional[Tensor]] = (
                self._known["drawn"] if self._is_detached else (self._item.drawn,))
        return found[0]

    @property
    def image(self) -> Tensor:
        """The image as the source gave it, with its orientation."""
        return self._frame[0]

    @property
    def path(self) -> str:
        """The file that the frame is from."""
        return self._frame[1]

    @property
    def index(self) -> int:
        """Number of the frame in its source, from 0 on."""
        return self._frame[2]

    @property
    def timestamp_ns(self) -> int:
        """Time of the frame by its source's clock."""
        return self._frame[3]

    @property
    def timestamp(self) -> float:
        """The same in seconds."""
        return self._frame[3] / 1e9

    @property
    def source(self) -> int:
        """Index of the source in the pipeline's list."""
        return self._numbers[0]

    @property
    def ordinal(self) -> int:
        """Number of the frame over all sources, in the order of stages, without gaps."""
        return self._numbers[1]

    @property
    def times(self) -> List[StageTime]:
        """The stages that have run so far, in order."""
        if self._is_detached:
            return list(self._known.get("times", ()))
        return [StageTime(*each) for each in self._item.times]

    @property
    def error(self) -> Optional[BaseException]:
        """The exception of the first stage that failed; None: all have succeeded."""
        if self._raised is not None:
            return self._raised
        if self._is_detached:
            found: Optional[BaseException] = self._known.get("error", (None,))[0]
            return found
        return self._item.error

    @property
    def failed_stage(self) -> str:
        """The stage of ``error``; empty without one."""
        if self._is_detached:
            return str(self._known.get("failed_stage", ("",))[0])
        return self._item.failed_stage

    def is_skipped(self, model: int = 0) -> bool:
        """Whether the network has not seen the frame: because of an overload, or an error before
        it."""
        found: Tuple[bool] = self._once(("skipped", model),
                                        lambda: (self._item.is_skipped(model),))
        return found[0]

    def _found(self, model: int) -> Tuple[Detections, Placement]:
        found: Tuple[Detections, Placement] = self._once(("found", model),
                                                         lambda: self._find(model))
        return found

    def _find(self, model: int) -> Tuple[Detections, Placement]:
        facts = self._models[model]
        width, height = self.image.upright_size
        if self.is_skipped(model) or (self.error is not None and self._placement(model) is None
                                      and not facts.is_tiled):
            return (Detections.empty(names=facts.names, size=(width, height)),
                    _whole(width, height))
        found, placement = self._item.detections(model), self._placement(model)
        if facts.is_tiled or placement is None:
            found = found._with(unit="source", size=(width, height))
            placement = _whole(width, height)
        else:
            found = found.to_source(placement)
        return found._with(names=facts.names), placement

    def _placement(self, model: int) -> Optional[Placement]:
        return self._item.placement(model)

    def _tracked(self, model: int) -> Optional[Tuple[Any, ...]]:
        return self._once(  # type: ignore[no-any-return]
            ("tracked", model), lambda: (self._item.tracks(model),))[0]

    def _wanted(self, found: Detections, model: int) -> Detections:
        classes = self._models[model].classes
        if classes is None or np.isin(found.class_id, classes).all():
            return found
        return found[np.isin(found.class_id, classes)]

    def _followed(self, model: int, coasting: bool) -> Detections:
        found, tracks = self._found(model)[0], self._tracked(model)
        if tracks is not None:
            boxes, scores, classes, ids, uuids, rows = tracks
            found = _joined(found, boxes, scores, classes, ids.astype(np.int64), uuids,
                            rows.astype(np.int64), coasting)
        return self._wanted(found, model)

    def result(self, model: int = 0) -> Result:
        """The Result of one of the pipeline's models."""
        made: Result = self._once(("result", model), lambda: self._result(model))
        return made

    def _result(self, model: int) -> Result:
        if not self._models:
            width, height = self.image.upright_size
            return Result(Detections.empty(size=(width, height)), self.image,
                          _whole(width, height), task="detect", path=self.path,
                          timestamp_ns=self.timestamp_ns, index=self.index)
        names = {"convert": "preprocess", "model": "inference", "decode": "postprocess"}
        speed = {names[each.stage]: each.duration for each in self.times if each.stage in names}
        return Result(self._followed(model, False), self.image, self._found(model)[1],
                      task=self._models[model].task, path=self.path, speed=speed,
                      timestamp_ns=self.timestamp_ns, index=self.index)

    @property
    def detections(self) -> Result:
        """What the first model has found."""
        return self.result(0)

    @property
    def results(self) -> List[Result]:
        """What each model has found."""
        return [self.result(model) for model in range(len(self._models))]

    @property
    def tracks(self) -> Detections:
        """All live tracks of the first model: those of this frame, then those that were not seen
        in it (``is_coasting``). Without a tracker the detections."""
        if not self._models:
            return self.detections
        found: Detections = self._once("tracks", lambda: self._followed(0, True))
        return found

    def __len__(self) -> int:
        return len(self.detections)

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Detection]:
        return iter(self.detections)

    def __getitem__(self, index: Any) -> Any:
        return self.detections[index]

    def __repr__(self) -> str:
        what = f"{self.failed_stage}: {self.error!r}" if self.error is not None else str(
            self.detections if self._models else "no model")
        return f"PipelineResult(frame {self.index} of {self.path!r}: {what})"


for _item in (PipelineResult, StageTime):
    _item.__module__ = "halyard"
