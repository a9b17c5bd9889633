# SPDX-License-Identifier: Apache-2.0
"""Hardware codecs: coded video on stateful V4L2 codecs, without a copy of an image."""
from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, Optional, Union

from . import _core
from ._core import Tensor

if TYPE_CHECKING:
    from types import TracebackType

    from ._core import Colorimetry

__all__ = ["DecodedFormat", "DecodedImage", "VideoCodecInfo", "VideoCodecStats", "VideoDecoder",
           "VideoEncoder", "VideoPacket", "video_codecs"]

CodecPath = Union[str, "os.PathLike[str]", None]


@dataclass(frozen=True)
class VideoCodecInfo:
    """A node of this machine that decodes, or one that encodes. codecs: "h264", "hevc", ...;
    formats: those of its images. reason: why it cannot be opened; None: it can."""

    path: str
    name: str
    driver: str
    bus: str
    is_encoder: bool
    is_multiplanar: bool
    codecs: List[str]
    formats: List[str]
    reason: Optional[str]


@dataclass(frozen=True)
class VideoPacket:
    """Coded bytes of one image, copied from the encoder's buffer. timestamp_ns is the image's, in
    whole microseconds."""

    data: bytes
    timestamp_ns: int = 0
    is_key_frame: bool = False


@dataclass(frozen=True)
class DecodedImage:
    """One image. image lies in a buffer of the driver until it and all that shares its bytes (NumPy
    views too) is gone; do not write into it. timestamp_ns is its packet's."""

    image: Tensor
    timestamp_ns: int
    is_key_frame: bool


@dataclass(frozen=True)
class DecodedFormat:
    """What a decoder delivers; it changes with the stream. The coded size is that of the driver's
    frame, of which the images are a part. is_copied: the driver exports no buffers."""

    width: int
    height: int
    coded_width: int
    coded_height: int
    fourcc: str
    format: str
    buffers: int
    is_copied: bool


@dataclass(frozen=True)
class VideoCodecStats:
    """Counts since the codec was opened. damaged: outputs that the driver marks; refused: inputs
    that it could not read; held: buffers of images that the program holds now."""

    packets: int
    images: int
    damaged: int
    refused: int
    copies: int
    formats: int
    held: int


class VideoDecoder:
    """A hardware decoder of one stream::

        with halyard.VideoDecoder("h264") as decoder:
            for decoded in decoder.decode(packets):
                use(decoded.image)

    Args:
        codec: "h264", "hevc", "mpeg2", "mpeg4", "vp8", "vp9", "av1", "mjpeg", "fwht".
        path: a node of video_codecs(); None: the first that decodes the codec.
        format: of the images; None: the driver's choice.
        width, height: of the stream, where it is known.
        packet_bytes: of the largest packet; 0: the driver's choice, at least 1 MiB.
        packets: buffers for packets, 2 to 32.
        images: that the program can hold at once, 1 to 28.

    Raises MissingFileError (no node decodes the codec), AccessError, BusyError, UnsupportedError,
    InvalidArgumentError, CapacityError."""

    def __init__(self, codec: str = "h264", *, path: CodecPath = None,
                 format: Optional[str] = None,  # noqa: A002
                 width: int = 0, height: int = 0, packet_bytes: int = 0, packets: int = 4,
                 images: int = 4) -> None:
        self._codec = _core._VideoDecoder({
            "codec": codec, "path": path, "format": format, "width": width, "height": height,
            "packet_bytes": packet_bytes, "packets": packets, "images": images})

    @property
    def path(self) -> str:
        """The node."""
        return self._codec.path()

    @property
    def format(self) -> Optional[DecodedFormat]:
        """What the driver has read from the stream; None before."""
        found = self._codec.format()
        return None if found is None else DecodedFormat(**found)

    @property
    def stats(self) -> VideoCodecStats:
        """Counts since it was opened."""
        return VideoCodecStats(**self._codec.stats())

    def send(self, data: Any, timestamp_ns: int = 0, timeout: float = 10.0) -> bool:
        """Hands over the bytes of one image of the stream. False: not taken, because images are
        ready: call next(), and send it again. Raises CapacityError (larger than a buffer; the
        program holds all images), WaitTimeoutError, Error (cancelled; the device is gone)."""
        return self._codec.send(data, timestamp_ns, timeout)

    def next(self, timeout: float = 10.0) -> Optional[DecodedImage]:
        """The next image; None: all are out after drain(). Waits at most `timeout` seconds
        (negative: for ever). Raises as send()."""
        found = self._codec.next(timeout)
        return None if found is None else DecodedImage(*found)

    def is_ready(self) -> bool:
        """Whether next() would return at once."""
        return self._codec.is_ready()

    def decode(self, packets: Iterable[Any], timeout: float = 10.0) -> Iterator[DecodedImage]:
        """Sends all packets (VideoPacket, or bytes) and drains; gives each image when it is
        ready."""
        for packet in packets:
            data, time = ((packet.data, packet.timestamp_ns) if isinstance(packet, VideoPacket)
                          else (packet, 0))
            while not self.send(data, time, timeout):
                yield from self._given(timeout)
            while self.is_ready():
                yield from self._given(timeout)
        self.drain()
        yield from iter(lambda: self.next(timeout), None)

    def _given(self, timeout: float) -> Iterator[DecodedImage]:
        found = self.next(timeout)
        if found is not None:
            yield found

    def drain(self) -> None:
        """No more packets come: the driver gives the images that it keeps back."""
        self._codec.drain()

    def flush(self) -> None:
        """For a seek: drops all packets and images that wait."""
        self._codec.flush()

    def cancel(self) -> None:
        """Ends the call that waits on another thread, or else the one that comes."""
        self._codec.cancel()

    def close(self) -> None:
        """Closes the codec. Images stay valid."""
        self._codec.close()

    def __enter__(self) -> VideoDecoder:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()


class VideoEncoder:
    """A hardware encoder of one stream::

        with halyard.VideoEncoder("h264", 1280, 720, bitrate=4_000_000) as encoder:
            for packet in encoder.packets(images):
                file.write(packet.data)

    Args:
        codec: as VideoDecoder.
        width, height, format, colorimetry: of the images.
        path: a node of video_codecs(); None: the first that encodes the codec.
        rate: images a second, above 0, up to 1000.
        bitrate: bits a second; gop: images from one key frame to the next; 0: the driver's choice.
        profile, level: entries of the driver's menus: "High", "4.1"; "": its choice.
        memory: "automatic", "driver_buffers" (image() lends them; others are copied),
            "caller_buffers" (images in DMA-BUFs of the program).
        images, packets: buffers, 2 to 32.

    Raises as VideoDecoder; UnsupportedError has what the driver offers."""

    def __init__(self, codec: str, width: int, height: int, *, path: CodecPath = None,
                 format: str = "nv12",  # noqa: A002
                 colorimetry: Optional[Colorimetry] = None, rate: float = 30.0, bitrate: int = 0,
                 gop: int = 0, profile: str = "", level: str = "", memory: str = "automatic",
                 images: int = 4, packets: int = 4) -> None:
        self._codec = _core._VideoEncoder({
            "codec": codec, "path": path, "width": width, "height": height, "format": format,
            "colorimetry": colorimetry, "rate": rate, "bitrate": bitrate, "gop": gop,
            "profile": profile, "level": level, "memory": memory, "images": images,
            "packets": packets})
        self._rate = float(rate)

    @property
    def path(self) -> str:
        """The node."""
        return self._codec.path()

    @property
    def stride_bytes(self) -> int:
        """Row pitch that the driver reads."""
        return self._codec.stride_bytes()

    @property
    def memory(self) -> str:
        """"automatic" before the first image, then where the driver reads them."""
        return self._codec.memory()

    @property
    def stats(self) -> VideoCodecStats:
        """Counts since it was opened."""
        return VideoCodecStats(**self._codec.stats())

    def image(self, timeout: float = 10.0) -> Optional[Tensor]:
        """A buffer of the driver to write an image into. None: none is free, because packets are
        ready: call next() first. Raises UnsupportedError (images are the program's), and as
        encode()."""
        return self._codec.image(timeout)

    def encode(self, image: Tensor, timestamp_ns: int = 0, *, is_key_frame: bool = False,
               timeout: float = 10.0) -> bool:
        """Hands over an image, which must not be changed until its packet is out. False: not
        taken, because packets are ready. Raises InvalidArgumentError (size, format),
        UnsupportedError (memory that the driver does not take), CapacityError, WaitTimeoutError,
        Error (cancelled; the device is gone)."""
        return self._codec.encode(image, timestamp_ns, is_key_frame, timeout)

    def next(self, timeout: float = 10.0) -> Optional[VideoPacket]:
        """The next packet; None: all are out after drain()."""
        found = self._codec.next(timeout)
        return None if found is None else VideoPacket(*found)

    def is_ready(self) -> bool:
        """Whether next() would return at once."""
        return self._codec.is_ready()

    def packets(self, images: Iterable[Tensor], timeout: float = 10.0) -> Iterator[VideoPacket]:
        """Encodes all images and drains; gives each packet when it is ready. Image n is shown at
        n / rate."""
        for number, image in enumerate(images):
            time = round(number * 1e9 / self._rate)
            while not self.encode(image, time, timeout=timeout):
                yield from self._given(timeout)
            while self.is_ready():
                yield from self._given(timeout)
        self.drain()
        yield from iter(lambda: self.next(timeout), None)

    def _given(self, timeout: float) -> Iterator[VideoPacket]:
        found = self.next(timeout)
        if found is not None:
            yield found

    def drain(self) -> None:
        """No more images come; after the last packet a new stream may begin."""
        self._codec.drain()

    def cancel(self) -> None:
        """Ends the call that waits on another thread, or else the one that comes."""
        self._codec.cancel()

    def controls(self) -> List[Dict[str, Any]]:
        """All controls of the driver with their values now."""
        return self._codec.controls()

    def set_control(self, name: str, value: Union[int, str]) -> None:
        """Sets a control to a number, or a menu to the entry with this text."""
        self._codec.set_control(name, value)

    def close(self) -> None:
        """Closes the codec."""
        self._codec.close()

    def __enter__(self) -> VideoEncoder:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()


def video_codecs() -> List[VideoCodecInfo]:
    """The hardware codecs of this machine."""
    return [VideoCodecInfo(**found) for found in _core._video_codecs()]


for _item in (DecodedFormat, DecodedImage, VideoCodecInfo, VideoCodecStats, VideoDecoder,
              VideoEncoder, VideoPacket, video_codecs):
    _item.__module__ = "halyard"
