# SPDX-License-Identifier: Apache-2.0
"""What decoding gives: tuples, as programs take them apart, with names and ways to other
packages."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

if TYPE_CHECKING:
    from ._core import ProtoData, TrackInfo

__all__ = ["Detections", "ProtoDetections", "TrackedDetections"]


def _scaled(boxes: Any, size: Optional[Tuple[float, float]]) -> Any:
    """Copies of boxes, times (width, height) where a size is given."""
    if size is None:
        return np.array(boxes, np.float32)
    width, height = size
    return np.asarray(boxes, np.float32) * np.array([width, height, width, height], np.float32)


def _whole(mask: Any, box: Any, width: int, height: int, threshold: int) -> Any:
    """The mask of one box as bool of the whole picture: nearest pixel, on from the threshold."""
    x1, y1, x2, y2 = (float(value) for value in box)
    rows, columns = mask.shape[:2]
    whole = np.zeros((height, width), bool)
    left, top = max(0, int(round(x1))), max(0, int(round(y1)))
    right, bottom = min(width, int(round(x2))), min(height, int(round(y2)))
    if right <= left or bottom <= top or rows == 0 or columns == 0:
        return whole
    y = ((np.arange(top, bottom) + 0.5 - y1) * (rows / max(y2 - y1, 1e-6))).astype(np.int64)
    x = ((np.arange(left, right) + 0.5 - x1) * (columns / max(x2 - x1, 1e-6))).astype(np.int64)
    part = mask[np.clip(y, 0, rows - 1)[:, None], np.clip(x, 0, columns - 1)[None, :], 0]
    whole[top:bottom, left:right] = part >= threshold
    return whole


class _Found:
    """What the results share. The classes below have boxes, scores and classes."""

    __slots__ = ()
    boxes: Any
    scores: Any
    classes: Any

    @property
    def xyxy(self) -> Any:
        """Boxes, float32 (N, 4): the name of it in Ultralytics' results."""
        return self.boxes

    @property
    def conf(self) -> Any:
        """Scores, float32 (N,): Ultralytics' name."""
        return self.scores

    @property
    def cls(self) -> Any:
        """Classes, uintp (N,): Ultralytics' name."""
        return self.classes

    @property
    def xywh(self) -> Any:
        """Boxes as centre, width, height, float32 (N, 4): Ultralytics' name. A copy."""
        boxes = self.boxes
        return np.concatenate([(boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2]], 1)

    def to_coco(self, image_id: Any = None, size: Optional[Tuple[float, float]] = None,
                category_ids: Optional[Sequence[int]] = None) -> List[Dict[str, Any]]:
        """Records as COCO's result files have them: bbox is x, y, width, height.

        Args:
            image_id: of every record; None: left out.
            size: (width, height) that boxes are multiplied with, for boxes in fractions.
            category_ids: the id of each class; None: the class itself.
        """
        records = []
        for box, score, label in zip(_scaled(self.boxes, size).tolist(), self.scores.tolist(),
                                     self.classes.tolist()):
            x1, y1, x2, y2 = box
            record = {"category_id": label if category_ids is None else category_ids[label],
                      "bbox": [x1, y1, x2 - x1, y2 - y1], "score": score}
            if image_id is not None:
                record["image_id"] = image_id
            records.append(record)
        return records


class _Masked(_Found):
    """Results with a mask for each box."""

    __slots__ = ()
    masks: Any

    def to_supervision(self, size: Optional[Tuple[int, int]] = None,
                       threshold: int = 128) -> Any:
        """The same as supervision.Detections.

        Args:
            size: (width, height) of the picture: boxes in fractions are multiplied with it, and
                instance masks become bool masks of it. None: boxes as they are, no masks.
            threshold: of mask bytes that are on.

        Raises ImportError when the package supervision is not installed.
        """
        try:
            import supervision  # type: ignore[import-not-found, unused-ignore]
        except ImportError as error:
            raise ImportError("to_supervision: needs the package supervision; install it with "
                              "`pip install supervision`") from error
        boxes = _scaled(self.boxes, size)
        masks = None
        if size is not None and len(self.masks) == len(boxes) and len(boxes):
            masks = np.stack([_whole(mask, box, size[0], size[1], threshold)
                              for mask, box in zip(self.masks, boxes)])
        return supervision.Detections(xyxy=boxes, confidence=self.scores.copy(),
                                      class_id=self.classes.astype(int), mask=masks)


class _DetectionsFields(NamedTuple):
    boxes: Any
    scores: Any
    classes: Any
    masks: List[Any]


class Detections(_DetectionsFields, _Masked):
    """Result of ``Decoder.decode``: ``boxes, scores, classes, masks = decoder.decode(...)``.

    - boxes: float32 (N, 4), x1 y1 x2 y2; units: ``Decoder.normalized_boxes``;
    - scores: float32 (N,), best first;
    - classes: uintp (N,);
    - masks: list of uint8 (h, w, c): one for each box with c = 1, or scores of c classes of the
      whole picture; empty where the model has none.
    """

    __slots__ = ()


class _ProtoDetectionsFields(NamedTuple):
    boxes: Any
    scores: Any
    classes: Any
    protos: Optional[ProtoData]


class ProtoDetections(_ProtoDetectionsFields, _Found):
    """Result of ``Decoder.decode_proto``: boxes, scores, classes as of Detections, and what masks
    are made from; None where the model has no instance masks."""

    __slots__ = ()


class _TrackedDetectionsFields(NamedTuple):
    boxes: Any
    scores: Any
    classes: Any
    masks: List[Any]
    tracks: List[TrackInfo]


class TrackedDetections(_TrackedDetectionsFields, _Masked):
    """Result of ``Decoder.decode_tracked``: boxes of the tracks, those seen in this frame first;
    ``masks[i]`` belongs to ``boxes[i]``, coasting tracks have none; ``tracks[i]`` names it."""

    __slots__ = ()
