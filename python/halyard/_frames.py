# SPDX-License-Identifier: Apache-2.0
"""Frames: the images of a file, folder or video, one after the other."""
from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Iterator, Optional, Union

from ._calls import helpful
from ._core import DecodeLimits, ImageProcessor, Tensor, _FrameSource
from ._enums import Flip, Rotation, TensorMemory
from ._errors import InvalidArgumentError

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["Frame", "Frames"]

Source = Union[str, "os.PathLike[str]"]
_UPRIGHT = (Flip.NoFlip, Rotation.Rotate0)


@dataclass(frozen=True)
class Frame:
    """One image of a source: image is an upright Tensor (of a video read-only, in the decoder's
    own memory), source the file that it is from, index its number from 0 on, timestamp_ns its time
    by the file's clock."""

    image: Tensor
    source: str
    index: int
    timestamp_ns: int


def upright(image: Tensor) -> Tensor:
    """The same image, or a rotated copy of one that is not upright in its file."""
    if image.orientation == _UPRIGHT:
        return image
    width, height = image.upright_size
    made = Tensor.image(width, height, image.format or "rgb", mem=TensorMemory.MEM)
    ImageProcessor().convert(image, made)
    return made


class Frames:
    """Result of open(): an iterator over Frame, and a context manager. ``rate``: frames a second,
    0 if it is not known; ``is_video``. ``len()`` if it is known beforehand. A frame stays valid as
    long as it is held; frames are read once."""

    def __init__(self, source: Source, *, picture_rate: float = 25.0,
                 limits: Optional[DecodeLimits] = None) -> None:
        self._source: Optional[_FrameSource] = _FrameSource(source, picture_rate, limits)
        self._count = self._source.count
        self.source = os.fspath(source)
        self.rate = self._source.rate
        self.is_video = self._source.is_video

    def __iter__(self) -> Iterator[Frame]:
        return self

    def __next__(self) -> Frame:
        """A damaged image raises DataError; the next call continues after it."""
        found = None if self._source is None else self._source.next()
        if found is None:
            raise StopIteration
        image, source, index, timestamp_ns = found
        return Frame(upright(image), source, index, timestamp_ns)

    def __len__(self) -> int:
        if self._count is None:
            raise TypeError(f"len: how many frames {self.source!r} has is not known beforehand")
        return self._count

    def __length_hint__(self) -> int:
        return self._count or 0

    def close(self) -> None:
        """Closes the file; iteration ends. Frames that are held stay valid."""
        if self._source is not None:
            self._source.close()
        self._source = None

    def __enter__(self) -> Frames:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def __repr__(self) -> str:
        count = "" if self._count is None else f", {self._count} frames"
        return f"Frames({self.source!r}{count}, {self.rate:g} a second)"


@helpful
def open(source: Source, *, picture_rate: float = 25.0,  # noqa: A001
         limits: Optional[DecodeLimits] = None) -> Frames:
    """The frames of an image, a folder of images (frame9 before frame10), a video or a URL::

        with halyard.open("harbour.mp4") as frames:
            for frame in frames:
                use(frame.image, frame.timestamp_ns)

    Args:
        source: path; "-" is standard input. Videos need the system's FFmpeg.
        picture_rate: frames a second for images of a folder.
        limits: what an untrusted file may cost; None: the process's limits.

    Raises MissingFileError, DataError (no image or video), UnsupportedError (a video without
    FFmpeg)."""
    if not isinstance(picture_rate, (int, float)) or not picture_rate > 0:
        raise InvalidArgumentError(f"picture_rate: must be above 0 ({picture_rate!r})",
                                   "invalid_argument")
    return Frames(source, picture_rate=picture_rate, limits=limits)


for _item in (Frame, Frames, open):
    _item.__module__ = "halyard"
