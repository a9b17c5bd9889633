# SPDX-License-Identifier: Apache-2.0
"""Image files and arrays."""
import os
from typing import Any, Optional, Union

import numpy as np

from numpy.typing import NDArray

from ._calls import helpful
from ._core import DecodeLimits, ImageProcessor, Tensor, _Tensor
from ._enums import Flip, PixelFormat, Rotation, TensorMemory
from ._errors import InvalidArgumentError
from .typing import PixelFormatLike, TensorMemoryLike

__all__ = ["asarray", "from_numpy", "imread", "imwrite", "load", "tensor"]

Path = Union[str, "os.PathLike[str]"]
_UPRIGHT = (Flip.NoFlip, Rotation.Rotate0)
_BY_CHANNELS = {1: PixelFormat.Grey, 3: PixelFormat.Rgb, 4: PixelFormat.Rgba}


@helpful
def load(path: Path, format: Optional[PixelFormatLike] = None,
         mem: Optional[TensorMemoryLike] = None, *,
         limits: Optional[DecodeLimits] = None) -> Tensor:
    """A new image from a file; the same as ``Tensor.load``: pixels as they are
    stored, and their ``orientation``, which ``convert()`` applies."""
    return Tensor.load(path, format, mem, limits=limits)


@helpful
def imread(path: Path, format: PixelFormatLike = "rgb", *, raw: bool = False,
           limits: Optional[DecodeLimits] = None) -> "NDArray[np.uint8]":
    """An image file as an upright NumPy array [H,W,C] of uint8, R G B by default; with
    ``format="bgr"`` the image that ``cv2.imread`` gives. ``raw`` leaves pixels as they are stored,
    whatever the file's EXIF orientation is."""
    image = Tensor.load(path, format, TensorMemory.MEM, limits=limits)
    if not raw and image.orientation != _UPRIGHT:
        width, height = image.upright_size
        assert image.format is not None
        upright = Tensor.image(width, height, image.format, mem=TensorMemory.MEM)
        ImageProcessor().convert(image, upright)
        image = upright
    return np.asarray(image)


@helpful
def imwrite(path: Path, image: Any, quality: int = 90) -> None:
    """Writes a Tensor, or an array [H,W], [H,W,1], [H,W,3] (R G B) or [H,W,4] of uint8, in the
    format of the file's name: ``Tensor.save``. ``quality`` is that of JPEG and WebP."""
    image = image if isinstance(image, _Tensor) else _image(image)
    image.save(path, quality)


def _image(array: Any) -> Tensor:
    array = np.ascontiguousarray(array)
    if array.ndim == 2:
        array = array[..., np.newaxis]
    if array.dtype != np.uint8 or array.ndim != 3 or array.shape[2] not in _BY_CHANNELS:
        raise InvalidArgumentError("image: must be uint8 [H,W], [H,W,1], [H,W,3] or [H,W,4], not "
                                   f"{array.dtype} {list(array.shape)}", "invalid_argument")
    image = Tensor.from_array(array)
    image.set_format(_BY_CHANNELS[array.shape[2]])
    return image


def tensor(array: Any, copy: bool = False) -> Tensor:
    """A tensor over the memory of an array; the same as ``Tensor.from_array``."""
    return Tensor.from_array(array, copy)


def from_numpy(array: "NDArray[Any]") -> Tensor:
    """A tensor over the memory of a NumPy array, which is not copied: a change of one changes the
    other. Over a read-only array the tensor is read-only (``is_writable``).

    Raises TypeError for other objects, ValueError for element types that a tensor cannot
    have (objects, complex numbers, the other byte order) and for arrays without axes."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"array: must be a numpy.ndarray, not {type(array).__name__}; asarray() "
                        "takes other arrays")
    return Tensor.from_array(array)


def asarray(x: Any, *, copy: Optional[bool] = None) -> Tensor:
    """A tensor over the memory of an object: an array of NumPy or PyTorch, a buffer, an object with
    DLPack or NumPy's array interface. The memory is not copied. A Tensor is returned unchanged.

    Args:
        x: the array.
        copy: True: the tensor has its own memory. None and False: it never has.

    Raises TypeError for objects without such memory, such as a list; otherwise as from_numpy()."""
    if copy:
        return Tensor.from_array(x, True)
    return x if isinstance(x, Tensor) else Tensor.from_array(x)


for _item in (asarray, from_numpy, imread, imwrite, load, tensor):
    _item.__module__ = "halyard"
