# SPDX-License-Identifier: Apache-2.0
"""The results of decoding in halyard.edgefirst: named tuples that programs unpack, with the
unit of their boxes, and conversions for other packages. ProtoDetections is halyard's too."""
from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, TypeVar

import numpy as np

from ._detections import Detections as Plain
from ._errors import invalid_argument as _wrong
from ._exports import check_unit, keypoints_to_source, rotated_to_source
from ._mask_items import CutMask

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._core import Placement, ProtoData, TrackInfo

__all__ = ["ProtoDetections"]

Size = Tuple[int, int]
Same = TypeVar("Same", bound="_Found")


def _padded(rows: Any, count: int) -> Any:
    """The rows, followed by NaN for tracks that were not seen."""
    missing = np.full((count - len(rows), *rows.shape[1:]), np.nan, rows.dtype)
    return np.concatenate([rows, missing])


class _Frame(NamedTuple):
    """The image of exported boxes: its size, and the map from its pixels to the results' own
    units."""

    size: Optional[Size]
    own: Any


class _Found:
    """The common part of the results. The classes below have boxes, scores and classes.

    - unit: "pixels" of the network's input, "fractions" of it (halyard.edgefirst alone), "source":
      pixels of the image, after to_source(); None: not known;
    - input_dims: (width, height) of the network's input; None: not known;
    - keypoints: of pose models float32 (N, K, 3): x, y in the unit of boxes, visibility in 0..1;
    - rotated: of oriented boxes float32 (N, 5): centre, width, height, angle in radians, clockwise
      as seen; boxes are the upright ones around them;
    - top_classes, top_scores: of classifiers uintp (M,), float32 (M,), best first;
    - mask_boxes: float32 (N, 4), the area of the bytes of each instance mask, in the unit that
      boxes had when they were decoded; slightly larger than the boxes.

    None if the model does not give the value. In tracked results keypoints, rotated and masks
    belong to the first boxes, those that were seen in this frame."""

    __slots__ = ()
    boxes: Any
    scores: Any
    classes: Any
    unit: Optional[str] = None
    input_dims: Optional[Size] = None
    keypoints: Any = None
    rotated: Any = None
    top_classes: Any = None
    top_scores: Any = None
    mask_boxes: Any = None
    _placement: Optional[Placement] = None

    def _replace(self: Same, **changes: Any) -> Same:
        """A copy with other fields. With other boxes, its unit is not known."""
        made: Same = super()._replace(**changes)  # type: ignore[misc]
        made.__dict__.update(self.__dict__)
        if "boxes" in changes:
            made.unit = None
        return made

    @property
    def xyxy(self) -> Any:
        """Boxes, float32 (N, 4): Ultralytics' name."""
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

    def to_source(self: Same, placement: Placement) -> Same:
        """A copy whose boxes, keypoints and rotated boxes are in pixels of the image that
        ``placement`` converted to the network's input. Boxes and keypoints are clipped to its
        edges. ``tracks`` of tracked results do not change.

        Raises ValueError for boxes of another unit, or of an input of another size."""
        check_unit(self, placement)
        size = placement.destination
        scale = np.array(size if self.unit == "fractions" else (1, 1), np.float32)
        made = self._replace(boxes=placement.to_source(self.boxes * np.tile(scale, 2)))
        made.unit, made._placement = "source", placement
        if self.mask_boxes is not None:
            made.mask_boxes = self.mask_boxes * np.tile(scale, 2)
        made.input_dims = size
        if self.keypoints is not None:
            made.keypoints = keypoints_to_source(self.keypoints, placement, scale)
        if self.rotated is not None:
            rotated = self.rotated.copy()
            rotated[:, :4] *= np.tile(scale, 2)
            made.rotated = rotated_to_source(rotated, placement)
        return made

    def _in_frame(self, size: Optional[Size], placement: Optional[Placement]) -> Tuple[Any, _Frame]:
        """The results with boxes in pixels of an image, and this image."""
        if placement is not None:
            if size is not None and tuple(size) != tuple(placement.source):
                raise _wrong("size: must be that of the placement's source, or left out")
            return self.to_source(placement)._in_frame(None, None)
        if self.unit == "source":
            assert self._placement is not None
            source = self._placement.source
            if size is not None and tuple(size) != tuple(source):
                raise _wrong(f"size: the image is {source[0]} x {source[1]}, not "
                             f"{size[0]} x {size[1]}")
            return self, _Frame(source, self._placement.forward)
        own = self._own_size() if size is not None or self.unit == "pixels" else None
        if size is None:
            return self, _Frame(own, (1, 0, 0, 0, 1, 0))
        if own is None:
            raise _wrong("size: the boxes are pixels of an input whose size is not known; give the "
                         "decoder input_dims")
        scale = np.array([size[0] / own[0], size[1] / own[1]], np.float32)
        made = self._replace(boxes=self.boxes * np.tile(scale, 2))
        if self.keypoints is not None:
            made.keypoints = self.keypoints * np.append(scale, np.float32(1))
        if self.rotated is not None:
            raise _wrong("size: rotated boxes need the placement")
        return made, _Frame(size, (1 / scale[0], 0, 0, 0, 1 / scale[1], 0))

    def _own_size(self) -> Optional[Size]:
        """Size of the network's input in the unit of boxes. Boxes of unknown unit are fractions."""
        return self.input_dims if self.unit == "pixels" else (1, 1)

    def _plain(self, size: Optional[Size], placement: Optional[Placement]) -> Any:
        """The same as Detections with names, in the image of the export."""
        found, frame = self._in_frame(size, placement)
        count, fields = len(found.boxes), {}
        if found.keypoints is not None:
            fields["keypoints"] = _padded(found.keypoints, count)
        if found.rotated is not None:
            fields["obb"] = _padded(found.rotated, count)
        if hasattr(self, "tracks"):
            fields["tracker_id"] = np.array(
                [uuid.UUID(str(track.uuid)).int & (2**63 - 1) for track in self.tracks], np.int64)
            seen = [rows for rows in (found.keypoints, found.rotated, found.mask_boxes)
                    if rows is not None]
            fields["is_coasting"] = np.arange(count) >= min(map(len, seen), default=count)
        if found.mask_boxes is not None:
            masks = getattr(self, "masks", [])
            items = [CutMask(*each, tuple(frame.own))
                     for each in zip(masks, found.mask_boxes, found.boxes)]
            fields["_mask_items"] = items + [None] * (count - len(items))
        return Plain._of(xyxy=found.boxes, confidence=self.scores, unit="source",
                               class_id=self.classes.astype(np.int64), size=frame.size, **fields)

    def to_coco(self, image_id: Any = None, size: Optional[Size] = None,
                category_ids: Optional[Sequence[int]] = None, *,
                placement: Optional[Placement] = None,
                threshold: int = 128) -> List[Dict[str, Any]]:
        """As halyard.Detections.to_coco()."""
        made: List[Dict[str, Any]] = self._plain(size, placement).to_coco(
            image_id, None, category_ids, threshold=threshold)
        return made


class _Masked(_Found):
    """Results with a mask for each box."""

    __slots__ = ()
    masks: Any

    def to_supervision(self, size: Optional[Size] = None, threshold: int = 128, *,
                       placement: Optional[Placement] = None) -> Any:
        """As halyard.Detections.to_supervision(); tracker_id is 63 bits of the UUID."""
        return self._plain(size, placement).to_supervision(None, threshold)


class _DetectionsFields(NamedTuple):
    boxes: Any
    scores: Any
    classes: Any
    masks: List[Any]


class Detections(_Masked, _DetectionsFields):
    """Result of ``Decoder.decode``: ``boxes, scores, classes, masks = decoder.decode(...)``.

    - boxes: float32 (N, 4), x1 y1 x2 y2 in the unit that ``unit`` names;
    - scores: float32 (N,), best first;
    - classes: uintp (N,);
    - masks: list of uint8 (h, w, c): one for each box with c = 1, or scores of c classes of the
      whole image; empty where the model has none.

    ``unit``, ``input_dims``, ``keypoints``, ``rotated``, ``top_classes`` and ``top_scores`` are
    attributes of the tuple; ``placement.to_source(detections)`` gives the same in pixels of the
    image.
    """


class _ProtoDetectionsFields(NamedTuple):
    boxes: NDArray[np.float32]
    scores: NDArray[np.float32]
    classes: NDArray[np.uintp]
    protos: Optional[ProtoData]


class ProtoDetections(_Found, _ProtoDetectionsFields):
    """Result of ``Decoder.decode_proto``: a tuple (boxes, scores, classes, protos) with names.

    - boxes, which is also ``xyxy``: float32 (N, 4), x1 y1 x2 y2 in the unit that ``unit`` names;
    - scores, which is also ``confidence``: float32 (N,), best first;
    - classes, which is also ``class_id``: uintp (N,);
    - protos: the ProtoData that masks are made from; None where the model has no instance masks.

    ``unit``, ``input_dims``, ``keypoints``, ``rotated``, ``top_classes`` and ``top_scores`` are
    attributes of the tuple. ``ImageProcessor.materialize_masks(*found)`` makes the masks."""

    @property
    def confidence(self) -> NDArray[np.float32]:
        """Scores: their name in Detections."""
        return self[1]

    @property
    def class_id(self) -> NDArray[np.uintp]:
        """Classes: their name in Detections."""
        return self[2]


class _TrackedDetectionsFields(NamedTuple):
    boxes: Any
    scores: Any
    classes: Any
    masks: List[Any]
    tracks: List[TrackInfo]


class TrackedDetections(_Masked, _TrackedDetectionsFields):
    """Result of ``Decoder.decode_tracked``: boxes of the tracks, those seen in this frame first.
    ``masks[i]`` belongs to ``boxes[i]``; coasting tracks have no mask. ``tracks[i]`` identifies
    the object of ``boxes[i]``."""


# Result types that calls take instead of boxes, scores and classes.
RESULTS = (_Found, Plain)


def mask_bytes(result: Any) -> Optional[List[Any]]:
    """The bytes of a result's masks, in the form that drawing takes."""
    if not isinstance(result, Plain):
        return getattr(result, "masks", None)
    if result.class_scores is not None:
        return [result.class_scores]
    nothing = np.zeros((1, 1, 1), np.uint8)
    return [mask.data if isinstance(mask, CutMask) else nothing
            for mask in result._mask_items or ()]
