# SPDX-License-Identifier: Apache-2.0
"""What halyard.open() reads besides files: cameras by number, and topics."""
from __future__ import annotations

import glob
import os
import re
import time
from typing import Any, Optional, Protocol, Tuple, Union

import numpy as np

from ._core import DecodeLimits, Image, Tensor, _FrameSource
from ._errors import (Error, InvalidArgumentError, MissingFileError, SystemCallError,
                      UnsupportedError, WaitTimeoutError)
from ._topics import Topic

Source = Union[str, "os.PathLike[str]", int, "Topic[Any]"]
Found = Optional[Tuple[Tensor, str, int, int]]
_CAMERA = re.compile(r"(lib)?camera:|/dev/video\d")


class Reader(Protocol):
    """Yields the image, name, index and timestamp in ns of each frame; None at the end."""

    def next(self) -> Found: ...
    def close(self) -> None: ...
    def seek(self, seconds: float) -> None: ...
    @property
    def is_live(self) -> bool: ...
    @property
    def reconnect_count(self) -> int: ...
    @property
    def count(self) -> Optional[int]: ...
    @property
    def is_video(self) -> bool: ...
    @property
    def rate(self) -> float: ...


class TopicReader:
    """The images of a topic, until it is closed.

    Args:
        topic: of type Image or Tensor.
        is_owned: close() closes the topic.
        timeout: seconds that next() waits; None: forever."""

    count: Optional[int] = None
    is_video = True
    is_live = True
    reconnect_count = 0
    rate = 0.0

    def __init__(self, topic: Topic[Any], is_owned: bool, timeout: Optional[float]) -> None:
        self._topic, self._is_owned, self._timeout = topic, is_owned, timeout
        self._name = f"topic:{topic.name}"
        self._index = 0

    def next(self) -> Found:
        try:
            message = self._topic.recv(self._timeout)
        except Error:
            if self._topic.is_closed:
                return None
            raise
        if message is None:
            raise WaitTimeoutError(f"source: {self._name} had no frame for {self._timeout:g} s",
                                   "timeout")
        index, self._index = self._index, self._index + 1
        stamp = 0
        if isinstance(message, Image):
            stamp, message = message.timestamp_ns, message.tensor
        if not isinstance(message, Tensor) or message.format is None:
            what = repr(message) if isinstance(message, Tensor) else type(message).__name__
            raise UnsupportedError(f"source: a message of {self._name} is not an image whose "
                                   f"format is known: {what}", "unsupported")
        return message, self._name, index, stamp or time.monotonic_ns()

    def seek(self, seconds: float) -> None:
        raise UnsupportedError(f"source: {self._name} cannot be read again", "unsupported")

    def close(self) -> None:
        if self._is_owned:
            self._topic.close()


def _joined(name: str) -> Topic[Any]:
    """A subscriber to a topic of either type of image. One that nobody has made is of Images."""
    if not name:
        raise InvalidArgumentError('source: "topic:NAME" needs a name', "invalid_argument")
    try:
        return Topic(name, Image, role="subscriber")
    except InvalidArgumentError as error:
        raise InvalidArgumentError(f"source: topic:{name}: {error}", error.code) from None
    except SystemCallError as error:
        if error.code != "exists":
            raise
        other = error
    try:
        return Topic(name, Tensor, role="subscriber")
    except SystemCallError:
        raise InvalidArgumentError(f"source: topic:{name} has no images ({other}); pass a Topic "
                                   "of its type, or with its limits", "invalid_argument") from None


def _camera(source: str, picture_rate: float, limits: Optional[DecodeLimits],
            timeout: Optional[float], **playback: Any) -> Reader:
    try:
        return _FrameSource(source, picture_rate, limits, timeout, **playback)
    except MissingFileError as error:
        devices = ", ".join(sorted(glob.glob("/dev/video*"))) or "none"
        raise MissingFileError(f"source: there is no camera {source!r} ({error}); this machine's "
                               f"video devices: {devices}", error.code, error.errno or 0) from None


def name_of(source: Source) -> str:
    """The path, or "camera:0", or "topic:NAME"."""
    if isinstance(source, Topic):
        return f"topic:{source.name}"
    if isinstance(source, (str, os.PathLike)):
        return os.fspath(source)
    if isinstance(source, bool) or not isinstance(source, (int, np.integer)):
        raise TypeError("source: must be a path, an address, the number of a camera or a Topic, "
                        f"not {type(source).__name__}")
    number = int(source)
    if number < 0:
        raise InvalidArgumentError(f"source: the number of a camera must not be negative "
                                   f"({number})", "invalid_argument")
    return f"camera:{number}"


def reader_of(source: Source, picture_rate: float, limits: Optional[DecodeLimits],
              timeout: Optional[float], **playback: Any) -> Reader:
    """Opens a source. playback: speed, loop, start, reconnect and video_decoder of halyard.open();
    a topic has none of them."""
    if isinstance(source, Topic):
        return TopicReader(source, False, timeout)
    name = name_of(source)
    if isinstance(name, str) and name.startswith("topic:"):
        return TopicReader(_joined(name[len("topic:"):]), True, timeout)
    if isinstance(name, str) and _CAMERA.match(name):
        return _camera(name, picture_rate, limits, timeout, **playback)
    return _FrameSource(name, picture_rate, limits, timeout, **playback)
