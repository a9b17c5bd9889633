# SPDX-License-Identifier: Apache-2.0
"""halyard.VideoDecoder, VideoEncoder and video_codecs: arguments, errors, and loops over a codec
that keeps images back. The last test needs the kernel's test codec; drivers are tested in C++."""
import os

import numpy as np
import pytest

import halyard

SIZE = 640, 360  # the least that vicodec takes
IN_VM = "HALYARD_TEST_IN_VM" in os.environ  # there is one
VICODEC = [found for found in halyard.video_codecs() if found.driver == "vicodec"]


def test_codecs_are_listed():
    for found in halyard.video_codecs():
        assert found.path.startswith("/dev/video")
        assert found.codecs and all(isinstance(name, str) for name in found.codecs)
        assert found.reason is None or isinstance(found.reason, str)


def test_what_is_no_codec_is_refused():
    with pytest.raises(halyard.MissingFileError, match="/dev/video12345"):
        halyard.VideoDecoder("h264", path="/dev/video12345")
    with pytest.raises(halyard.UnsupportedError):
        halyard.VideoDecoder("h264", path=os.devnull)
    with pytest.raises(halyard.UnsupportedError):
        halyard.VideoEncoder("h264", 64, 32, path=os.devnull)


def test_arguments_of_decoders_are_checked():
    for options, text in (({"codec": "h265"}, "h265"), ({"packets": 1}, "packets"),
                          ({"images": 29}, "images"), ({"format": "purple"}, "purple")):
        with pytest.raises(halyard.InvalidArgumentError, match=text):
            halyard.VideoDecoder(path=os.devnull, **options)
    for options in ({"codec": 5}, {"width": "wide"}, {"format": 1.5}, {"path": 1.5}):
        with pytest.raises(TypeError):
            halyard.VideoDecoder(**options)


def test_arguments_of_encoders_are_checked():
    for options, text in (({"rate": 0}, "rate"), ({"memory": "mine"}, "driver_buffers"),
                          ({"packets": 33}, "packets"), ({"format": "purple"}, "purple")):
        with pytest.raises(halyard.InvalidArgumentError, match=text):
            halyard.VideoEncoder("h264", 64, 32, path=os.devnull, **options)
    with pytest.raises(halyard.InvalidArgumentError, match="width"):
        halyard.VideoEncoder("h264", 0, 32, path=os.devnull)
    for options in ({"profile": 5}, {"bitrate": "high"}, {"colorimetry": "bt709"}):
        with pytest.raises(TypeError):
            halyard.VideoEncoder("h264", 64, 32, **options)
    with pytest.raises(TypeError):
        halyard.VideoEncoder("h264")


class KeepingCodec:
    """Takes two inputs, then wants its results read; gives the last ones after drain()."""

    def __init__(self):
        self.waiting, self.is_over = [], False

    def is_ready(self):
        return len(self.waiting) > 2

    def take(self, item):
        if len(self.waiting) == 2:
            return False
        self.waiting.append(item)
        return True

    def next(self, timeout):
        assert timeout == 3 and self.waiting or self.is_over
        return self.waiting.pop(0) if self.waiting else None

    def drain(self):
        self.is_over = True


def test_decode_sends_again_what_was_not_taken_and_drains():
    class Codec(KeepingCodec):
        def send(self, data, timestamp_ns, timeout):
            return self.take((data, timestamp_ns, False))

    decoder = object.__new__(halyard.VideoDecoder)
    decoder._codec = Codec()
    packets = [halyard.VideoPacket(bytes([n]), 1000 * n) for n in range(7)] + [b"plain"]
    found = list(decoder.decode(packets, timeout=3))
    assert [image.image for image in found] == [bytes([n]) for n in range(7)] + [b"plain"]
    assert [image.timestamp_ns for image in found] == [1000 * n for n in range(7)] + [0]


def test_packets_have_the_times_of_the_rate():
    class Codec(KeepingCodec):
        def encode(self, image, timestamp_ns, is_key_frame, timeout):
            return self.take((image, timestamp_ns, is_key_frame))

    encoder = object.__new__(halyard.VideoEncoder)
    encoder._codec, encoder._rate = Codec(), 25.0
    found = list(encoder.packets(range(7), timeout=3))
    assert [packet.data for packet in found] == list(range(7))
    assert [packet.timestamp_ns for packet in found] == [40_000_000 * n for n in range(7)]


def image_with(value):
    image = halyard.Tensor.image(*SIZE, "nv12")
    with image.map() as pixels:
        np.asarray(pixels)[...] = value
    return image


def grey(image):
    out = halyard.Tensor.image(*SIZE, "grey")
    halyard.ImageProcessor().convert(image, out)
    with out.map() as pixels:
        return np.asarray(pixels).astype(int)


@pytest.mark.skipif(not VICODEC and not IN_VM,
                    reason="the kernel's test codec (vicodec) is missing")
def test_images_pass_the_kernels_test_codec():
    with halyard.VideoEncoder("fwht", *SIZE) as encoder:
        packets = list(encoder.packets(image_with(40 + n) for n in range(12)))
        assert len(packets) == 12
        assert encoder.stats.images == 12 and encoder.stats.held == 0
        assert encoder.controls() and encoder.path.startswith("/dev/video")
        lent = halyard.VideoEncoder("fwht", *SIZE, memory="driver_buffers").image()
        assert (lent.width, lent.height) == SIZE
    with halyard.VideoDecoder("fwht", format="nv12") as decoder:
        assert decoder.format is None
        decoder.cancel()
        with pytest.raises(halyard.Error, match="cancel"):
            decoder.next()
        for number, decoded in enumerate(decoder.decode(packets)):
            assert decoded.timestamp_ns == packets[number].timestamp_ns
            seen, sent = grey(decoded.image), grey(image_with(40 + number))
            assert abs(seen - sent).max() <= 3
        assert decoder.format.width == SIZE[0] and decoder.stats.images == 12
    with pytest.raises(halyard.InvalidArgumentError, match="closed"):
        decoder.next()
