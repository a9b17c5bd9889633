# SPDX-License-Identifier: Apache-2.0
"""The masks of detections, one object each: bytes as a network gives them, or whole images.
The pixels of an image are computed on access."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._core import Placement

Size = Tuple[int, int]
Six = Tuple[float, float, float, float, float, float]
IDENTITY: Six = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0)
# (left, top, pixels): the part of the frame that a mask can touch.
Part = Tuple[int, int, "NDArray[np.bool_]"]
ON = 128


def after(second: Sequence[float], first: Sequence[float]) -> Six:
    """The affine map that does `first`, then `second`."""
    a, b = first, second
    return (b[0] * a[0] + b[1] * a[3], b[0] * a[1] + b[1] * a[4], b[0] * a[2] + b[1] * a[5] + b[2],
            b[3] * a[0] + b[4] * a[3], b[3] * a[1] + b[4] * a[4], b[3] * a[2] + b[4] * a[5] + b[5])


class CutMask(NamedTuple):
    """Bytes (h, w, 1) that cover `region` of the network's input, cut at `box`, which is in pixels
    of the frame. `own` maps pixels of the frame to the unit of the region."""

    data: Any
    region: Any
    box: Any
    own: Six = IDENTITY

    def part(self, size: Size, threshold: int = ON) -> Part:
        """The pixels where the bytes, interpolated between their centres, reach the threshold."""
        nothing = 0, 0, np.zeros((0, 0), bool)
        if not np.isfinite(self.box).all():
            return nothing
        left, top, right, bottom = np.clip(np.rint(self.box), 0, (*size, *size)).astype(
            int).tolist()
        rows, columns = self.data.shape[:2]
        if right <= left or bottom <= top or rows == 0 or columns == 0:
            return nothing
        x, y = np.arange(left, right) + 0.5, np.arange(top, bottom)[:, None] + 0.5
        m = self.own
        x1, y1, x2, y2 = (float(value) for value in self.region)
        column = (m[0] * x + m[1] * y + m[2] - x1) * (columns / max(x2 - x1, 1e-9))
        row = (m[3] * x + m[4] * y + m[5] - y1) * (rows / max(y2 - y1, 1e-9))
        inside = (column >= 0) & (column < columns) & (row >= 0) & (row < rows)
        # A byte is a rounded value, so the limit is half a step below the threshold.
        values = _interpolated(self.data[..., 0], column - 0.5, row - 0.5)
        return left, top, inside & (values >= threshold - 0.5)

    def to_source(self, placement: Placement) -> CutMask:
        return CutMask(self.data, self.region, placement.to_source(self.box),
                       after(self.own, placement.forward))

    def resized(self, by: Sequence[float]) -> CutMask:
        return CutMask(self.data, self.region, self.box * np.array([*by, *by], np.float32),
                       after(self.own, (1 / by[0], 0, 0, 0, 1 / by[1], 0)))

    def is_same(self, other: object) -> bool:
        return (isinstance(other, CutMask) and self.own == other.own
                and np.array_equal(self.data, other.data)
                and np.array_equal(self.region, other.region)
                and np.array_equal(self.box, other.box))


class WholeMask(NamedTuple):
    """Pixels of the whole frame, bool (H, W)."""

    pixels: Any

    def part(self, size: Size, threshold: int = ON) -> Part:
        return 0, 0, self.pixels

    def to_source(self, placement: Placement) -> WholeMask:
        return WholeMask(_warped(self.pixels, placement.source, placement.forward))

    def resized(self, by: Sequence[float]) -> WholeMask:
        height, width = self.pixels.shape
        size = round(width * by[0]), round(height * by[1])
        return WholeMask(_warped(self.pixels, size, (1 / by[0], 0, 0, 0, 1 / by[1], 0)))

    def is_same(self, other: object) -> bool:
        return isinstance(other, WholeMask) and np.array_equal(self.pixels, other.pixels)


# None: an object that is not seen in this frame.
Mask = Optional[Union[CutMask, WholeMask]]


def _interpolated(data: Any, x: Any, y: Any) -> Any:
    """Values interpolated between four bytes; outside the outer centres, the outer bytes."""
    rows, columns = data.shape
    x, y = np.clip(x, 0, columns - 1), np.clip(y, 0, rows - 1)
    left, top = x.astype(int), y.astype(int)
    right, bottom = np.minimum(left + 1, columns - 1), np.minimum(top + 1, rows - 1)
    across, down = (x - left).astype(np.float32), (y - top).astype(np.float32)
    wide = data.astype(np.float32)
    upper = wide[top, left] + across * (wide[top, right] - wide[top, left])
    lower = wide[bottom, left] + across * (wide[bottom, right] - wide[bottom, left])
    return upper + down * (lower - upper)


def _warped(pixels: Any, size: Size, forward: Sequence[float]) -> Any:
    """The pixels of an image of `size`, where `forward` maps them into `pixels`: nearest pixel;
    off outside."""
    x, y = np.arange(size[0]) + 0.5, np.arange(size[1])[:, None] + 0.5
    column = np.floor(forward[0] * x + forward[1] * y + forward[2]).astype(int)
    row = np.floor(forward[3] * x + forward[4] * y + forward[5]).astype(int)
    height, width = pixels.shape
    inside = (column >= 0) & (column < width) & (row >= 0) & (row < height)
    return inside & pixels[np.clip(row, 0, height - 1), np.clip(column, 0, width - 1)]


def part_of(mask: Mask, size: Size, threshold: int = ON) -> Part:
    """The part of a frame of `size` that a mask can touch."""
    if mask is None:
        return 0, 0, np.zeros((0, 0), bool)
    return mask.part(size, threshold)


def whole(mask: Mask, size: Size, threshold: int = ON) -> NDArray[np.bool_]:
    """One mask as an image, bool (H, W)."""
    out = np.zeros((size[1], size[0]), bool)
    paste(out, part_of(mask, size, threshold))
    return out


def paste(out: NDArray[np.bool_], part: Part) -> None:
    """Writes a part to its place in an image whose other pixels are off."""
    left, top, pixels = part
    out[top:top + pixels.shape[0], left:left + pixels.shape[1]] = pixels


def is_same(a: Mask, b: Mask) -> bool:
    """Whether two masks are the same bytes in the same place."""
    return b is None if a is None else a.is_same(b)
