# SPDX-License-Identifier: Apache-2.0
"""Detections: the objects found in one image, as arrays with one row for each object."""
from __future__ import annotations

from typing import (TYPE_CHECKING, Any, Callable, ClassVar, Dict, Iterator, List, Optional,
                    Sequence, Tuple, Union, overload)

import numpy as np

from . import _core
from ._calls import helpful
from ._detection import Detection
from ._errors import invalid_argument as _wrong
from ._exports import Exports
from ._mask_items import CutMask, Mask, WholeMask, is_same, part_of, paste
from ._plots import Plots
from ._rows import Names, as_index, is_equal, names_from, rows_from

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import Self

__all__ = ["Detections"]

Size = Tuple[int, int]
Index = Union[slice, Sequence[int], Sequence[bool], "NDArray[Any]"]
_UNITS = ("pixels", "source", "fractions", None)
# Arrays with one row for each object.
_ROWS = ("xyxy", "confidence", "class_id", "tracker_id", "tracker_uuid", "keypoints", "obb",
         "is_coasting")
_OF_IMAGE = ("names", "unit", "size", "top_classes", "top_scores", "class_scores")


class Detections(Exports, Plots):
    """N objects of one image, best first if a decoder gave them.

    - xyxy: float32 (N, 4), left, top, right, bottom in the unit that ``unit`` names;
    - confidence: float32 (N,); class_id: int64 (N,); names: the classes' names, or None;
    - tracker_id: int64 (N,), from 1 on; tracker_uuid: str (N,), unique beyond one tracker;
      is_coasting: bool (N,), tracks that were not seen in this frame; None without a tracker;
    - masks: bool (N, H, W) of the whole image, computed on access; None without masks;
    - keypoints: float32 (N, K, 3), x, y, visibility; NaN for coasting tracks; or None;
    - obb: float32 (N, 5), centre, width, height, angle in radians, clockwise as seen; NaN for
      coasting tracks; or None. ``xyxy`` is then the box around them;
    - unit: "source": pixels of the image; "pixels": of the network's input, "fractions" of it;
      None: not known. size: (width, height) of the image or input of ``xyxy``, if known;
    - top_classes, top_scores: of classifiers, best first; class_scores: of semantic segmentation
      uint8 (h, w, classes) over the network's input.

    ``d[2]`` and iteration give items; slices, lists of indices and bool arrays give Detections:
    ``d[d.confidence > 0.5]``, ``d[d.class_id == 0]``. ``a + b`` joins. Fields of an object cannot
    be set: ``d.replace(names=...)`` makes another one. What a Model gives is a Result: Detections
    with their image.

    A decode gives this one object. ``boxes, scores, classes, masks = ...`` is for
    ``halyard.edgefirst``; here it unpacks items, which works only if there are four of them."""

    __slots__ = (*_ROWS, *_OF_IMAGE, "_mask_items", "_whole", "_input_dims")
    _all: Tuple[str, ...] = __slots__
    _stores: ClassVar[List[Tuple[str, Callable[[Any, Any], None]]]]

    xyxy: NDArray[np.float32]
    confidence: NDArray[np.float32]
    class_id: NDArray[np.int64]
    tracker_id: Optional[NDArray[np.int64]]
    tracker_uuid: Optional[NDArray[np.str_]]
    is_coasting: Optional[NDArray[np.bool_]]
    keypoints: Optional[NDArray[np.float32]]
    obb: Optional[NDArray[np.float32]]
    names: Optional[Tuple[str, ...]]
    unit: Optional[str]
    size: Optional[Size]
    top_classes: Optional[NDArray[np.int64]]
    top_scores: Optional[NDArray[np.float32]]
    class_scores: Optional[NDArray[np.uint8]]
    _mask_items: Optional[List[Mask]]
    _whole: Optional[NDArray[np.bool_]]
    _input_dims: Optional[Size]

    @helpful
    def __init__(self, xyxy: ArrayLike, confidence: Optional[ArrayLike] = None,
                 class_id: Optional[ArrayLike] = None, *, tracker_id: Optional[ArrayLike] = None,
                 tracker_uuid: Optional[Sequence[str]] = None, masks: Optional[ArrayLike] = None,
                 keypoints: Optional[ArrayLike] = None, obb: Optional[ArrayLike] = None,
                 names: Names = None, unit: Optional[str] = "source",
                 size: Optional[Size] = None) -> None:
        """Raises ValueError for arrays of other shapes, and names the argument. Default of
        ``confidence`` is 1, of ``class_id`` 0. Masks are bool (N, H, W) and give the size."""
        boxes = rows_from("xyxy", xyxy, np.float32, (None, 4))
        count = len(boxes)

        def rows(name: str, value: Any, dtype: Any, *shape: Optional[int]) -> Any:
            return None if value is None else rows_from(name, value, dtype, (count, *shape))

        if unit not in _UNITS:
            raise _wrong('unit: must be "source", "pixels", "fractions" or None, not '
                         f"{unit!r}")
        ones, zeros = np.ones(count, np.float32), np.zeros(count, np.int64)
        pixels = rows("masks", masks, bool, None, None)
        if pixels is not None and size is None:
            size = pixels.shape[2], pixels.shape[1]
        if pixels is not None and pixels.shape[:0:-1] != tuple(size or ()):
            raise _wrong(f"masks: must have the shape (N, {size[1]}, {size[0]}), not "
                         f"{pixels.shape}" if size else "size: must be given")
        self._set(
            xyxy=boxes,
            confidence=ones if confidence is None else rows("confidence", confidence, np.float32),
            class_id=zeros if class_id is None else rows("class_id", class_id, np.int64),
            tracker_id=rows("tracker_id", tracker_id, np.int64),
            tracker_uuid=rows("tracker_uuid", tracker_uuid, np.str_),
            keypoints=rows("keypoints", keypoints, np.float32, None, 3),
            obb=rows("obb", obb, np.float32, 5), names=names_from(names), unit=unit, size=size,
            _mask_items=None if pixels is None else [WholeMask(mask) for mask in pixels])

    def _set(self, **values: Any) -> None:
        get = values.get
        for name, store in self._stores:
            store(self, get(name))

    def _fields(self) -> Dict[str, Any]:
        return {name: getattr(self, name) for name in self._all}

    @classmethod
    def _made_of_slots(cls) -> None:
        """Keeps what sets each slot: faster than object.__setattr__."""
        cls._stores = [(name, getattr(cls, name).__set__) for name in cls._all]

    @property
    def _bare(self) -> Detections:
        """The detections that items refer to; of a Result without its image."""
        return self

    @classmethod
    def _of(cls, **values: Any) -> Self:
        """From fields that are already checked."""
        made = object.__new__(cls)
        made._set(**values)
        return made

    def _with(self, **changes: Any) -> Self:
        return self._of(**{**self._fields(), "_whole": None, **changes})

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Detections: {name} is not set on an object; "
                             f"d.replace({name}=...) makes another one")

    def __reduce__(self) -> Tuple[Any, ...]:
        return _restored, (type(self), self._fields())

    if not TYPE_CHECKING:
        def __getattr__(self, name: str) -> Any:
            instead = {"boxes": "xyxy", "scores": "confidence", "classes": "class_id",
                       "rotated": "obb", "mask": "masks", "tracks": "tracker_id"}.get(name)
            hint = f"; write d.{instead}" if instead else ""
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}{hint}")

    @classmethod
    def empty(cls, *, names: Names = None, unit: Optional[str] = "source",
              size: Optional[Size] = None) -> Detections:
        """No objects."""
        return Detections(np.zeros((0, 4), np.float32), names=names, unit=unit, size=size)

    @property
    def input_dims(self) -> Optional[Size]:
        """(width, height) of the network's input, if known."""
        return self.size if self.unit == "pixels" else self._input_dims

    @property
    def conf(self) -> NDArray[np.float32]:
        """Ultralytics' name of ``confidence``."""
        return self.confidence

    @property
    def cls(self) -> NDArray[np.int64]:
        """Ultralytics' name of ``class_id``."""
        return self.class_id

    @property
    def xywh(self) -> NDArray[np.float32]:
        """Centre, width, height: float32 (N, 4). A copy."""
        boxes = self.xyxy
        return np.concatenate([(boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2]], 1)

    @property
    def box_area(self) -> NDArray[np.float32]:
        """Width times height of each box: float32 (N,)."""
        area: NDArray[np.float32] = np.prod(self.xyxy[:, 2:] - self.xyxy[:, :2], axis=1)
        return area

    @property
    def class_names(self) -> List[str]:
        """The name of each object's class."""
        return [self.name_of(label) for label in self.class_id.tolist()]

    def name_of(self, class_id: int) -> str:
        """The name of a class, "class 7" if it has none."""
        if self.names is not None and 0 <= class_id < len(self.names):
            return self.names[class_id]
        return f"class {class_id}"

    @property
    def masks(self) -> Optional[NDArray[np.bool_]]:
        """bool (N, H, W), computed at the first access and kept: N x H x W bytes. To get one at a
        time without this memory: ``for found in d: found.mask``. Raises ValueError if the size of
        the image is not known."""
        if self._mask_items is None:
            return None
        if self._whole is None:
            size = self._frame("masks")
            made = np.zeros((len(self), size[1], size[0]), bool)
            for out, mask in zip(made, self._mask_items):
                paste(out, part_of(mask, size))
            object.__setattr__(self, "_whole", made)
        return self._whole

    def _frame(self, what: str) -> Size:
        if self.size is None:
            raise _wrong(f"{what}: the size of the image is not known; map the detections to it "
                         "with to_source(placement), or give the decoder input_dims")
        return self.size

    def __len__(self) -> int:
        return len(self.xyxy)

    def __iter__(self) -> Iterator[Detection]:
        of = self._bare
        return (Detection(of, row) for row in range(len(of)))

    @overload
    def __getitem__(self, index: int) -> Detection: ...
    @overload
    def __getitem__(self, index: Index) -> Self: ...

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, tuple):
            raise TypeError("Detections: an index is one int, slice, list or array, not several")
        if not isinstance(index, (slice, list, np.ndarray)) and hasattr(index, "__index__"):
            row = index.__index__()
            if not -len(self) <= row < len(self):
                raise IndexError(f"Detections: index {row} of {len(self)} objects")
            return Detection(self._bare, row % len(self))
        picked = np.arange(len(self))[as_index(index, len(self))]
        changes: Dict[str, Any] = {name: None if (rows := getattr(self, name)) is None
                                   else rows[picked] for name in _ROWS}
        if self._mask_items is not None:
            changes["_mask_items"] = [self._mask_items[row] for row in picked.tolist()]
        if self._whole is not None:
            changes["_whole"] = self._whole[picked]
        return self._with(**changes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Detections):
            return NotImplemented
        same = all(is_equal(getattr(self, name), getattr(other, name))
                   for name in (*_ROWS, *_OF_IMAGE))
        mine, theirs = self._mask_items, other._mask_items
        if not same or mine is None or theirs is None:
            return same and mine is theirs
        return len(mine) == len(theirs) and all(map(is_same, mine, theirs))

    __hash__ = None  # type: ignore[assignment]

    def replace(self, **changes: Any) -> Self:
        """A copy with other values of the constructor's arguments. With another ``xyxy`` its unit
        is not known, unless ``unit`` is given."""
        fields = {name: getattr(self, name) for name in _ARGUMENTS if name != "masks"}
        unknown = sorted(set(changes) - set(_ARGUMENTS))
        if unknown:
            raise TypeError(f"replace: Detections has no {unknown[0]!r} (it has "
                            f"{', '.join(_ARGUMENTS)})")
        if "xyxy" in changes and "unit" not in changes:
            changes["unit"] = None
        made = Detections(**{**fields, **changes})
        kept = {name: getattr(self, name) for name in ("top_classes", "top_scores", "class_scores",
                                                       "is_coasting")}
        if "masks" not in changes:
            kept["_mask_items"] = self._mask_items
        if made.unit == self.unit:
            kept["_input_dims"] = self._input_dims
        return self._with(**{**made._fields(), **kept})

    def __add__(self, other: Detections) -> Detections:
        if not isinstance(other, Detections):
            return NotImplemented
        return Detections.merge([self, other])

    @classmethod
    def merge(cls, parts: Sequence[Detections]) -> Detections:
        """All objects of several Detections of one image, one after the other. Fields that not all
        of them have (masks, keypoints, track ids) are left out. Raises ValueError if units, sizes
        or names contradict each other. An empty list gives ``Detections.empty()``."""
        parts = [part for part in parts]
        if not parts:
            return cls.empty()
        known: Dict[str, Any] = {}
        for name in ("unit", "size", "names"):
            values = {getattr(part, name) for part in parts} - {None}
            if len(values) > 1:
                raise _wrong(f"merge: {name} differs: {' and '.join(map(repr, sorted(values)))}")
            known[name] = values.pop() if values else None
        for name in _ROWS:
            rows = [getattr(part, name) for part in parts]
            known[name] = None if any(each is None for each in rows) else np.concatenate(rows)
        masks = [part._mask_items for part in parts]
        if all(items is not None for items in masks):
            known["_mask_items"] = [mask for items in masks for mask in items or ()]
        return Detections._of(**known, _input_dims=parts[0]._input_dims)

    concatenate = merge

    def with_nms(self, threshold: float = 0.5, class_agnostic: bool = False) -> Self:
        """A copy without objects that overlap a better one by more than the threshold: of the same
        class, or of any. The overlap is intersection over union, or the probabilistic one for
        oriented boxes. Best first."""
        kept: NDArray[np.intp] = _core._suppress(self.xyxy, self.confidence, self.class_id,
                                                 self.obb, threshold, class_agnostic)
        return self[kept]

    def __repr__(self) -> str:
        names = self.class_names
        counts = {name: names.count(name) for name in dict.fromkeys(names)}
        said = ", ".join(name if count == 1 else f"{name} x{count}"
                         for name, count in list(counts.items())[:8])
        if len(counts) > 8:
            said += f", {len(counts) - 8} classes more"
        where = {"source": "source", "pixels": "network input", "fractions": "fractions",
                 None: "unit not known"}[self.unit]
        size = "" if self.size is None else f" {self.size[0]} x {self.size[1]}"
        also = [name for name in ("tracker_id", "keypoints", "obb", "top_classes", "class_scores")
                if getattr(self, name) is not None]
        also += ["masks"] * (self._mask_items is not None)
        extra = f"; {', '.join(also)}" if also else ""
        return (f"{type(self).__name__}({len(self)} in {where}{size}{': ' if said else ''}{said}"
                f"{extra})")


_ARGUMENTS = ("xyxy", "confidence", "class_id", "tracker_id", "tracker_uuid", "masks", "keypoints",
              "obb", "names", "unit", "size")


def _restored(kind: type[Detections], fields: Dict[str, Any]) -> Detections:
    return kind._of(**fields)


def decoded(boxes: Any, scores: Any, classes: Any, masks: List[Any], unit: Optional[str],
            input_dims: Optional[Size], **found: Any) -> Detections:
    """The result of Decoder.decode, from arrays of the extension."""
    regions = found.pop("mask_boxes", None)
    items = None
    if regions is not None:
        items = [CutMask(*each) for each in zip(masks, regions, boxes)]
    elif masks:
        found["class_scores"] = masks[0]
    if "top_classes" in found:
        found["top_classes"] = found["top_classes"].astype(np.int64)
    return Detections._of(xyxy=boxes, confidence=scores, class_id=classes.astype(np.int64),
                          _mask_items=items, unit=unit, size=input_dims, **found)


Detections._made_of_slots()
Detections.__module__ = "halyard"
