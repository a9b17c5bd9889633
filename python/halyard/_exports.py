# SPDX-License-Identifier: Apache-2.0
"""Detections in pixels of the image, and in the formats of other packages and files."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from . import _core
from ._errors import invalid_argument as _wrong
from ._mask_items import ON, part_of, paste

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._core import Placement
    from ._detections import Detections

Size = Tuple[int, int]


def rotated_to_source(rotated: Any, placement: Placement) -> Any:
    """Maps centre, width, height and angle, each axis of the box separately: exact if the map does
    not shear the box."""
    m = np.array(placement.backward, np.float64).reshape(2, 3)[:, :2]
    angle = rotated[:, 4].astype(np.float64)
    along = np.stack([np.cos(angle), np.sin(angle)], 1) @ m.T
    across = np.stack([-np.sin(angle), np.cos(angle)], 1) @ m.T
    size = rotated[:, 2:4] * np.stack([np.linalg.norm(along, axis=1),
                                       np.linalg.norm(across, axis=1)], 1)
    angles = np.arctan2(along[:, 1], along[:, 0])[:, None]
    return np.concatenate([placement.points_to_source(rotated[:, :2]), size, angles],
                          1).astype(np.float32)


def keypoints_to_source(keypoints: Any, placement: Placement, scale: Any = 1) -> Any:
    """Maps points and clips them to the image's edges. NaN stays NaN."""
    made = keypoints.copy()
    points = placement.points_to_source((keypoints[..., :2] * scale).reshape(-1, 2))
    made[..., :2] = np.clip(points, 0, placement.source).reshape(keypoints[..., :2].shape)
    return made


def check_unit(found: Any, placement: Placement) -> None:
    """Raises ValueError if boxes are not those of the placement's input."""
    size = placement.destination
    if found.unit not in ("pixels", "fractions"):
        raise _wrong("boxes: must be in pixels or fractions of the network's input "
                     f"(unit {found.unit!r})")
    if found.input_dims is not None and tuple(found.input_dims) != tuple(size):
        raise _wrong(f"boxes: belong to an input of {found.input_dims[0]} x "
                     f"{found.input_dims[1]}, the placement to {size[0]} x {size[1]}")


def corners(rotated: Any) -> Any:
    """(N, 4, 2): the corners of rotated boxes."""
    c, s = np.cos(rotated[:, 4]), np.sin(rotated[:, 4])
    along = np.stack([c, s], 1) * rotated[:, 2:3] / 2
    across = np.stack([-s, c], 1) * rotated[:, 3:4] / 2
    middle = rotated[:, :2]
    return np.stack([middle - along - across, middle + along - across,
                     middle + along + across, middle - along + across], 1)


def _bytes(pixels: Any) -> Any:
    return np.ascontiguousarray(pixels).view(np.uint8)


class Exports:
    """The methods of Detections that convert to other units and formats."""

    __slots__ = ()

    def to_source(self: Any, placement: Placement) -> Detections:
        """The same in pixels of the image that ``placement`` converted to the network's input.
        Boxes and keypoints are clipped to its edges.

        Raises ValueError for boxes of another unit, or of an input of another size."""
        found: Detections = self._with(**self._in_source(placement))
        return found

    def _in_source(self: Any, placement: Placement) -> Dict[str, Any]:
        """The fields that to_source() changes."""
        check_unit(self, placement)
        of: Detections = self
        if of.unit == "fractions":
            of = of._resized(placement.destination, (1, 1))
        changes: Dict[str, Any] = {"xyxy": placement.to_source(of.xyxy), "unit": "source",
                                   "size": placement.source,
                                   "_input_dims": placement.destination}
        if of.keypoints is not None:
            changes["keypoints"] = keypoints_to_source(of.keypoints, placement)
        if of.obb is not None:
            changes["obb"] = rotated_to_source(of.obb, placement)
        if of._mask_items is not None:
            changes["_mask_items"] = [None if mask is None else mask.to_source(placement)
                                      for mask in of._mask_items]
        return changes

    def _resized(self: Any, size: Size, own: Size) -> Detections:
        """In pixels of an image of `size` that shows the whole frame, of size `own`."""
        by = size[0] / own[0], size[1] / own[1]
        changes: Dict[str, Any] = {"xyxy": self.xyxy * np.array([*by, *by], np.float32),
                                   "size": tuple(size), "unit": "pixels"}
        if self.keypoints is not None:
            changes["keypoints"] = self.keypoints * np.array([*by, 1], np.float32)
        if self.obb is not None and by[0] != by[1]:
            raise _wrong("size: rotated boxes need the placement")
        if self.obb is not None:
            changes["obb"] = self.obb * np.array([by[0]] * 4 + [1], np.float32)
        if self._mask_items is not None:
            changes["_mask_items"] = [None if mask is None else mask.resized(by)
                                      for mask in self._mask_items]
        found: Detections = self._with(**changes)
        return found

    def _seen_in(self: Any, size: Optional[Size], placement: Optional[Placement]) -> Detections:
        """In pixels of the image that an export needs."""
        found: Detections = self
        if placement is not None:
            if size is not None and tuple(size) != tuple(placement.source):
                raise _wrong("size: must be that of the placement's source, or left out")
            return found.to_source(placement)
        if size is None or tuple(size) == found.size:
            return found
        if found.unit == "source":
            raise _wrong("size: the image is {} x {}, not {} x {}".format(
                *(found.size or ("?", "?")), *size))
        own = (1, 1) if found.unit == "fractions" else found.size
        if own is None:
            raise _wrong("size: the boxes are pixels of an input whose size is not known; give the "
                         "decoder input_dims")
        return found._resized(size, own)

    def to_rle(self: Any, *, threshold: int = ON) -> List[Dict[str, Any]]:
        """Each mask as COCO's run lengths: {"size": [height, width], "counts": str}, as pycocotools
        reads them. Raises ValueError without masks or without a size."""
        if self._mask_items is None:
            raise _wrong("to_rle: the detections have no masks")
        width, height = self._frame("to_rle")
        made = []
        for mask in self._mask_items:
            left, top, pixels = part_of(mask, (width, height), threshold)
            made.append({"size": [height, width],
                         "counts": _core._run_lengths(_bytes(pixels), left, top, width, height)})
        return made

    def to_polygons(self: Any, *, tolerance: float = 0.5,
                    holes: bool = False) -> List[List[NDArray[np.float32]]]:
        """The outlines of each mask: for each object a list of arrays (P, 2) of x, y, clockwise as
        seen, largest first; objects may have none, or several. Pixel (x, y) covers [x, x + 1).

        Args:
            tolerance: pixels by which an outline may differ from the exact one; 0: every corner.
            holes: gives the outlines of holes too, which run in the opposite direction.

        Raises ValueError without masks or without a size."""
        if self._mask_items is None:
            raise _wrong("to_polygons: the detections have no masks")
        size = self._frame("to_polygons")
        made = []
        for mask in self._mask_items:
            left, top, pixels = part_of(mask, size)
            made.append(_core._outlines(_bytes(pixels), left, top, tolerance, holes))
        return made

    def to_coco(self: Any, image_id: Any = None, size: Optional[Size] = None,
                category_ids: Optional[Sequence[int]] = None, *,
                placement: Optional[Placement] = None,
                threshold: int = ON) -> List[Dict[str, Any]]:
        """Records in the format of COCO's result files: bbox is x, y, width, height; keypoints x, y
        and visibility of each; segmentation the run lengths of a mask.

        Args:
            image_id: of every record; None: left out.
            size: (width, height) of an image that the whole of the network's input shows.
            category_ids: the id of each class; None: the class itself.
            placement: what convert() gave, if the input shows the image in a part of it
                (letterbox, crop, rotation). Without size and placement boxes are not mapped.
            threshold: mask bytes from this value are on.

        Raises ValueError for masks in an image of unknown size, and for a class without an id."""
        found = self._seen_in(size, placement)
        runs = None if found._mask_items is None else found.to_rle(threshold=threshold)
        records: List[Dict[str, Any]] = []
        for i, (box, score, label) in enumerate(zip(found.xyxy.tolist(), found.confidence.tolist(),
                                                    found.class_id.tolist())):
            if category_ids is not None and not 0 <= label < len(category_ids):
                raise _wrong(f"category_ids: has no id of class {label}")
            x1, y1, x2, y2 = box
            record = {"category_id": label if category_ids is None else int(category_ids[label]),
                      "bbox": [x1, y1, x2 - x1, y2 - y1], "score": score}
            if image_id is not None:
                record["image_id"] = image_id
            is_seen = found.is_coasting is None or not found.is_coasting[i]
            if found.keypoints is not None and is_seen:
                record["keypoints"] = found.keypoints[i].reshape(-1).tolist()
            if runs is not None and is_seen:
                record["segmentation"] = runs[i]
            records.append(record)
        return records

    def to_dict(self: Any) -> Dict[str, Any]:
        """The content as JSON can hold it: "unit", "size", and "detections", a list of objects with
        "xyxy", "confidence", "class_id", "name", and if the model has them "tracker_id",
        "tracker_uuid", "keypoints", "obb" and "mask" (run lengths); for classifiers "top"."""
        rows = []
        runs = self.to_rle() if self._mask_items is not None and self.size is not None else None
        for i, item in enumerate(self):
            row: Dict[str, Any] = {"xyxy": item.xyxy.tolist(), "confidence": item.confidence,
                                   "class_id": item.class_id, "name": item.name}
            for name in ("tracker_id", "tracker_uuid"):
                if getattr(self, name) is not None:
                    row[name] = getattr(item, name)
            for name in ("keypoints", "obb"):
                value = getattr(item, name)
                if value is not None:
                    row[name] = None if np.isnan(value).any() else value.tolist()
            if runs is not None:
                row["mask"] = runs[i]
            rows.append(row)
        made: Dict[str, Any] = {"unit": self.unit, "detections": rows,
                                "size": None if self.size is None else list(self.size)}
        if self.top_classes is not None:
            made["top"] = [{"class_id": label, "name": self.name_of(label), "confidence": score}
                           for label, score in zip(self.top_classes.tolist(),
                                                   self.top_scores.tolist())]
        return made

    def to_supervision(self: Any, size: Optional[Size] = None, threshold: int = ON, *,
                       placement: Optional[Placement] = None) -> Any:
        """The same as supervision.Detections, with bool masks of the whole image, tracker_id,
        ``data["class_name"]``, keypoints in ``data["keypoints"]``, corners of rotated boxes in
        ``data["xyxyxyxy"]``. The arguments are those of to_coco().

        Raises ImportError when the package supervision is not installed."""
        try:
            import supervision  # type: ignore[import-not-found, unused-ignore]
        except ImportError as error:
            raise ImportError("to_supervision: needs the package supervision; install it with "
                              "`pip install supervision`") from error
        found: Detections = self._seen_in(size, placement)
        fields: Dict[str, Any] = {}
        if found._mask_items is not None and found.size is not None and len(found):
            masks = np.zeros((len(found), found.size[1], found.size[0]), bool)
            for out, mask in zip(masks, found._mask_items):
                paste(out, part_of(mask, found.size, threshold))
            fields["mask"] = masks
        data: Dict[str, Any] = {}
        if found.names is not None:
            data["class_name"] = np.array(found.class_names, np.str_)
        if found.keypoints is not None:
            data["keypoints"] = found.keypoints.copy()
        if found.obb is not None:
            data["xyxyxyxy"] = corners(found.obb)
        if found.tracker_id is not None:
            fields["tracker_id"] = found.tracker_id.astype(int)
        return supervision.Detections(xyxy=found.xyxy.copy(), confidence=found.confidence.copy(),
                                      class_id=found.class_id.astype(int), data=data, **fields)
