# SPDX-License-Identifier: Apache-2.0
"""Cameras: frames of V4L2 cameras without a copy."""
from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Sequence, Union

from . import _core
from ._core import Tensor, TensorPool

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["Camera", "CameraFrame", "CameraInfo", "CameraMode", "CameraStats", "cameras"]

CameraSource = Union[int, str, "os.PathLike[str]"]


@dataclass(frozen=True)
class CameraInfo:
    """A camera of this machine. formats and controls are dicts: {"fourcc", "format", "sizes", ...}
    and {"name", "kind", "value", "minimum", "maximum", "menu", ...}. reason: why it cannot be
    opened; None: it can."""

    path: str
    name: str
    driver: str
    bus: str
    is_multiplanar: bool
    formats: List[Dict[str, Any]]
    controls: List[Dict[str, Any]]
    reason: Optional[str]


@dataclass(frozen=True)
class CameraMode:
    """What a camera delivers. transfer: "driver_buffers" and "caller_buffers" (no copy), "copied",
    "expanded" (10 to 14 bits), "decoded" (JPEG)."""

    path: str
    fourcc: str
    format: str
    width: int
    height: int
    rate: float
    stride_bytes: int
    buffers: int
    transfer: str


@dataclass(frozen=True)
class CameraStats:
    """Counts since the camera was opened. held: buffers that frames hold now."""

    frames: int
    lost: int
    corrupt: int
    dropped: int
    copies: int
    reopened: int
    held: int


@dataclass(frozen=True)
class CameraFrame:
    """One frame. image holds a buffer of the camera until it and all that shares its bytes (NumPy
    views too) is gone. sequence counts from 0, lost are frames that the driver dropped since the
    last one, timestamp_ns is time.monotonic_ns() at the capture."""

    image: Tensor
    sequence: int
    lost: int
    timestamp_ns: int


class Camera:
    """A V4L2 camera that runs: an iterator over CameraFrame, and a context manager::

        with halyard.Camera("/dev/video0", width=640, height=480) as camera:
            for frame in camera:
                use(frame.image)

    Args:
        source: a path, or the index in cameras().
        format, dtype: of the images; None: the best that the camera offers.
        fourcc: the driver's code instead: "MJPG".
        width, height: both or none; 0: the largest up to 1920 x 1080.
        rate: frames a second; 0: the highest up to 30.
        buffers: of the driver, 2 to 32; each frame that is kept holds one.
        images: tensors in DMA-BUFs for the driver to write into, instead of its own buffers.
        pool: a TensorPool: each frame's image is a TensorHandle in it, which topics send and other
            processes attach without a copy. It needs `buffers` slots, and one for each frame that
            somebody keeps. Not with images.
        latest_only: give the newest frame and drop older ones.
        reopens: open the camera again after unplugging.

    Raises MissingFileError, AccessError, BusyError, UnsupportedError (not offered: the message has
    what is), InvalidArgumentError, CapacityError (no USB bandwidth)."""

    def __init__(self, source: CameraSource = 0, *, format: Optional[str] = None,  # noqa: A002
                 dtype: str = "uint8", fourcc: str = "", width: int = 0, height: int = 0,
                 rate: float = 0.0, buffers: int = 4, images: Sequence[Tensor] = (),
                 pool: Optional[TensorPool] = None,
                 latest_only: bool = False, reopens: bool = False) -> None:
        self._camera = _core._Camera(source, {
            "format": format, "dtype": dtype, "fourcc": fourcc, "width": width, "height": height,
            "rate": rate, "buffers": buffers, "images": list(images), "pool": pool,
            "latest_only": latest_only, "reopens": reopens})

    @property
    def mode(self) -> CameraMode:
        """What the camera delivers."""
        return CameraMode(**self._camera.mode())

    @property
    def stats(self) -> CameraStats:
        """Counts since it was opened."""
        return CameraStats(**self._camera.stats())

    def next(self, timeout: float = 10.0) -> CameraFrame:
        """The next frame; waits at most `timeout` seconds (negative: for ever). Raises
        WaitTimeoutError, CapacityError (all buffers are held, or the pool is full), Error
        (cancelled; unplugged)."""
        return CameraFrame(*self._camera.next(timeout))

    def __iter__(self) -> Iterator[CameraFrame]:
        return self

    def __next__(self) -> CameraFrame:
        return self.next()

    def cancel(self) -> None:
        """Ends the next() that waits on another thread, or else the one that comes."""
        self._camera.cancel()

    def fileno(self) -> int:
        """For select(): readable while a frame waits."""
        return self._camera.fileno()

    def controls(self) -> List[Dict[str, Any]]:
        """All controls with their values now."""
        return self._camera.controls()

    def control(self, name: str) -> int:
        """The value of a control: "brightness"."""
        return self._camera.control(name)

    def set_control(self, name: str, value: Union[int, str]) -> None:
        """Sets a control to a number, or a menu to the entry with this text."""
        self._camera.set_control(name, value)

    def close(self) -> None:
        """Stops the camera. Frames stay valid."""
        self._camera.close()

    def __enter__(self) -> Camera:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()


def cameras() -> List[CameraInfo]:
    """The cameras of this machine."""
    return [CameraInfo(**found) for found in _core._cameras()]


for _item in (Camera, CameraFrame, CameraInfo, CameraMode, CameraStats, cameras):
    _item.__module__ = "halyard"
