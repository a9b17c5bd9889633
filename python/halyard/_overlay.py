# SPDX-License-Identifier: Apache-2.0
"""Overlay: draws detections on images of any drawable format."""
from __future__ import annotations

import importlib.util
import pathlib
from typing import TYPE_CHECKING, Any, List, Literal, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._calls import helpful
from ._core import ImageProcessor, Tensor, palette_color
from ._detections import Detections, Names, names_from
from ._enums import Flip, PixelFormat, Rotation, TensorMemory
from ._errors import InvalidArgumentError, MissingFileError, UnsupportedError
from ._exports import corners
from ._mask_items import part_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Overlay"]

# Formats on which boxes and text are drawn directly.
_DIRECT = (PixelFormat.Rgb, PixelFormat.Rgba)
_DRAWABLE = (*_DIRECT, PixelFormat.Bgr, PixelFormat.Bgra, PixelFormat.PlanarRgb,
             PixelFormat.PlanarRgba, PixelFormat.Grey, PixelFormat.Nv12)
# Fonts of other packages, for systems without fonts.
_FONTS = (("matplotlib", "mpl-data/fonts/ttf/DejaVuSans.ttf"), ("cv2", "qt/fonts/DejaVuSans.ttf"))


def _fonts_of_packages() -> List[str]:
    found = []
    for package, file in _FONTS:
        spec = importlib.util.find_spec(package)
        for place in (spec.submodule_search_locations or ()) if spec else ():
            if (pathlib.Path(place) / file).is_file():
                found.append(str(pathlib.Path(place) / file))
    return found


class Overlay:
    """Draws boxes with names and scores, track ids and their trails, masks, keypoints and oriented
    boxes. Keeps the trails of the tracks that it has drawn: use one overlay for each camera.

    Args:
        names: of classes; None: those of the Detections.
        color_by: what determines a colour; None: "track" if there are ids, else "class".
        line_width, text_size: pixels; 0: by the image's size.
        opacity: of masks, 0..1.
        show_confidence: writes the score after the name.
        trail_length: points of a track's trail; 0: no trail.
        font: path of a font file; "": one of the system's.

    Raises MissingFileError if there is no font: the message names the package to install."""

    @helpful
    def __init__(self, names: Names = None, *,
                 color_by: Optional[Literal["class", "track"]] = None, line_width: int = 0,
                 text_size: int = 0, opacity: float = 0.5, show_confidence: bool = True,
                 trail_length: int = 30, font: str = "") -> None:
        if not 0 <= opacity <= 1:
            raise InvalidArgumentError(f"opacity: must be in [0, 1] ({opacity})",
                                       "invalid_argument")
        self._names = names_from(names)
        self._options = (line_width, text_size, show_confidence, trail_length)
        self._color_by, self._opacity, self._font = color_by, opacity, font
        self._core: Optional[_core._OverlayCore] = None
        self._made_for: Any = None
        self._for("class", self._names or ())

    def _for(self, color_by: str, names: Sequence[str]) -> _core._OverlayCore:
        """The drawer for these names. A change of names forgets the trails."""
        if self._core is None or self._made_for != (color_by, tuple(names)):
            self._core, self._made_for = self._made(color_by, names), (color_by, tuple(names))
        return self._core

    def _made(self, color_by: str, names: Sequence[str]) -> _core._OverlayCore:
        try:
            return _core._OverlayCore(names, color_by, *self._options, self._font)
        except MissingFileError:
            if self._font:
                raise
            for font in _fonts_of_packages():
                return _core._OverlayCore(names, color_by, *self._options, font)
            raise

    def draw(self, picture: Any, detections: Detections) -> None:
        """Draws in place, the best on top.

        Args:
            picture: a Tensor of uint8 in Rgb, Rgba, Bgr, Bgra, PlanarRgb, PlanarRgba, Grey or Nv12,
                or an array (H, W, 3) R G B or (H, W, 4) that can be written to. Pixels beside what
                is drawn keep their values.
            detections: in pixels of the image: after ``to_source()``, or of your own.

        Raises ValueError for detections of another unit or size, UnsupportedError for other
        formats."""
        target = _target(picture)
        if target.orientation != (Flip.NoFlip, Rotation.Rotate0):
            raise InvalidArgumentError("picture: lies on its side in its file (orientation); draw "
                                       "on an upright copy", "invalid_argument")
        size = (int(target.width or 0), int(target.height or 0))
        if detections.unit not in ("source", None) and detections.size != size:
            raise InvalidArgumentError(
                f"detections: must be in pixels of the image (unit {detections.unit!r}); map "
                "them with to_source(placement)", "invalid_argument")
        if detections.size not in (None, size):
            raise InvalidArgumentError(f"detections: belong to an image of {detections.size}, not "
                                       f"{size}", "invalid_argument")
        color_by = self._color_by or ("class" if detections.tracker_id is None else "track")
        core = self._for(color_by, self._names or detections.names or ())
        by_track = color_by == "track" and detections.tracker_id is not None
        keys = (detections.tracker_id if by_track else detections.class_id)
        assert keys is not None
        if detections._mask_items is not None and self._opacity > 0:
            labels, colors = _mask_map(detections, keys, size)
            if target.format == PixelFormat.Grey:
                _over(target, lambda copy: core.paint(copy, labels, colors, self._opacity))
            else:
                core.paint(target, labels, colors, self._opacity)
        if target.format in _DIRECT:
            _lines(core, target, detections, keys)
        else:
            _over(target, lambda copy: _lines(core, copy, detections, keys))

    def text(self, picture: Any, xy: Tuple[int, int], text: str,
             color: Sequence[int] = (0, 0, 0)) -> None:
        """A line of text on a filled tag of this colour, its top left corner at ``xy``."""
        core, target = self._for(*(self._made_for or ("class", ()))), _target(picture)
        rgba = (*tuple(color)[:3], 255)

        def write(to: Tensor) -> None:
            core.text(to, int(xy[0]), int(xy[1]), text, rgba)

        write(target) if target.format in _DIRECT else _over(target, write)


def _target(picture: Any) -> Tensor:
    if not isinstance(picture, Tensor):
        shape: Any = getattr(picture, "shape", ())
        if len(shape) != 3 or shape[2] not in (3, 4):
            raise TypeError("picture: must be a Tensor, or an array (H, W, 3) or (H, W, 4), not "
                            f"{type(picture).__name__}{list(shape) if len(shape) else ''}")
        target = Tensor.from_array(picture)
        target.set_format(PixelFormat.Rgb if shape[2] == 3 else PixelFormat.Rgba)
        return target
    if picture.format not in _DRAWABLE:
        raise UnsupportedError("picture: is drawn on in Rgb, Rgba, Bgr, Bgra, PlanarRgb, "
                               f"PlanarRgba, Grey and Nv12, not {picture.format}: convert() it",
                               "unsupported")
    return picture


def _mask_map(found: Detections, keys: Any, size: Tuple[int, int]) -> Tuple[Any, Any]:
    """The number of the best object at each pixel, from 1 on, and the colour of each number."""
    kind: Any = np.uint8 if len(found) < 255 else np.uint16
    labels = np.zeros((size[1], size[0]), kind)
    items = found._mask_items or []
    for i in range(min(len(found), 65534) - 1, -1, -1):
        left, top, pixels = part_of(items[i], size)
        labels[top:top + pixels.shape[0], left:left + pixels.shape[1]][pixels] = i + 1
    colors = [(0, 0, 0, 0), *((*palette_color(int(key)), 255) for key in keys.tolist())]
    return labels, colors


def _lines(core: _core._OverlayCore, target: Tensor, found: Detections, keys: Any) -> None:
    view = np.asarray(target)
    colors = [palette_color(int(key)) for key in keys.tolist()]
    if found.obb is not None:
        for points, color in zip(corners(found.obb), colors):
            if np.isfinite(points).all():
                for start, end in zip(points, np.roll(points, -1, axis=0)):
                    _segment(view, start, end, color)
    if found.keypoints is not None:
        for row, color in zip(found.keypoints, colors):
            for x, y, visible in row:
                if visible >= 0.5 and np.isfinite((x, y)).all():
                    _spot(view, x, y, color, 2)
    if found.tracker_id is None:
        core.draw(target, found.xyxy, found.confidence, found.class_id)
        return
    coasting = np.zeros(len(found), int) if found.is_coasting is None else found.is_coasting
    core.draw_tracks(target, found.xyxy, found.confidence, found.class_id,
                     found.tracker_id.tolist(), [int(each) for each in coasting])


def _spot(view: NDArray[np.uint8], x: float, y: float, color: Sequence[int], reach: int) -> None:
    left, top = int(np.floor(x)), int(np.floor(y))
    view[max(top - reach, 0):max(top + reach + 1, 0),
         max(left - reach, 0):max(left + reach + 1, 0), :3] = color


def _segment(view: NDArray[np.uint8], start: Any, end: Any, color: Sequence[int]) -> None:
    """Draws a line 2 pixels wide. Walks only its part inside the image, however long it is."""
    height, width = view.shape[:2]
    steps = int(min(np.abs(end - start).max() + 1, 4 * (width + height)))
    for x, y in start + np.linspace(0, 1, steps + 1)[:, None] * (end - start):
        if 0 <= x < width and 0 <= y < height:
            view[int(y):int(y) + 2, int(x):int(x) + 2, :3] = color


def _over(target: Tensor, draw: Any) -> None:
    """Draws on an R G B copy, and writes back the changed pixels."""
    width, height = int(target.width or 0), int(target.height or 0)
    processor = ImageProcessor()
    copy = Tensor.image(width, height, PixelFormat.Rgb, mem=TensorMemory.MEM)
    processor.convert(target, copy)
    before = np.array(copy)
    draw(copy)
    changed = (np.asarray(copy) != before).any(axis=2)
    fresh = Tensor.image(width, height, target.format or "rgb", mem=TensorMemory.MEM)
    fresh.colorimetry = target.colorimetry
    processor.convert(copy, fresh)
    to, new = np.asarray(target), np.asarray(fresh)
    if target.format == PixelFormat.Nv12:
        np.copyto(to[:height, :width], new[:height, :width], where=changed)
        pairs = np.zeros((-(-height // 2) * 2, -(-width // 2) * 2), bool)
        pairs[:height, :width] = changed
        blocks = pairs.reshape(pairs.shape[0] // 2, 2, -1, 2).any(axis=(1, 3)).repeat(2, axis=1)
        columns = min(blocks.shape[1], to.shape[1])
        np.copyto(to[height:, :columns], new[height:, :columns], where=blocks[:, :columns])
    elif target.format in (PixelFormat.PlanarRgb, PixelFormat.PlanarRgba):
        np.copyto(to[:3], new[:3], where=changed)
    else:
        channels = min(to.shape[2], 3)
        np.copyto(to[..., :channels], new[..., :channels], where=changed[..., None])


Overlay.__module__ = "halyard"
