# SPDX-License-Identifier: Apache-2.0
"""Result: what a Model has found in one image."""
from __future__ import annotations

import os
import pathlib
import tempfile
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._core import ImageProcessor, Placement, Tensor
from ._detection import Detection
from ._detections import Detections
from ._enums import PixelFormat, TensorMemory
from ._errors import UnsupportedError
from ._image import imwrite
from ._overlay import Overlay

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Result"]


class Result:
    """What a Model has found in one image. Iteration, ``len()`` and an index are those of
    ``detections``.

    - detections: Detections in pixels of the upright image;
    - image: the image as a Tensor, as it was passed; path: its file, or None;
    - names: of the classes; task: "detect", "segment", "pose", "obb", "classify", "semantic";
    - placement: the map between the image and the network's input;
    - speed: milliseconds of "preprocess", "inference" and "postprocess"."""

    def __init__(self, detections: Detections, image: Tensor, placement: Placement, *, task: str,
                 path: Optional[str] = None, speed: Optional[Dict[str, float]] = None,
                 timestamp_ns: Optional[int] = None, index: int = 0) -> None:
        self.detections = detections
        self.image = image
        self.placement = placement
        self.task = task
        self.path = path
        self.speed = speed or {}
        self.timestamp_ns = timestamp_ns
        self.index = index

    @property
    def names(self) -> Optional[Tuple[str, ...]]:
        """Names of the classes."""
        return self.detections.names

    def __len__(self) -> int:
        return len(self.detections)

    def __iter__(self) -> Iterator[Detection]:
        return iter(self.detections)

    def __getitem__(self, index: Any) -> Any:
        return self.detections[index]

    @property
    def top(self) -> List[Tuple[str, float]]:
        """For classifiers: (name, confidence), best first."""
        found = self.detections
        if found.top_classes is None or found.top_scores is None:
            return []
        return [(found.name_of(label), score)
                for label, score in zip(found.top_classes.tolist(), found.top_scores.tolist())]

    @property
    def class_map(self) -> Optional[NDArray[np.uint8]]:
        """For semantic segmentation: the class of every pixel of the upright image, (H, W)."""
        scores = self.detections.class_scores
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
        width, height = self.placement.source
        made = Tensor.image(width, height, PixelFormat.Rgb, mem=TensorMemory.MEM)
        ImageProcessor().convert(self.image, made)
        return made

    def plot(self, *, overlay: Optional[Overlay] = None) -> NDArray[np.uint8]:
        """What was found, drawn on an upright copy of the image: (H, W, 3), R G B. An overlay of
        your own has its look, and the trails of tracks."""
        made = self.picture()
        drawer = overlay or Overlay()
        seen = self.class_map
        if seen is not None:
            values = seen.astype(np.uint16) + 1
            colors = [(0, 0, 0, 0), *((*_core.palette_color(i), 255)
                                      for i in range(int(seen.max(initial=0)) + 1))]
            drawer._for("class", ()).paint(made, values, colors, 0.5)
        drawer.draw(made, self.detections)
        for row, (name, score) in enumerate(self.top[:5]):
            line = max(16, made.upright_size[1] // 24)
            drawer.text(made, (4, 4 + row * line), f"{name} {score:.0%}")
        pixels: NDArray[np.uint8] = np.asarray(made)
        return pixels

    def save(self, path: Union[str, "os.PathLike[str]"], quality: int = 90) -> None:
        """Writes plot() in the format of the file's name: ``Tensor.save``."""
        imwrite(path, self.plot(), quality)

    def _repr_png_(self) -> bytes:
        """PNG for a notebook."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "plot.png")
            imwrite(file, self.plot())
            return file.read_bytes()

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
                    display(Image(self._repr_png_()))
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
        return {**self.detections.to_dict(), "path": self.path, "task": self.task,
                "speed": self.speed}

    def to_coco(self, image_id: Any = None,
                category_ids: Optional[Sequence[int]] = None) -> List[Dict[str, Any]]:
        """Detections.to_coco()."""
        return self.detections.to_coco(image_id, None, category_ids)

    def to_supervision(self) -> Any:
        """Detections.to_supervision()."""
        return self.detections.to_supervision()

    def __str__(self) -> str:
        """ "2 boats, 1 buoy"."""
        if self.top:
            return ", ".join(f"{name} {score:.2f}" for name, score in self.top)
        found = self.detections.class_names
        return ", ".join(f"{found.count(name)} {name}{'s' if found.count(name) > 1 else ''}"
                         for name in dict.fromkeys(found)) or "(nothing)"

    def __repr__(self) -> str:
        where = "" if self.path is None else f"{self.path!r}: "
        return f"Result({where}{self})"


Result.__module__ = "halyard"
