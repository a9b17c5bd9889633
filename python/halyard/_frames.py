# SPDX-License-Identifier: Apache-2.0
"""Frames: the images of a file, folder, video, camera or topic, one after the other."""
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterator, Literal, Optional

import numpy as np

from ._calls import helpful
from ._core import DecodeLimits, ImageProcessor, Tensor
from ._enums import Flip, Rotation, TensorMemory
from ._errors import InvalidArgumentError
from ._sources import Reader, Source, name_of, reader_of

if TYPE_CHECKING:
    from types import TracebackType

    from numpy.typing import NDArray

__all__ = ["Frame", "Frames"]

_UPRIGHT = (Flip.NoFlip, Rotation.Rotate0)


@dataclass(frozen=True, repr=False)
class Frame:
    """One image of a source: image is an upright Tensor (of a video read-only, in the decoder's
    own memory), source the file that it is from ("topic:NAME" of a topic), index its number from 0
    on, timestamp_ns its time by the source's clock. A model takes it as it is."""

    image: Tensor
    source: str
    index: int
    timestamp_ns: int

    def numpy(self, format: Literal["rgb", "bgr"] = "rgb") -> NDArray[np.uint8]:
        """A new array (H, W, 3) of uint8: R G B, or B G R for OpenCV."""
        if format not in ("rgb", "bgr"):
            raise InvalidArgumentError(f'format: must be "rgb" or "bgr" ({format!r})',
                                       "invalid_argument")
        width, height = self.image.upright_size
        made = Tensor.image(width, height, format, mem=TensorMemory.MEM)
        ImageProcessor().convert(self.image, made)
        return np.asarray(made)

    def _repr_png_(self) -> Optional[bytes]:
        """PNG for a notebook, at most 1024 pixels a side."""
        return self.image._repr_png_()

    def __repr__(self) -> str:
        width, height = self.image.upright_size
        kind = "" if self.image.format is None else f" {self.image.format.name}"
        return (f"Frame({self.index} of {self.source!r}, {width} x {height}{kind}, "
                f"{self.timestamp_ns / 1e9:.3f} s)")


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
    0 if it is not known; ``is_video``; ``is_live``: a camera, a topic or a stream that is sent as
    it is recorded. ``len()`` if it is known beforehand. A frame stays valid as long as it is held.
    """

    def __init__(self, source: Source, *, picture_rate: float = 25.0,
                 limits: Optional[DecodeLimits] = None, timeout: Optional[float] = None,
                 speed: float = 0.0, loop: bool = False, start: float = 0.0,
                 reconnect: bool = False, video_decoder: str = "cpu") -> None:
        if not _is_positive(picture_rate):
            raise InvalidArgumentError(f"picture_rate: must be above 0 ({picture_rate!r})",
                                       "invalid_argument")
        if timeout is not None and not _is_positive(timeout):
            raise InvalidArgumentError(f"timeout: must be above 0 seconds, or None ({timeout!r})",
                                       "invalid_argument")
        self.source = name_of(source)
        self._source: Optional[Reader] = reader_of(
            source, picture_rate, limits, timeout, speed=speed, loop=bool(loop), start=start,
            reconnect=bool(reconnect), video_decoder=video_decoder)
        self._count = self._source.count
        self.rate = self._source.rate
        self.is_video = self._source.is_video
        self.is_live = self._source.is_live

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

    def seek(self, seconds: float) -> None:
        """Continues with the first frame at or after this time of a file, folder or video; behind
        the last one iteration ends. Raises UnsupportedError (a camera, stream, pipe or topic)."""
        if self._source is not None:
            self._source.seek(seconds)

    @property
    def reconnect_count(self) -> int:
        """How often a lost source was opened again."""
        return 0 if self._source is None else self._source.reconnect_count

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
        rate = f", {self.rate:g} a second" if self.rate else ""
        return f"Frames({self.source!r}{count}{rate})"


def _is_positive(value: Any) -> bool:
    return isinstance(value, (int, float)) and value > 0


@helpful
def open(source: Source, *, picture_rate: float = 25.0,  # noqa: A001
         limits: Optional[DecodeLimits] = None, timeout: Optional[float] = None,
         speed: float = 0.0, loop: bool = False, start: float = 0.0,
         reconnect: bool = False, video_decoder: str = "cpu") -> Frames:
    """The frames of an image, a folder of images (frame9 before frame10), a video, a server, a
    camera or a topic::

        with halyard.open("harbour.mp4") as frames:
            for frame in frames:
                use(frame.image, frame.timestamp_ns)

    Args:
        source: a path ("-" is standard input), an address (http://, rtsp://), the number of a
            camera (0 is "camera:0"), "/dev/video0", "topic:NAME", or a Topic of Image or Tensor,
            which stays open. Videos need the system's FFmpeg.
        picture_rate: frames a second for images of a folder.
        limits: what an untrusted file may cost; None: the process's limits.
        timeout: seconds to wait for a server's bytes or a topic's next frame; None: 10 for a
            server, for ever for a topic.
        speed: 1: frames of a file come when they are due, 2: twice as fast; 0: at once.
        loop: a file begins again after its last frame.
        start: seconds of a file to skip.
        reconnect: opens a lost camera or server again, for ever, with waits of up to 10 s.
        video_decoder: "cpu"; "v4l2": a hardware codec that decodes the video, or its path, with
            frames in its buffers, of which 8 can be held; "auto": the CPU where that fails.

    The frames of a topic end when it is closed. A topic that nobody has made is made, of type
    Image. Raises MissingFileError, DataError (no image or video), UnsupportedError (a video without
    FFmpeg), WaitTimeoutError."""
    return Frames(source, picture_rate=picture_rate, limits=limits, timeout=timeout, speed=speed,
                  loop=loop, start=start, reconnect=reconnect, video_decoder=video_decoder)


for _item in (Frame, Frames, open):
    _item.__module__ = "halyard"
