# SPDX-License-Identifier: Apache-2.0
"""Boxes and Probs: a Result by the names of Ultralytics, for programs written for them."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator, List, Optional, Tuple

import numpy as np

if TYPE_CHECKING:
    from ._detections import Detections, Index

__all__ = ["Boxes", "Probs"]


class _Values(np.ndarray):
    """An array with the methods of torch tensors that such programs call. It is in the CPU's
    memory already: they give it back as it is."""

    def cpu(self) -> _Values:
        return self

    def numpy(self) -> np.ndarray[Any, Any]:
        return self.view(np.ndarray)

    def detach(self) -> _Values:
        return self

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())


def _values(array: Any) -> _Values:
    return np.asarray(array).view(_Values)


class Boxes:
    """The boxes of a Result, in pixels of the image. Arrays have one row for each box; they have
    ``cpu()`` and ``numpy()``, which copy nothing. Iteration and an index give Boxes of one row.

    - xyxy, xywh: float32 (N, 4), corners, or centre, width, height; xyxyn, xywhn: in fractions;
    - conf: float32 (N,); cls: int64 (N,); id: int64 (N,), None without a tracker;
    - data: float32 (N, 6), xyxy, conf, cls; (N, 7) with the id before conf;
    - orig_shape: (height, width) of the image."""

    __slots__ = ("_of", "orig_shape")

    def __init__(self, of: Detections, orig_shape: Tuple[int, int]) -> None:
        self._of = of
        self.orig_shape = orig_shape

    @property
    def xyxy(self) -> _Values:
        return _values(self._of.xyxy)

    @property
    def xywh(self) -> _Values:
        return _values(self._of.xywh)

    @property
    def xyxyn(self) -> _Values:
        return _values(self._of.xyxy / self._extents())

    @property
    def xywhn(self) -> _Values:
        return _values(self._of.xywh / self._extents())

    def _extents(self) -> Any:
        height, width = self.orig_shape
        return np.array([width, height, width, height], np.float32)

    @property
    def conf(self) -> _Values:
        return _values(self._of.confidence)

    @property
    def cls(self) -> _Values:
        return _values(self._of.class_id)

    @property
    def id(self) -> Optional[_Values]:
        return None if self._of.tracker_id is None else _values(self._of.tracker_id)

    @property
    def is_track(self) -> bool:
        return self._of.tracker_id is not None

    @property
    def data(self) -> _Values:
        of = self._of
        columns: List[Any] = [of.xyxy, of.confidence[:, None], of.class_id[:, None]]
        if of.tracker_id is not None:
            columns.insert(1, of.tracker_id[:, None])
        return _values(np.concatenate(columns, axis=1).astype(np.float32))

    @property
    def shape(self) -> Tuple[int, int]:
        return len(self), 7 if self.is_track else 6

    def cpu(self) -> Boxes:
        """Itself."""
        return self

    def numpy(self) -> Boxes:
        """Itself."""
        return self

    def __len__(self) -> int:
        return len(self._of)

    def __getitem__(self, index: Any) -> Boxes:
        if not isinstance(index, (slice, list, np.ndarray)) and hasattr(index, "__index__"):
            row = index.__index__()
            if not -len(self) <= row < len(self):
                raise IndexError(f"Boxes: index {row} of {len(self)}")
            index = [row % len(self)]
        wanted: Index = index
        return Boxes(self._of[wanted], self.orig_shape)

    def __iter__(self) -> Iterator[Boxes]:
        return (self[row] for row in range(len(self)))

    def __repr__(self) -> str:
        return f"Boxes({len(self)} in {self.orig_shape[1]} x {self.orig_shape[0]})"


class Probs:
    """The classes of an image: top1, its class, and top1conf; top5, the five best classes, best
    first, and top5conf."""

    __slots__ = ("_classes", "_scores")

    def __init__(self, classes: Any, scores: Any) -> None:
        self._classes, self._scores = classes, scores

    @property
    def top1(self) -> int:
        return int(self._classes[0])

    @property
    def top1conf(self) -> float:
        return float(self._scores[0])

    @property
    def top5(self) -> List[int]:
        return [int(each) for each in self._classes[:5]]

    @property
    def top5conf(self) -> _Values:
        return _values(self._scores[:5])

    def __repr__(self) -> str:
        return f"Probs(top1={self.top1}, top1conf={self.top1conf:.3g})"


for _item in (Boxes, Probs):
    _item.__module__ = "halyard"
