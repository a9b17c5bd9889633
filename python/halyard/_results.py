# SPDX-License-Identifier: Apache-2.0
"""What decoding gives: tuples, as programs take them apart, with names, the unit of their boxes,
and ways to other packages."""
from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, TypeVar

import numpy as np

from ._errors import InvalidArgumentError

if TYPE_CHECKING:
    from ._core import Placement, ProtoData, TrackInfo

__all__ = ["Detections", "ProtoDetections", "TrackedDetections"]

Size = Tuple[int, int]
Same = TypeVar("Same", bound="_Found")


def _wrong(message: str) -> InvalidArgumentError:
    return InvalidArgumentError(message, "invalid_argument")


def _run_lengths(mask: Any) -> str:
    """A bool mask [h, w] as COCO's result files have it: runs down the columns, six bits a
    character."""
    flat = mask.ravel(order="F")
    edges = np.concatenate([[0], np.flatnonzero(flat[1:] != flat[:-1]) + 1, [flat.size]])
    counts = np.diff(edges).tolist()
    if flat[0]:
        counts.insert(0, 0)
    text = []
    for i, count in enumerate(counts):
        value = count - counts[i - 2] if i > 2 else count
        more = True
        while more:
            bits = value & 0x1F
            value >>= 5
            more = value != (-1 if bits & 0x10 else 0)
            text.append(chr((bits | 0x20 if more else bits) + 48))
    return "".join(text)


class _Frame:
    """A picture that boxes are wanted in: its size, and the map from its pixels to the results'
    own units."""

    def __init__(self, size: Optional[Size], own: Sequence[float]) -> None:
        self.size = size
        self.own = own

    def mask(self, mask: Any, region: Any, box: Any, threshold: int) -> Any:
        """One mask, whose bytes cover `region` in own units, as bool of the whole picture, cut at
        `box` in its pixels: nearest byte, on from the threshold."""
        assert self.size is not None
        width, height = self.size
        whole = np.zeros((height, width), bool)
        if not np.isfinite(box).all():
            return whole
        edges = np.clip(np.rint(box), 0, (width, height, width, height)).astype(int)
        left, top, right, bottom = edges.tolist()
        rows, columns = mask.shape[:2]
        if right <= left or bottom <= top or rows == 0 or columns == 0:
            return whole
        x, y = np.arange(left, right) + 0.5, np.arange(top, bottom)[:, None] + 0.5
        m = self.own
        x1, y1, x2, y2 = (float(value) for value in region)
        column = (m[0] * x + m[1] * y + m[2] - x1) * (columns / max(x2 - x1, 1e-9))
        row = (m[3] * x + m[4] * y + m[5] - y1) * (rows / max(y2 - y1, 1e-9))
        inside = (column >= 0) & (column < columns) & (row >= 0) & (row < rows)
        column = np.clip(column, 0, columns - 1).astype(int)
        row = np.clip(row, 0, rows - 1).astype(int)
        whole[top:bottom, left:right] = inside & (mask[row, column, 0] >= threshold)
        return whole


def _rotated_to_source(rotated: Any, placement: Placement) -> Any:
    """Centre, width, height and angle through the map, each axis of the box on its own: exact
    where the map does not shear it."""
    m = np.array(placement.backward, np.float64).reshape(2, 3)[:, :2]
    angle = rotated[:, 4].astype(np.float64)
    along = np.stack([np.cos(angle), np.sin(angle)], 1) @ m.T
    across = np.stack([-np.sin(angle), np.cos(angle)], 1) @ m.T
    size = rotated[:, 2:4] * np.stack([np.linalg.norm(along, axis=1),
                                       np.linalg.norm(across, axis=1)], 1)
    turned = np.arctan2(along[:, 1], along[:, 0])[:, None]
    return np.concatenate([placement.points_to_source(rotated[:, :2]), size, turned],
                          1).astype(np.float32)


def _corners(rotated: Any) -> Any:
    """(N, 4, 2): the corners of rotated boxes."""
    c, s = np.cos(rotated[:, 4]), np.sin(rotated[:, 4])
    along = np.stack([c, s], 1) * rotated[:, 2:3] / 2
    across = np.stack([-s, c], 1) * rotated[:, 3:4] / 2
    middle = rotated[:, :2]
    return np.stack([middle - along - across, middle + along - across,
                     middle + along + across, middle - along + across], 1)


def _padded(rows: Any, count: int) -> Any:
    """With NaN for the tracks that were not seen."""
    missing = np.full((count - len(rows), *rows.shape[1:]), np.nan, rows.dtype)
    return np.concatenate([rows, missing])


class _Found:
    """What the results share. The classes below have boxes, scores and classes.

    - unit: "pixels" of the network's input, "fractions" of it (halyard.edgefirst alone), "source":
      pixels of the picture, after to_source(); None: not known;
    - input_dims: (width, height) of the network's input; None: not known;
    - keypoints: of pose models float32 (N, K, 3): x, y in the unit of boxes, visibility in 0..1;
    - rotated: of oriented boxes float32 (N, 5): centre, width, height, angle in radians, clockwise
      as seen; boxes are the upright ones around them;
    - top_classes, top_scores: of classifiers uintp (M,), float32 (M,), best first;
    - mask_boxes: float32 (N, 4), what the bytes of each instance mask cover, in the unit that boxes
      had when they were decoded; a little more than the boxes.

    None where the model has no such thing. Of tracked results keypoints, rotated and masks belong
    to the first boxes, those that were seen in this frame."""

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
        """A copy with other fields. With other boxes its unit is not known."""
        made: Same = super()._replace(**changes)  # type: ignore[misc]
        made.__dict__.update(self.__dict__)
        if "boxes" in changes:
            made.unit = None
        return made

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

    def to_source(self: Same, placement: Placement) -> Same:
        """A copy whose boxes, keypoints and rotated boxes are in pixels of the picture that
        ``placement`` took into the network's input; boxes and keypoints end at its edges. Of
        tracked results ``tracks`` stay as they are.

        Raises ValueError for boxes of another unit, or of an input of another size."""
        size = placement.destination
        if self.unit not in ("pixels", "fractions"):
            raise _wrong("boxes: must be in pixels or fractions of the network's input "
                         f"(unit {self.unit!r})")
        if self.input_dims is not None and tuple(self.input_dims) != tuple(size):
            raise _wrong(f"boxes: belong to an input of {self.input_dims[0]} x "
                         f"{self.input_dims[1]}, the placement to {size[0]} x {size[1]}")
        scale = np.array(size if self.unit == "fractions" else (1, 1), np.float32)
        made = self._replace(boxes=placement.to_source(self.boxes * np.tile(scale, 2)))
        made.unit, made._placement = "source", placement
        if self.mask_boxes is not None:
            made.mask_boxes = self.mask_boxes * np.tile(scale, 2)
        made.input_dims = size
        if self.keypoints is not None:
            made.keypoints = self.keypoints.copy()
            points = placement.points_to_source((self.keypoints[..., :2] * scale).reshape(-1, 2))
            made.keypoints[..., :2] = np.clip(points, 0, placement.source).reshape(
                self.keypoints[..., :2].shape)
        if self.rotated is not None:
            rotated = self.rotated.copy()
            rotated[:, :4] *= np.tile(scale, 2)
            made.rotated = _rotated_to_source(rotated, placement)
        return made

    def _in_frame(self, size: Optional[Size], placement: Optional[Placement]) -> Tuple[Any, _Frame]:
        """The results with boxes in pixels of a picture, and that picture."""
        if placement is not None:
            if size is not None and tuple(size) != tuple(placement.source):
                raise _wrong("size: must be that of the placement's source, or left out")
            return self.to_source(placement)._in_frame(None, None)
        if self.unit == "source":
            assert self._placement is not None
            source = self._placement.source
            if size is not None and tuple(size) != tuple(source):
                raise _wrong(f"size: the picture is {source[0]} x {source[1]}, not "
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
        """Of the network's input in the unit of boxes. Boxes of no known unit are fractions."""
        return self.input_dims if self.unit == "pixels" else (1, 1)

    def to_coco(self, image_id: Any = None, size: Optional[Size] = None,
                category_ids: Optional[Sequence[int]] = None, *,
                placement: Optional[Placement] = None,
                threshold: int = 128) -> List[Dict[str, Any]]:
        """Records as COCO's result files have them: bbox is x, y, width, height; keypoints x, y and
        visibility of each; segmentation the run lengths of an instance mask.

        Args:
            image_id: of every record; None: left out.
            size: (width, height) of a picture that the whole of the network's input shows.
            category_ids: the id of each class; None: the class itself.
            placement: what convert() gave, where the input shows the picture in a part of it
                (letterbox, crop, rotation). Neither: as boxes are.
            threshold: of mask bytes that are on.

        Raises ValueError for masks of boxes in fractions and no picture to see them in."""
        found, frame = self._in_frame(size, placement)
        masks = getattr(self, "masks", []) if self.mask_boxes is not None else []
        if len(masks) and frame.size is None:
            raise _wrong("size: masks need the size of a picture, or its placement")
        records = []
        for i, (box, score, label) in enumerate(zip(found.boxes.tolist(), self.scores.tolist(),
                                                    self.classes.tolist())):
            x1, y1, x2, y2 = box
            record = {"category_id": label if category_ids is None else category_ids[label],
                      "bbox": [x1, y1, x2 - x1, y2 - y1], "score": score}
            if image_id is not None:
                record["image_id"] = image_id
            if found.keypoints is not None and i < len(found.keypoints):
                record["keypoints"] = found.keypoints[i].reshape(-1).tolist()
            if i < len(masks) and frame.size is not None:
                whole = frame.mask(masks[i], found.mask_boxes[i], found.boxes[i], threshold)
                record["segmentation"] = {"size": [int(frame.size[1]), int(frame.size[0])],
                                          "counts": _run_lengths(whole)}
            records.append(record)
        return records


class _Masked(_Found):
    """Results with a mask for each box."""

    __slots__ = ()
    masks: Any

    def to_supervision(self, size: Optional[Size] = None, threshold: int = 128, *,
                       placement: Optional[Placement] = None) -> Any:
        """The same as supervision.Detections, with bool masks of the whole picture, tracker_id of
        tracks (63 bits of their UUID), keypoints in ``data["keypoints"]``, corners of rotated boxes
        in ``data["xyxyxyxy"]``.

        Args:
            size: (width, height) of a picture that the whole of the network's input shows.
            threshold: of mask bytes that are on.
            placement: what convert() gave, where the input shows the picture in a part of it
                (letterbox, crop, rotation). Neither: boxes as they are; masks where the size of the
                input, in pixels, is known.

        Raises ImportError when the package supervision is not installed.
        """
        try:
            import supervision  # type: ignore[import-not-found, unused-ignore]
        except ImportError as error:
            raise ImportError("to_supervision: needs the package supervision; install it with "
                              "`pip install supervision`") from error
        found, frame = self._in_frame(size, placement)
        count, masks, fields = len(self.boxes), None, {}
        if self.mask_boxes is not None and frame.size is not None and count:
            masks = np.zeros((count, frame.size[1], frame.size[0]), bool)
            for i, mask in enumerate(self.masks):
                masks[i] = frame.mask(mask, found.mask_boxes[i], found.boxes[i], threshold)
        data: Dict[str, Any] = {}
        if found.keypoints is not None:
            data["keypoints"] = _padded(found.keypoints, count)
        if found.rotated is not None:
            data["xyxyxyxy"] = _padded(_corners(found.rotated), count)
        if data:
            fields["data"] = data
        if hasattr(self, "tracks"):
            fields["tracker_id"] = np.array(
                [uuid.UUID(str(track.uuid)).int & (2**63 - 1) for track in self.tracks], np.int64)
        return supervision.Detections(xyxy=np.array(found.boxes, np.float32),
                                      confidence=self.scores.copy(),
                                      class_id=self.classes.astype(int), mask=masks, **fields)


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
      whole picture; empty where the model has none.

    ``unit``, ``input_dims``, ``keypoints``, ``rotated``, ``top_classes`` and ``top_scores`` come
    beside the tuple; ``placement.to_source(detections)`` gives the same in pixels of the picture.
    """


class _ProtoDetectionsFields(NamedTuple):
    boxes: Any
    scores: Any
    classes: Any
    protos: Optional[ProtoData]


class ProtoDetections(_Found, _ProtoDetectionsFields):
    """Result of ``Decoder.decode_proto``: boxes, scores, classes as of Detections, and what masks
    are made from; None where the model has no instance masks."""


class _TrackedDetectionsFields(NamedTuple):
    boxes: Any
    scores: Any
    classes: Any
    masks: List[Any]
    tracks: List[TrackInfo]


class TrackedDetections(_Masked, _TrackedDetectionsFields):
    """Result of ``Decoder.decode_tracked``: boxes of the tracks, those seen in this frame first;
    ``masks[i]`` belongs to ``boxes[i]``, coasting tracks have none; ``tracks[i]`` names it."""
