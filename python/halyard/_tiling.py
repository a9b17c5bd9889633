# SPDX-License-Identifier: Apache-2.0
"""Tiles: overlapping parts of a large frame for networks with a small input (SAHI)."""
from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, List, Optional, Sequence, Tuple, Union

from . import _core
from ._core import TiledFrameAccumulator as TiledFrameAccumulator
from ._enums import Fit, MatchMetric
from ._errors import InvalidArgumentError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from ._core import Region
    from ._detections import Detections
    from .typing import FitLike, MatchMetricLike

# Boxes, scores, classes.
Arrays = Tuple["NDArray[np.float32]", "NDArray[np.float32]", "NDArray[np.uintp]"]

__all__ = ["MergeConfig", "TilePlacement", "TileSpec", "TiledFrameAccumulator", "TilingConfig",
           "lift_tile_boxes", "merge_tiled_detections", "tile_grid"]


def _numbers(values: Sequence[float], count: int, name: str) -> Tuple[float, ...]:
    made = tuple(float(value) for value in islice(values, count + 1))
    if len(made) != count:
        seen = f"more than {count}" if len(made) > count else len(made)
        raise InvalidArgumentError(f"{name}: must have {count} numbers ({seen})",
                                   "invalid_argument")
    return made


@dataclass(frozen=True)
class TilingConfig:
    """How a frame is cut into tiles.

    Args:
        tile_w, tile_h: size of the network's input in pixels.
        overlap: minimum share of a tile that its neighbour covers too, in [0, 1).
        fit: Fit.Stretch or Fit.Letterbox, for frames smaller than a tile.
        pad: R, G, B, A of the pad of a letterbox, 0..255.

    The values are checked at their use.
    """

    tile_w: int
    tile_h: int
    overlap: float = 0.2
    fit: Fit = Fit.Stretch
    pad: Tuple[int, int, int, int] = (114, 114, 114, 255)

    if TYPE_CHECKING:
        def __init__(self, tile_w: int, tile_h: int, overlap: float = ..., fit: FitLike = ...,
                     pad: Sequence[int] = ...) -> None: ...

    def __post_init__(self) -> None:
        pad = tuple(int(value) for value in islice(self.pad, 5))
        if len(pad) != 4 or not all(0 <= value <= 255 for value in pad):
            raise InvalidArgumentError(f"pad: must be four numbers of 0..255 ({pad})",
                                       "invalid_argument")
        object.__setattr__(self, "pad", pad)
        object.__setattr__(self, "overlap", float(self.overlap))
        object.__setattr__(self, "fit", Fit(self.fit))

    def with_overlap(self, overlap: float) -> TilingConfig:
        """A copy with another overlap."""
        return replace(self, overlap=overlap)

    def with_fit(self, fit: FitLike) -> TilingConfig:
        """A copy with another fit."""
        return TilingConfig(self.tile_w, self.tile_h, self.overlap, fit, self.pad)


@dataclass(frozen=True)
class TileSpec:
    """One tile of a grid: ``source`` in frame pixels, its number, its row and column."""

    source: Region
    index: int
    row: int
    col: int


@dataclass(frozen=True)
class TilePlacement:
    """The place of a tile in its frame.

    Args:
        index, count: number of the tile, and of all tiles of the frame.
        origin, crop_size: x, y and width, height of the tile in frame pixels.
        frame_dims: width, height of the frame.
        letterbox: the part of the network's input that shows the tile: left, top, right, bottom
            in fractions of the input; None: all of it.
    """

    index: int
    count: int
    origin: Tuple[float, float]
    crop_size: Tuple[float, float]
    frame_dims: Tuple[float, float]
    letterbox: Optional[Tuple[float, float, float, float]] = field(default=None)

    def __post_init__(self) -> None:
        for name in ("origin", "crop_size", "frame_dims"):
            object.__setattr__(self, name, _numbers(getattr(self, name), 2, name))
        if self.letterbox is not None:
            object.__setattr__(self, "letterbox", _numbers(self.letterbox, 4, "letterbox"))


@dataclass(frozen=True)
class MergeConfig:
    """How detections of overlapping tiles become detections of the frame.

    Args:
        metric: MatchMetric.Ios, intersection over the smaller box, or MatchMetric.Iou.
        threshold: two boxes match when the metric is at least this; 0..1.
        class_agnostic: boxes of different classes match too.
        max_det: maximum number of detections.
        score_threshold: detections below it are ignored.
    """

    metric: MatchMetric = MatchMetric.Ios
    threshold: float = 0.5
    class_agnostic: bool = False
    max_det: int = 300
    score_threshold: float = 0.0

    if TYPE_CHECKING:
        def __init__(self, metric: MatchMetricLike = ..., threshold: float = ...,
                     class_agnostic: bool = ..., max_det: int = ...,
                     score_threshold: float = ...) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "metric", MatchMetric(self.metric))


def tile_grid(frame_w: int, frame_h: int, tile_w: int, tile_h: int,
              overlap: float = 0.2) -> List[TileSpec]:
    """Tiles that cover a frame, by rows, spread evenly, the last flush with the edge.

    All sizes in pixels, widths first. Raises ValueError for a size of 0 and an overlap outside
    [0, 1)."""
    return [TileSpec(_core.Region(*tile[:4]), *tile[4:])
            for tile in _core._tile_grid(frame_w, frame_h, tile_w, tile_h, overlap)]


def lift_tile_boxes(bbox: Union[Detections, ArrayLike], scores: Optional[ArrayLike],
                    classes: Optional[ArrayLike], placement: TilePlacement,
                    input_dims: Optional[Tuple[int, int]] = None) -> Arrays:
    """Boxes of one tile in frame pixels. Takes the result of a Decoder, with None for scores and
    classes; or (N, 4) in fractions of the network's input, or in its pixels if ``input_dims`` is
    given.

    The letterbox is undone and boxes are clipped to the tile. Returns (boxes, scores, classes):
    float32 (N, 4), float32 (N,), uintp (N,)."""
    return _core._lift_tile_boxes(bbox, scores, classes, placement, input_dims)


def merge_tiled_detections(bbox: Any, scores: Any, classes: Any, cfg: MergeConfig) -> Arrays:
    """Merges detections of several tiles, boxes (N, 4) in frame pixels.

    The best of those that match gets the box around all of them and keeps its score and class.
    Returns (boxes, scores, classes), best first: float32 (N, 4), float32 (N,), uintp (N,)."""
    return _core._merge_tiled_detections(bbox, scores, classes, cfg)
