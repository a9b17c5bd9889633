# SPDX-License-Identifier: Apache-2.0
"""Small inputs of every kind for the programs of this folder."""
import pathlib
import struct
import sys
import zlib

import numpy as np

import halyard

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "python"))
import models  # noqa: E402

HARBOUR = pathlib.Path(__file__).resolve().parent.parent / "examples" / "harbour"
CORPUS = pathlib.Path(__file__).resolve().parent.parent / "fuzz" / "corpus"
MEM = halyard.TensorMemory.MEM
decoder, segmenter = models.decoder, models.segmenter
detection_output, prototypes, arrays = models.detection_output, models.prototypes, models.arrays
JPEGS = [path.read_bytes() for path in sorted((CORPUS / "codec_jpeg").glob("*.jpg"))]
PNGS = [path.read_bytes() for path in sorted((CORPUS / "codec_png").glob("*.png"))]


def frame(width=48, height=32, kind="rgb", seed=1):
    """An image of noise."""
    tensor = halyard.Tensor.image(width, height, kind, MEM)
    view = np.asarray(tensor)
    view[...] = np.random.default_rng(seed).integers(0, 256, view.shape, np.uint8)
    return tensor


def boxes(count, seed=1):
    """(boxes, scores, labels) of `count` objects in fractions."""
    random = np.random.default_rng(seed)
    corner = random.random((count, 2), np.float32) * 0.5
    size = random.random((count, 2), np.float32) * 0.4 + 0.05
    return (np.hstack([corner, corner + size]), random.random(count, np.float32) * 0.5 + 0.5,
            random.integers(0, 4, count))


def many_objects(seed, count=20):
    """An output of models.segmenter() with `count` objects."""
    corners, scores, labels = boxes(count, seed)
    found = [(tuple(map(float, box)), float(score), int(label))
             for box, score, label in zip(corners, scores, labels)]
    return models.detection_output(found, models.PROTOS)


def shows_no_more(flat, view):
    """Whether flat bytes are the elements of a view, or lie where its elements lie."""
    if bytes(flat) == view.tobytes():
        return True
    begin = np.frombuffer(flat, np.uint8).__array_interface__["data"][0]
    low = high = view.__array_interface__["data"][0]
    for extent, stride in zip(view.shape, view.strides):
        low, high = low + min(0, (extent - 1) * stride), high + max(0, (extent - 1) * stride)
    return low <= begin and begin + len(flat) <= high + view.itemsize


def png_chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, rows, depth=8, colour=0, before=()):
    """A PNG of the given raw rows; `before` are chunks (kind, data) ahead of the pixels."""
    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    out = b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", head)
    for kind, data in before:
        out += png_chunk(kind, data)
    return out + png_chunk(b"IDAT", rows) + png_chunk(b"IEND", b"")


def mutate(chance, data, others=(), text=False):
    """`data` with bits, runs and numbers changed, parts cut, doubled or taken from others."""
    out = bytearray(data)
    for _ in range(chance.choice([1, 1, 2, 4, 12])):
        at, way = chance.randrange(len(out) + 1), chance.randrange(8)
        if way == 0 and out:
            out[at % len(out)] ^= 1 << chance.randrange(8)
        elif way == 1:
            out[at:at + chance.choice([1, 2, 4, 8])] = chance.choice(
                [b"\xff\xff", b"\x00" * 4, b"\x7f\xff\xff\xff", b"\x80\x00\x00\x00", b"\x01"])
        elif way == 2:
            del out[at:at + chance.choice([1, 4, 64, 4096])]
        elif way == 3:
            out[at:at] = out[at:at + chance.choice([1, 16, 256])] * chance.choice([1, 3])
        elif way == 4 and others:
            other = chance.choice(others)
            begin = chance.randrange(len(other))
            out[at:at] = other[begin:begin + chance.randrange(200)]
        elif way == 5:
            out[at:at + 1] = chance.randbytes(chance.randrange(6))
        elif way == 6 and text:
            out[at:at] = chance.choice([b"1e999", b"-1", b"\xc3\xa9", b"\xff", b"[" * 40, b"{}",
                                        b"null", b"99999999999999999999", b"&a *a", b"NaN", b"\0"])
        elif way == 7 and len(out) > 4:
            del out[chance.randrange(len(out)):]
    return bytes(out)
