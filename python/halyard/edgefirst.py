# SPDX-License-Identifier: Apache-2.0
"""EdgeFirst HAL's package to the letter: what ``import edgefirst_hal`` gives after
``halyard.compat.install()``.

All of halyard, but for what differs there: results as tuples (boxes, scores, classes, masks) in the
unit that ``Decoder.normalized_boxes`` tells, element 0 of a batch with a RuntimeWarning, 300
candidates before suppression, thresholds of any size, and pictures that drawing blackens where no
background is given. docs/compat.md has the table."""
from __future__ import annotations

from typing import Any, Optional, Sequence, Tuple

import halyard as _halyard
from halyard import *  # noqa: F403
from halyard import _core, _tiling
from halyard import __version__ as __version__
from halyard._core import ByteTrack, Tensor
from halyard._enums import ColorMode
from halyard._results import Detections as Detections  # type: ignore[assignment]
from halyard._results import TrackedDetections as TrackedDetections
from halyard._tiling import TilePlacement

__all__ = [*_halyard.__all__, "TrackedDetections"]

Decoder = _core._ReferenceDecoder
Decoder.__module__, Decoder.__name__, Decoder.__qualname__ = __name__, "Decoder", "Decoder"
# Boxes in pixels of an input of this size are fractions, as these calls take them.
_FRACTIONS = (1, 1)


class ImageProcessor(_core.ImageProcessor):
    """halyard.ImageProcessor, whose drawing calls rewrite all of their destination."""

    def draw_decoded_masks(  # type: ignore[override]
            self, dst: Tensor, bbox: Any, scores: Any, classes: Any, seg: Sequence[Any] = (),
            background: Optional[Any] = None, opacity: float = 1.0,
            letterbox: Optional[Sequence[float]] = None,
            color_mode: ColorMode = ColorMode.Class) -> None:
        """Draws boxes in fractions of the network's input, and masks, over the background, or
        black and alpha 0."""
        super().draw_decoded_masks(dst, bbox, scores, classes, seg, _base(background), opacity,
                                   letterbox, color_mode, _FRACTIONS)

    def draw_masks(  # type: ignore[override]
            self, decoder: Any, model_output: Sequence[Any], dst: Tensor,
            tracker: Optional[ByteTrack] = None, timestamp: Optional[int] = None,
            background: Optional[Any] = None, opacity: float = 1.0,
            letterbox: Optional[Sequence[float]] = None,
            color_mode: ColorMode = ColorMode.Class) -> Tuple[Any, ...]:
        """Decodes element 0 of a model's outputs and draws it over the background, or black and
        alpha 0."""
        return super().draw_masks(decoder, model_output, dst, tracker, timestamp,
                                  _base(background), opacity, letterbox, color_mode)


class TiledFrameAccumulator(_core.TiledFrameAccumulator):
    """halyard.TiledFrameAccumulator over boxes in fractions of the network's input."""

    def push_tile(  # type: ignore[override]
            self, bbox: Any, scores: Any, classes: Any, placement: TilePlacement) -> bool:
        """Adds the detections of one tile. False, with nothing changed, for a tile that was there
        or is none of this frame."""
        return super().push_tile(bbox, scores, classes, placement, _FRACTIONS)


def lift_tile_boxes(bbox: Any, scores: Any, classes: Any, placement: TilePlacement) -> Any:
    """Boxes of one tile, (N, 4) in fractions of the network's input, as frame pixels."""
    return _tiling.lift_tile_boxes(bbox, scores, classes, placement, _FRACTIONS)


def _base(background: Optional[Any]) -> Any:
    return "black" if background is None else background
