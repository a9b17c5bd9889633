#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The third process of share_frame.cpp: maps the image's memory with Python's standard tools.
Usage: share_frame.py SOCKET"""
import mmap
import socket
import sys
import time
import zlib


def connect(path: str) -> socket.socket:
    """The other program may start later: tries for ten seconds."""
    for _ in range(500):
        peer = socket.socket(socket.AF_UNIX)
        try:
            peer.connect(path)
            return peer
        except OSError:
            peer.close()
            time.sleep(0.02)
    sys.exit(f"nobody listens at {path}")


with connect(sys.argv[1]) as peer:
    line, fds, _, _ = socket.recv_fds(peer, 256, 1)
    width, height, channels, stride, offset = map(int, line.split())
    memory = mmap.mmap(fds[0], offset + stride * height, mmap.MAP_SHARED, mmap.PROT_READ)
    image = memoryview(memory)[offset:]
    checksum = 1
    for row in range(height):
        checksum = zlib.adler32(image[row * stride : row * stride + width * channels], checksum)
    print(f"python: {width}x{height} of {channels} channels, adler32 {checksum:08x}")
    try:
        import numpy
    except ImportError:
        sys.exit(0)
    # Strides make an array of the padded rows: no copy here either.
    pixels = numpy.ndarray((height, width, channels), numpy.uint8, memory, offset,
                           (stride, channels, 1))
    print(f"numpy: mean {pixels.mean():.3f}, owns its data: {pixels.flags.owndata}")
