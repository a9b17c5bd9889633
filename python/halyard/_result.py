# SPDX-License-Identifier: Apache-2.0
"""Result: what a Model has found in one image: Detections with their image."""
from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple, Union

import numpy as np

from . import _core
from ._boxes import Boxes, Probs
from ._core import Placement, Tensor
from ._detections import Detections
from ._errors import UnsupportedError
from ._image import imwrite
from ._images import image_from
from ._plots import upright_copy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._overlay import Overlay

__all__ = ["Result"]

_OWN = ("image", "placement", "path", "task", "speed", "index", "timestamp_ns")
# Names of Ultralytics and supervision -> what to write here.
_INSTEAD = {"orig_img": "imread(result.path), or np.asarray(result.picture())",
            "verbose": "str(result)", "summary": "result.to_dict()", "tojson": "result.to_json()",
            "mask": "result.masks", "rotated": "result.obb", "scores": "result.confidence",
            "classes": "result.class_id", "tracks": "result.tracker_id",
            "data": "result.to_supervision().data", "area": "result.box_area",
            "save_txt": "halyard run --yolo", "save_crop": "each found.xyxy of result.picture()"}


class Result(Detections):
    """What a Model has found in one image: Detections (``xyxy``, ``confidence``, ``class_id``,
    ``masks``, ``names``...) in pixels of the upright image, with:

    - image: the image as a Tensor, as it was passed; path: its file, or None;
    - task: "detect", "segment", "pose", "obb", "classify", "semantic";
    - placement: the map between the image and the network's input;
    - speed: milliseconds of "preprocess", "inference" and "postprocess";
    - index, timestamp_ns: number and time of the frame in its source, from stream() and track();
    - boxes, probs: the same by Ultralytics' names.

    ``r[r.confidence > 0.5]`` is a Result too. A Result keeps the image in memory; ``r.detections``
    does not."""

    __slots__ = _OWN
    _all = (*Detections._all, *_OWN)

    image: Tensor
    placement: Placement
    path: Optional[str]
    task: str
    speed: Dict[str, float]
    index: int
    timestamp_ns: Optional[int]

    def __init__(self, detections: Detections, image: Tensor, placement: Placement, *, task: str,
                 path: Optional[str] = None, speed: Optional[Dict[str, float]] = None,
                 timestamp_ns: Optional[int] = None, index: int = 0) -> None:
        self._set(**detections._fields(), image=image, placement=placement, path=path, task=task,
                  speed=speed or {}, timestamp_ns=timestamp_ns, index=index)

    @property
    def detections(self) -> Detections:
        """The same without the image: to keep many of them, or to send them."""
        return Detections._of(**{name: getattr(self, name) for name in Detections._all})

    @property
    def _bare(self) -> Detections:
        return self.detections

    if not TYPE_CHECKING:
        def __getattr__(self, name: str) -> Any:
            hint = f"; write {_INSTEAD[name]}" if name in _INSTEAD else ""
            raise AttributeError(f"Result has no attribute {name!r}{hint}")

    @property
    def boxes(self) -> Boxes:
        """Ultralytics' view: ``boxes.xyxy``, ``boxes.conf``, ``boxes.cls``, ``boxes.id``..."""
        return Boxes(self, self.orig_shape)

    @property
    def probs(self) -> Optional[Probs]:
        """Ultralytics' view of a classifier's result: ``probs.top1``, ``probs.top5``...; None for
        other networks."""
        if self.top_classes is None or self.top_scores is None:
            return None
        return Probs(self.top_classes, self.top_scores)

    @property
    def orig_shape(self) -> Tuple[int, int]:
        """(height, width) of the upright image: Ultralytics' name."""
        width, height = self.placement.source
        return height, width

    @property
    def top(self) -> List[Tuple[str, float]]:
        """For classifiers: (name, confidence), best first."""
        if self.top_classes is None or self.top_scores is None:
            return []
        return [(self.name_of(label), score)
                for label, score in zip(self.top_classes.tolist(), self.top_scores.tolist())]

    @property
    def class_map(self) -> Optional[NDArray[np.uint8]]:
        """For semantic segmentation: the class of every pixel of the upright image, (H, W)."""
        scores = self.class_scores
        if scores is None:
            return None
        best = (scores[..., 0] >= 128 if scores.shape[2] == 1 else scores.argmax(axis=2))
        width, height = self.placement.source
        wide, high = self.placement.destination
        m = self.placement.forward
        x, y = np.arange(width) + 0.5, np.arange(height)[:, None] + 0.5
        rows, columns = best.shape
        column = ((m[0] * x + m[1] * y + m[2]) * (columns / wide)).astype(int)
        row = ((m[3] * x + m[4] * y + m[5]) * (rows / high)).astype(int)
        seen: NDArray[np.uint8] = best.astype(np.uint8)[np.clip(row, 0, rows - 1),
                                                        np.clip(column, 0, columns - 1)]
        return seen

    def picture(self) -> Tensor:
        """A new upright copy of the image in R G B, to draw on."""
        return upright_copy(self.image, self.placement.source)

    def _canvas(self, image: Any, bgr: bool) -> Tensor:
        if image is None:
            return self.picture()
        return upright_copy(image_from(image, bgr)[0])

    def _paint_classes(self, drawer: Overlay, made: Tensor) -> None:
        seen = self.class_map
        if seen is None or made.upright_size != self.placement.source:
            return
        colors = [(0, 0, 0, 0), *((*_core.palette_color(i), 255)
                                  for i in range(int(seen.max(initial=0)) + 1))]
        drawer._for("class", ()).paint(made, seen.astype(np.uint16) + 1, colors, 0.5)

    def save(self, path: Union[str, "os.PathLike[str]"], quality: int = 90) -> None:
        """Writes plot() in the format of the file's name: ``Tensor.save``."""
        imwrite(path, self.plot(), quality)

    def _repr_png_(self) -> Optional[bytes]:
        """plot() as PNG for a notebook, at most 1024 pixels a side; None if there is no font."""
        return self._png_of(self.picture())

    def show(self) -> None:
        """Shows plot() in a window of Pillow or OpenCV, or in a notebook.

        Raises UnsupportedError without a display: save() writes a file."""
        if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
            try:
                from IPython import get_ipython  # type: ignore[import-not-found, unused-ignore]
                from IPython.display import (  # type: ignore[import-not-found, unused-ignore]
                    Image, display)
            except ImportError:
                pass
            else:
                if get_ipython() is not None:
                    display(Image(self._repr_png_() or self.picture().to_png()))
                    return
            raise UnsupportedError("show: there is no display (DISPLAY and WAYLAND_DISPLAY are not "
                                   "set); result.save(\"seen.jpg\") writes a file", "unsupported")
        try:
            from PIL import Image as pillow  # type: ignore[import-not-found, unused-ignore]
        except ImportError:
            raise UnsupportedError("show: needs Pillow (`pip install pillow`); "
                                   "result.save(\"seen.jpg\") writes a file",
                                   "unsupported") from None
        pillow.fromarray(self.plot()).show()

    def to_dict(self) -> Dict[str, Any]:
        """Detections.to_dict(), with "path", "task" and "speed"."""
        return {**super().to_dict(), "path": self.path, "task": self.task, "speed": self.speed}

    def to_json(self, indent: Optional[int] = None) -> str:
        """to_dict() as JSON."""
        return json.dumps(self.to_dict(), indent=indent)

    def __str__(self) -> str:
        """ "2 boats, 1 buoy"."""
        if self.top:
            return ", ".join(f"{name} {score:.2f}" for name, score in self.top)
        found = self.class_names
        return ", ".join(f"{found.count(name)} {name}{'s' if found.count(name) > 1 else ''}"
                         for name in dict.fromkeys(found)) or "(nothing)"

    def __repr__(self) -> str:
        where = "" if self.path is None else f"{self.path!r}: "
        return f"Result({where}{self})"


Result._made_of_slots()
Result.__module__ = "halyard"
