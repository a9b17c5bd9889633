# SPDX-License-Identifier: Apache-2.0
"""Tracker: objects with identities over the frames of one camera."""
from __future__ import annotations

from typing import Any, Dict, Literal, Optional, Tuple, TypeVar, Union, get_args
from weakref import WeakKeyDictionary

import numpy as np

from . import _core
from ._calls import helpful
from ._core import ByteTrack, OcSort, Sort
from ._detections import Detections
from ._errors import invalid_argument as _wrong
from ._words import nearest

__all__ = ["Tracker"]

TrackerKind = Literal["bytetrack", "bytetrack-paper", "ocsort", "sort"]
AnyTracker = Union["Tracker", ByteTrack, OcSort, Sort]
Found = TypeVar("Found", bound=Detections)


class Tracker:
    """Follows objects from frame to frame: ``found = tracker.update(found)`` gives them their
    ``tracker_id``. One tracker follows one camera; calls of several threads wait for each other.

    Args:
        kind: "bytetrack" (trusts a new object at once), "bytetrack-paper" (as published: trusts it
            when the next frame has it too), "ocsort" (for objects that change direction), "sort"
            (the plain original).
        high_score: minimum score that starts a track (bytetrack 0.7, bytetrack-paper and ocsort
            0.6); weaker detections only continue one.
        low_score: of bytetrack-paper: weaker detections are ignored (0.1).
        min_score: of sort: weaker detections are ignored (0).
        min_iou: minimum overlap of a detection and a track (bytetrack 0.25, ocsort and sort 0.3).
        min_hits: of ocsort and sort: detections in a row before a track is trusted (3).
        inertia: of ocsort: weight of the direction (0.2).
        coast: seconds that a track is kept unseen (bytetrack 0.5, bytetrack-paper and ocsort 1,
            sort 1.5 frames).
        frame_rate: frames a second of updates without a timestamp.
        class_aware: a detection only continues a track of its own class.
        max_tracks: maximum number of objects that are followed at once.

    Raises ValueError for an option out of its range, or that the kind does not have."""

    @helpful
    def __init__(self, kind: TrackerKind = "bytetrack", *,
                 high_score: Optional[float] = None, low_score: Optional[float] = None,
                 min_score: Optional[float] = None, min_iou: Optional[float] = None,
                 min_hits: Optional[int] = None, inertia: Optional[float] = None,
                 coast: Optional[float] = None, frame_rate: float = 30.0,
                 class_aware: bool = False, max_tracks: int = 1000) -> None:
        if isinstance(kind, str) and kind not in get_args(TrackerKind):
            near = nearest(kind.rsplit(".", 1)[0], get_args(TrackerKind))
            raise _wrong(f'kind: must be "bytetrack", "bytetrack-paper", "ocsort" or "sort" '
                         f"({kind!r})" + (f'; did you mean "{near}"?' if near else ""))
        if not frame_rate > 0:
            raise ValueError(f"frame_rate: must be above 0 ({frame_rate})")
        options: Dict[str, Any] = {
            "high_score": high_score, "low_score": low_score, "min_score": min_score,
            "min_iou": min_iou, "min_hits": min_hits, "inertia": inertia, "coast": coast,
            "frame_interval": 1 / frame_rate, "class_aware": class_aware, "max_tracks": max_tracks}
        if kind == "bytetrack-paper" and high_score is not None:
            options["start_score"] = min(1.0, high_score + 0.1)
        if kind == "sort" and coast is None:
            options["coast"] = 1.5 / frame_rate
        self._options = {name: value for name, value in options.items() if value is not None}
        self._step_ns = round(1e9 / frame_rate)
        self.kind = kind
        self.reset()

    def reset(self) -> None:
        """Forgets all tracks: the next update is the first frame of another scene, ids begin at
        1."""
        self._core = _core._TrackerCore(self.kind, self._options, self._step_ns)

    @helpful
    def update(self, detections: Found, timestamp_ns: Optional[int] = None, *,
               coasting: bool = False) -> Found:
        """Advances to the next frame and associates its detections.

        Args:
            detections: of one frame, or a Result; in the same unit in every frame, preferably in
                pixels of the image.
            timestamp_ns: time of the frame, not before the last one; None: one frame after it.
            coasting: adds the tracks that were not seen in this frame, at their predicted boxes.

        Returns the detections that belong to a track, by tracker_id, with their masks, keypoints
        and ``xyxy`` as the tracker estimates it. ``is_coasting`` marks those that were not seen."""
        if not isinstance(detections, Detections):
            raise TypeError("detections: must be Detections, not "
                            f"{type(detections).__name__}; of arrays make them by "
                            "Detections(xyxy, confidence, class_id)")
        boxes, scores, classes, ids, uuids, rows = self._core.update(
            detections.xyxy, detections.confidence, detections.class_id, timestamp_ns)
        return _joined(detections, boxes, scores, classes, ids.astype(np.int64), uuids,
                       rows.astype(np.int64), coasting)

    @property
    def left_out(self) -> int:
        """Detections of the last update that are not tracked because of max_tracks."""
        return self._core.left_out

    def __reduce__(self) -> Tuple[Any, ...]:
        raise TypeError(f"Tracker: holds the tracks of one camera, and is not copied or pickled; "
                        f"Tracker({self.kind!r}) makes a new one")

    def __repr__(self) -> str:
        return f"Tracker({self.kind!r})"


def _joined(of: Found, boxes: Any, scores: Any, classes: Any, ids: Any, uuids: Any, rows: Any,
            coasting: bool) -> Found:
    """The detections, in the order of the tracks. rows: index of the detection, -1: not seen;
    those are last."""
    live = int((rows >= 0).sum())
    keep = len(rows) if coasting else live
    found: Found = of[rows[:live]]
    changes: Dict[str, Any] = {
        "xyxy": boxes[:keep], "confidence": scores[:keep],
        "class_id": classes[:keep].astype(np.int64), "tracker_id": ids[:keep],
        "tracker_uuid": np.array(uuids[:keep], "<U36"), "is_coasting": rows[:keep] < 0}
    for name in ("keypoints", "obb"):
        seen = getattr(found, name)
        if seen is not None:
            missing = np.full((keep - live, *seen.shape[1:]), np.nan, np.float32)
            changes[name] = np.concatenate([seen, missing])
    if found._mask_items is not None:
        changes["_mask_items"] = found._mask_items + [None] * (keep - live)
    return found._with(**changes)


# Small ids for trackers that name their tracks only by UUID.
_NUMBERS: "WeakKeyDictionary[Any, Dict[str, int]]" = WeakKeyDictionary()


def _follow_named(tracker: Any, found: Found, timestamp: int, coasting: bool) -> Found:
    infos = tracker.update(found.xyxy, found.confidence, found.class_id, timestamp)
    rows = {info.uuid: row for row, info in enumerate(infos) if info is not None}
    active = tracker.get_active_tracks()
    numbers = _NUMBERS.setdefault(tracker, {})
    uuids = [track.info.uuid for track in active]
    known = {uuid: numbers.get(uuid) or 0 for uuid in uuids}
    last = max(numbers.values(), default=0)
    for uuid in uuids:
        if not known[uuid]:
            last += 1
            known[uuid] = last
    numbers.clear()
    numbers.update(known, **{"": last})
    order = sorted(range(len(active)), key=lambda i: uuids[i] not in rows)
    active = [active[i] for i in order]
    uuids = [uuids[i] for i in order]
    boxes = np.array([t.info.tracked_location for t in active], np.float32).reshape(-1, 4)
    return _joined(found, boxes, np.array([t.last_box[1] for t in active], np.float32),
                   np.array([t.last_box[2] for t in active], np.int64),
                   np.array([known[uuid] for uuid in uuids], np.int64), uuids,
                   np.array([rows.get(uuid, -1) for uuid in uuids], np.int64), coasting)


def follow(tracker: Any, found: Found, timestamp: Optional[int],
           coasting: bool = False) -> Found:
    """Advances a tracker of any class by one frame."""
    if isinstance(tracker, Tracker):
        return tracker.update(found, timestamp, coasting=coasting)
    if not isinstance(tracker, (ByteTrack, OcSort, Sort)):
        raise TypeError("tracker: must be a Tracker, ByteTrack, OcSort or Sort, not "
                        f"{type(tracker).__name__}")
    if timestamp is None:
        raise TypeError(f"timestamp: must be given to a {type(tracker).__name__} (ns)")
    return _follow_named(tracker, found, timestamp, coasting)


Tracker.__module__ = "halyard"
