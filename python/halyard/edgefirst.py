# SPDX-License-Identifier: Apache-2.0
"""EdgeFirst HAL's package, exactly: what ``import edgefirst_hal`` gives after
``halyard.compat.install()``.

It has everything of halyard, with these differences: a Tensor whose shape is a list, dtype a str
and size a count of bytes, and which reshape() changes; results as tuples (boxes, scores, classes,
masks) in the unit of ``Decoder.normalized_boxes``; element 0 of a batch with a RuntimeWarning; 300
candidates before suppression; thresholds of any size; images that drawing blackens if no
background is given. docs/compat.md has the table.

Every call takes tensors of either module. Calls that EdgeFirst HAL does not have (pools, topics,
negotiated buffers) give halyard's tensors."""
from __future__ import annotations

import os
from typing import Any, Optional, Sequence, Tuple, Union

from numpy.typing import ArrayLike

import halyard as _halyard
from halyard import *  # noqa: F403
from halyard import _core, _tiling
from halyard import __version__ as __version__
from halyard._core import DecodeLimits, _Tensor
from halyard._enums import ColorMode
from halyard._results import Detections as Detections  # type: ignore[assignment]
from halyard._results import TrackedDetections as TrackedDetections
from halyard._tiling import Arrays, TilePlacement
from halyard._tracking import AnyTracker
from halyard.typing import ColorModeLike, PixelFormatLike, TensorMemoryLike

__all__ = [*_halyard.__all__, "TrackedDetections"]

Decoder = _core._ReferenceDecoder
Tensor = _core._ReferenceTensor
for _class, _name in ((Decoder, "Decoder"), (Tensor, "Tensor")):
    _class.__module__, _class.__name__, _class.__qualname__ = __name__, _name, _name
# These calls read boxes in pixels of an input of this size as fractions.
_FRACTIONS = (1, 1)


class ImageProcessor(_core._ReferenceProcessor):
    """halyard.ImageProcessor, whose drawing calls rewrite all of their destination."""

    def draw_decoded_masks(  # type: ignore[override]
            self, dst: _Tensor, bbox: Any, scores: Any, classes: Any, seg: Sequence[Any] = (),
            background: Optional[Any] = None, opacity: float = 1.0,
            letterbox: Optional[Sequence[float]] = None,
            color_mode: ColorModeLike = ColorMode.Class) -> None:
        """Draws boxes in fractions of the network's input, and masks, over the background, or
        black and alpha 0."""
        super().draw_decoded_masks(dst, bbox, scores, classes, seg, _base(background), opacity,
                                   letterbox, color_mode, _FRACTIONS)

    def draw_masks(  # type: ignore[override]
            self, decoder: Any, model_output: Sequence[Any], dst: _Tensor,
            tracker: Optional[AnyTracker] = None, timestamp: Optional[int] = None,
            background: Optional[Any] = None, opacity: float = 1.0,
            letterbox: Optional[Sequence[float]] = None,
            color_mode: ColorModeLike = ColorMode.Class) -> Tuple[Any, ...]:
        """Decodes element 0 of a model's outputs and draws it over the background, or black and
        alpha 0."""
        return super().draw_masks(decoder, model_output, dst, tracker, timestamp,
                                  _base(background), opacity, letterbox, color_mode)


class TiledFrameAccumulator(_core.TiledFrameAccumulator):  # type: ignore[no-redef]
    """halyard.TiledFrameAccumulator over boxes in fractions of the network's input."""

    def push_tile(  # type: ignore[override]
            self, bbox: Any, scores: Any, classes: Any, placement: TilePlacement) -> bool:
        """Adds the detections of one tile. False, with nothing changed, for a tile that was there
        or is none of this frame."""
        return super().push_tile(bbox, scores, classes, placement, _FRACTIONS)


def lift_tile_boxes(  # type: ignore[no-redef]
        bbox: ArrayLike, scores: ArrayLike, classes: ArrayLike, placement: TilePlacement) -> Arrays:
    """Boxes of one tile, (N, 4) in fractions of the network's input, as frame pixels."""
    return _tiling.lift_tile_boxes(bbox, scores, classes, placement, _FRACTIONS)


def load(path: Union[str, "os.PathLike[str]"], format: Optional[PixelFormatLike] = None,
         mem: Optional[TensorMemoryLike] = None, *,
         limits: Optional[DecodeLimits] = None) -> Tensor:
    """The same as ``Tensor.load``."""
    return Tensor.load(path, format, mem, limits=limits)


def tensor(array: Any, copy: bool = False) -> Tensor:
    """The same as ``Tensor.from_array``."""
    return Tensor.from_array(array, copy)


def from_numpy(array: Any) -> Tensor:
    """halyard.from_numpy, of this module's class."""
    return Tensor.from_array(_halyard.from_numpy(array))


def asarray(x: Any, *, copy: Optional[bool] = None) -> Tensor:
    """halyard.asarray, of this module's class."""
    if isinstance(x, Tensor) and not copy:
        return x
    return Tensor.from_array(_halyard.asarray(x, copy=copy))


def _base(background: Optional[Any]) -> Any:
    return "black" if background is None else background
