# SPDX-License-Identifier: Apache-2.0
"""One object of Detections."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from ._mask_items import whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._detections import Detections

__all__ = ["Detection"]


class Detection:
    """One object of Detections: ``xyxy``, ``obb`` and ``keypoints`` are rows of its arrays,
    the other values are numbers. None: the model does not give this value."""

    __slots__ = ("_of", "_row")

    def __init__(self, of: Detections, row: int) -> None:
        self._of = of
        self._row = row

    def _value(self, name: str) -> Any:
        rows = getattr(self._of, name)
        return None if rows is None else rows[self._row]

    @property
    def xyxy(self) -> NDArray[np.float32]:
        """Left, top, right, bottom: float32 (4,)."""
        return self._of.xyxy[self._row]  # type: ignore[no-any-return]

    @property
    def confidence(self) -> float:
        return float(self._of.confidence[self._row])

    @property
    def class_id(self) -> int:
        return int(self._of.class_id[self._row])

    @property
    def name(self) -> str:
        """The class's name, or "class 7"."""
        return self._of.name_of(self.class_id)

    @property
    def tracker_id(self) -> Optional[int]:
        value = self._value("tracker_id")
        return None if value is None else int(value)

    @property
    def tracker_uuid(self) -> Optional[str]:
        value = self._value("tracker_uuid")
        return None if value is None else str(value)

    @property
    def keypoints(self) -> Optional[NDArray[np.float32]]:
        """(K, 3): x, y, visibility."""
        return self._value("keypoints")  # type: ignore[no-any-return]

    @property
    def obb(self) -> Optional[NDArray[np.float32]]:
        """Centre, width, height, angle: float32 (5,)."""
        return self._value("obb")  # type: ignore[no-any-return]

    @property
    def is_coasting(self) -> bool:
        """True for a track that was not seen in this frame."""
        return bool(self._value("is_coasting"))

    @property
    def mask(self) -> Optional[NDArray[np.bool_]]:
        """Pixels of the whole image: bool (H, W)."""
        items = self._of._mask_items
        return None if items is None else whole(items[self._row], self._of._frame("mask"))

    if not TYPE_CHECKING:
        def __getattr__(self, name: str) -> Any:
            hint = {"boxes": "iteration over a Result gives its objects; model(image) gives one "
                             "Result, model([image]) a list of them",
                    "conf": "write found.confidence", "cls": "write found.class_id",
                    "id": "write found.tracker_id", "class_name": "write found.name"}
            hint["plot"] = hint["masks"] = hint["save"] = hint["boxes"]
            more = f"; {hint[name]}" if name in hint else ""
            raise AttributeError(f"Detection has no attribute {name!r}{more}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Detection):
            return NotImplemented
        return self._of[[self._row]] == other._of[[other._row]]

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        box = ", ".join(f"{value:.6g}" for value in self.xyxy)
        track = "" if self.tracker_id is None else f", tracker_id={self.tracker_id}"
        return f"Detection({self.name!r}, {self.confidence:.3g}, xyxy=[{box}]{track})"


Detection.__module__ = "halyard"
