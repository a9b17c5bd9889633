# SPDX-License-Identifier: Apache-2.0
"""Overlay: draws detections on images of any drawable format."""
from __future__ import annotations

import importlib.util
import pathlib
from typing import Any, List, Literal, Optional, Sequence, Tuple

import numpy as np

from . import _core
from ._calls import helpful
from ._core import Tensor, palette_color
from ._detections import Detections
from ._enums import Flip, PixelFormat, Rotation
from ._errors import InvalidArgumentError, MissingFileError, UnsupportedError
from ._exports import corners
from ._mask_items import part_of
from ._rows import Names, names_from

__all__ = ["Overlay"]

_DRAWABLE = (PixelFormat.Rgb, PixelFormat.Rgba, PixelFormat.Bgr, PixelFormat.Bgra,
             PixelFormat.PlanarRgb, PixelFormat.PlanarRgba, PixelFormat.Grey, PixelFormat.Nv12)
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
        backend: what draws: "auto" (a GPU on images that it reaches without a copy, else the CPU),
            "opengl" (on all images, with copies where they need them) or "cpu".

    Raises MissingFileError if there is no font: the message names the package to install."""

    @helpful
    def __init__(self, names: Names = None, *,
                 color_by: Optional[Literal["class", "track"]] = None, line_width: int = 0,
                 text_size: int = 0, opacity: float = 0.5, show_confidence: bool = True,
                 trail_length: int = 30, font: str = "",
                 backend: Literal["auto", "cpu", "opengl"] = "auto") -> None:
        if not 0 <= opacity <= 1:
            raise InvalidArgumentError(f"opacity: must be in [0, 1] ({opacity})",
                                       "invalid_argument")
        self._names = names_from(names)
        self._options = (line_width, text_size, show_confidence, trail_length)
        self._color_by, self._opacity, self._font = color_by, opacity, font
        self._backend = backend
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
            return _core._OverlayCore(names, color_by, *self._options, self._font, self._backend)
        except MissingFileError:
            if self._font:
                raise
            for font in _fonts_of_packages():
                return _core._OverlayCore(names, color_by, *self._options, font, self._backend)
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
            core.paint(target, labels, colors, self._opacity)
        _shapes(core, target, detections, keys)

    def text(self, picture: Any, xy: Tuple[int, int], text: str,
             color: Sequence[int] = (0, 0, 0)) -> None:
        """A line of text on a filled tag of this colour, its top left corner at ``xy``."""
        core, target = self._for(*(self._made_for or ("class", ()))), _target(picture)
        core.text(target, int(xy[0]), int(xy[1]), text, (*tuple(color)[:3], 255))

    def explain(self, picture: Any) -> str:
        """What draws on the picture, and why OpenGL does not: a line for each."""
        return self._for(*(self._made_for or ("class", ()))).explain(_target(picture))

    def __reduce__(self) -> Tuple[Any, ...]:
        raise TypeError("Overlay: holds the trails of one camera, and is not copied or pickled; "
                        "make one for each")

    def __repr__(self) -> str:
        names = "names of the detections" if self._names is None else f"{len(self._names)} names"
        return f"Overlay({names}, color_by={self._color_by!r}, backend={self._backend!r})"


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


def _shapes(core: _core._OverlayCore, target: Tensor, found: Detections, keys: Any) -> None:
    colors = [(*palette_color(int(key)), 255) for key in keys.tolist()]
    if found.obb is not None:
        core.outlines(target, corners(found.obb).ravel().tolist(), colors)
    if found.keypoints is not None:
        visible = found.keypoints[..., 2] >= 0.5
        owners = np.nonzero(visible)[0].tolist()
        core.points(target, found.keypoints[visible][:, :2].ravel().tolist(),
                    [colors[i] for i in owners])
    if found.tracker_id is None:
        core.draw(target, found.xyxy, found.confidence, found.class_id)
        return
    coasting = np.zeros(len(found), int) if found.is_coasting is None else found.is_coasting
    core.draw_tracks(target, found.xyxy, found.confidence, found.class_id,
                     found.tracker_id.tolist(), [int(each) for each in coasting])


Overlay.__module__ = "halyard"
