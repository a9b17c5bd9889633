# SPDX-License-Identifier: Apache-2.0
"""Detections drawn on their image, as an array and for notebooks."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from ._core import ImageProcessor, Tensor
from ._enums import PixelFormat, TensorMemory
from ._errors import MissingFileError
from ._errors import invalid_argument as _wrong

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._detections import Detections, Size
    from ._overlay import Overlay

_GREY = 96


def upright_copy(image: Tensor, size: Optional[Size] = None) -> Tensor:
    """A new upright copy of an image in R G B, to draw on."""
    width, height = size or image.upright_size
    made = Tensor.image(width, height, PixelFormat.Rgb, mem=TensorMemory.MEM)
    ImageProcessor().convert(image, made)
    return made


class Plots:
    """The methods of Detections that draw."""

    __slots__ = ()

    def plot(self: Any, image: Any = None, *, overlay: Optional[Overlay] = None,
             bgr: bool = False) -> NDArray[np.uint8]:
        """What was found, drawn on an upright copy of the image: (H, W, 3), R G B.

        Args:
            image: of any kind that a Model takes; None: the image of a Result.
            overlay: one of your own has its look, and the trails of tracks.
            bgr: an array has blue first. What is returned has red first.

        Raises ValueError for detections in pixels of another image, or without an image."""
        pixels: NDArray[np.uint8] = np.asarray(self._drawn(self._canvas(image, bgr), overlay))
        return pixels

    def _canvas(self: Any, image: Any, bgr: bool) -> Tensor:
        from ._images import image_from
        if image is None:
            raise _wrong("image: must be given, only the Result of a Model has its own")
        return upright_copy(image_from(image, bgr)[0])

    def _drawn(self: Any, made: Tensor, overlay: Optional[Overlay] = None) -> Tensor:
        from ._overlay import Overlay
        of: Detections = self
        drawer = overlay or Overlay()
        self._paint_classes(drawer, made)
        drawer.draw(made, of)
        if of.top_classes is not None and of.top_scores is not None:
            line = max(16, made.upright_size[1] // 24)
            best = zip(of.top_classes.tolist(), of.top_scores.tolist())
            for row, (label, score) in enumerate(list(best)[:5]):
                drawer.text(made, (4, 4 + row * line), f"{of.name_of(label)} {score:.0%}")
        return made

    def _paint_classes(self: Any, drawer: Overlay, made: Tensor) -> None:
        """Paints what a semantic network found, where its place in the image is known."""

    def _repr_png_(self: Any) -> Optional[bytes]:
        """PNG for a notebook, at most 1024 pixels a side: on grey, as the image is not known. None
        if the size is not known, or there is no font: the notebook shows the text."""
        if self.size is None or self.unit == "fractions" or not len(self):
            return None
        width, height = self.size
        made = Tensor.image(width, height, PixelFormat.Rgb, mem=TensorMemory.MEM)
        made.fill(_GREY)
        return self._png_of(made)  # type: ignore[no-any-return]

    def _png_of(self: Any, made: Tensor) -> Optional[bytes]:
        try:
            return self._drawn(made)._repr_png_()  # type: ignore[no-any-return]
        except MissingFileError:
            return None
