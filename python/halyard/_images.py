# SPDX-License-Identifier: Apache-2.0
"""Converts images of any Python type to tensors; without a copy if the pixels need not change."""
from __future__ import annotations

import os
from typing import Any, Iterator, Optional, Tuple

import numpy as np

from ._core import Image, Tensor
from ._enums import PixelFormat
from ._errors import invalid_argument as _wrong
from ._frames import Frame
from ._frames import open as open_frames
from ._topics import Topic

_RGB = {1: PixelFormat.Grey, 3: PixelFormat.Rgb, 4: PixelFormat.Rgba}
_BGR = {1: PixelFormat.Grey, 3: PixelFormat.Bgr, 4: PixelFormat.Bgra}
_VIDEOS = (".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".mjpeg", ".mpg", ".mpeg", ".ts")
_DEEP = ("I;16", "I;16L", "I;16B", "I", "F")  # modes of Pillow with more than 8 bits
KINDS = ("a path, the bytes of a file, a Tensor, a Frame, a NumPy array, a Pillow image, a torch "
         "tensor, or a list of them")


def image_from(image: Any, bgr: bool = False) -> Tuple[Tensor, Optional[str]]:
    """The image, and the path of its file."""
    if isinstance(image, Tensor):
        if image.format is None:
            raise _wrong("image: the tensor is not an image; set its format by set_format()")
        return image, None
    if isinstance(image, Frame):
        return image.image, image.source
    if isinstance(image, Image):
        return image_from(image.tensor)
    if isinstance(image, (str, os.PathLike)):
        path = os.fsdecode(image)
        if os.path.isdir(path):
            raise _wrong(f"image: {path!r} is a folder; model.stream({path!r}) runs on its "
                         "images")
        if "://" in path or os.path.splitext(path)[1].lower() in _VIDEOS:
            raise _wrong(f"image: {path!r} is a video; model.stream({path!r}) runs on its frames")
        return Tensor.load(path), str(path)
    if isinstance(image, (bytes, bytearray, memoryview)):
        return Tensor.load_from_bytes(image), None
    module = type(image).__module__.split(".")[0]
    if module == "PIL":
        return _of_pillow(image), None
    if module == "torch":
        image = _of_torch(image)
    if not isinstance(image, np.ndarray):
        raise TypeError(f"image: must be {KINDS}, not {type(image).__name__}")
    return _of_array(image, bgr), None


def frames_of(source: Any) -> Iterator[Frame]:
    """The frames of what open() takes, of open()'s result, or of an iterable of images."""
    if isinstance(source, (str, os.PathLike, Topic, int, np.integer)):
        named: Any = source
        with open_frames(named) as frames:
            yield from frames
        return
    if isinstance(source, (Tensor, Image, Frame, bytes, bytearray, memoryview, np.ndarray)) or \
            type(source).__module__.split(".")[0] == "PIL":
        raise TypeError(f"source: is one image ({type(source).__name__}); pass model(image), and "
                        "tracker.update(result) to follow its objects, or a list of images")
    for index, each in enumerate(source):
        if isinstance(each, Frame):
            yield each
        else:
            image, path = image_from(each)
            yield Frame(image, path or "", index, index * 40_000_000)


def _of_pillow(image: Any) -> Tensor:
    from PIL import ImageOps  # type: ignore[import-not-found, unused-ignore]

    image = ImageOps.exif_transpose(image)
    if image.mode in _DEEP:
        raise _wrong(f"image: a Pillow image of mode {image.mode!r} has more than 8 bits a sample; "
                     "pass its path, or scale it to 8 bits yourself")
    if image.mode not in ("L", "RGB", "RGBA"):
        image = image.convert("RGB")
    return _of_array(np.asarray(image), False)


def _of_torch(image: Any) -> Any:
    """uint8 unchanged; floats of 0..1 as bytes; channels last."""
    image = image.detach().cpu()
    if image.ndim == 4 and image.shape[0] == 1:
        image = image[0]
    if image.ndim != 3:
        raise _wrong(f"image: a torch tensor must be (C, H, W) or (H, W, C), not "
                     f"{tuple(image.shape)}; of a batch give list(batch)")
    array = image.numpy()
    if 0 in array.shape:
        raise _wrong(f"image: a torch tensor must have pixels, its shape is {array.shape}")
    if array.shape[0] in (1, 3, 4) and array.shape[2] not in (1, 3, 4):
        array = array.transpose(1, 2, 0)
    if array.dtype == np.uint8:
        return np.ascontiguousarray(array)
    if array.dtype.kind != "f" or not (array.min() >= 0 and array.max() <= 1):
        raise _wrong("image: a torch tensor must be uint8, or floats in 0..1, not "
                     f"{array.dtype} in {array.min()}..{array.max()}")
    return (array * 255 + 0.5).astype(np.uint8)


def _hint(array: Any) -> str:
    """What would make an image of the array."""
    if array.ndim == 4:
        return "; of a batch give list(batch)"
    if array.ndim == 3 and array.shape[0] in (1, 3, 4) and array.shape[2] not in (1, 3, 4):
        return "; channels are last: array.transpose(1, 2, 0)"
    if array.dtype == np.uint16:
        return "; of 16 bits give (array >> 8).astype(numpy.uint8)"
    if array.dtype.kind == "f":
        return "; of floats in 0..1 give (array * 255).round().astype(numpy.uint8)"
    return ""


def _of_array(array: Any, bgr: bool) -> Tensor:
    if array.ndim == 2:
        array = array[..., np.newaxis]
    formats = _BGR if bgr else _RGB
    if array.dtype != np.uint8 or array.ndim != 3 or array.shape[2] not in formats:
        raise _wrong("image: an array must be uint8 (H, W), (H, W, 3) or (H, W, 4), not "
                     f"{array.dtype} {array.shape}{_hint(array)}")
    if 0 in array.shape:
        raise _wrong(f"image: an array must have pixels, its shape is {array.shape}")
    made = Tensor.from_array(np.ascontiguousarray(array))
    made.set_format(formats[array.shape[2]])
    return made
