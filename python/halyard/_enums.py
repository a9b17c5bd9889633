# SPDX-License-Identifier: Apache-2.0
"""The package's enumerations: integers with names, hashable and picklable."""
from __future__ import annotations

import re
from enum import IntEnum
from typing import Any, Dict, List

from ._errors import InvalidArgumentError
from ._words import refusal

# Members whose word differs from their name.
_NAMED_ANEW = ("NoFlip", "Rotate0", "Clockwise90", "CounterClockwise90", "ModelPack")


def _plain(name: str) -> str:
    return name.strip().lower().replace("_", "").replace("-", "")


def _snake(name: str) -> str:
    if name.isupper():
        return name.lower()
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


class _Named(IntEnum):
    """Members print as ``Class.Member``, compare equal to their number, and are found by name:
    ``PixelFormat("rgb")``. Letter case, ``_`` and ``-`` are ignored. Calls take the member or the
    name."""

    def __str__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    __repr__ = __str__

    def __format__(self, spec: str) -> str:
        if spec and spec[-1] in "bcdoxXneEfFgG%":
            return format(int(self), spec)
        return format(str(self), spec)

    @classmethod
    def _aliases(cls) -> Dict[str, str]:
        """Other words -> the member of each."""
        return {}

    @classmethod
    def _word_list(cls) -> List[str]:
        """The word of each member, in their order: "planar_rgb"."""
        other = {member: word for word, member in reversed(list(cls._aliases().items()))
                 if member in _NAMED_ANEW}
        return [other.get(member.name, _snake(member.name)) for member in cls]

    @classmethod
    def _other_words(cls) -> List[str]:
        """Words that some call takes in addition to those of the members."""
        return []

    @classmethod
    def _words(cls) -> Dict[str, Any]:
        """Members by their usual spellings; the extension finds these without Python code."""
        found = {name: member for name, member in cls.__members__.items()}
        found.update({_snake(name): member for name, member in cls.__members__.items()})
        found.update({word: cls[name] for word, name in cls._aliases().items()})
        return found

    @classmethod
    def _kind(cls) -> str:
        return _snake(cls.__name__).replace("_", " ")

    @classmethod
    def _wanted(cls) -> str:
        """What an argument must be, for messages."""
        return f"a {cls.__name__} or its name"

    @classmethod
    def _of_word(cls, word: str, argument: str) -> Any:
        plain = _plain(word)
        for known, member in cls._words().items():
            if _plain(known) == plain:
                return member
        words = cls._word_list() + cls._other_words()
        raise InvalidArgumentError(refusal(argument, word, cls._kind(), words), "invalid_argument")

    @classmethod
    def _missing_(cls, value: object) -> Any:
        if isinstance(value, str):
            return cls._of_word(value, cls.__name__)
        raise InvalidArgumentError(refusal(cls.__name__, value, cls._kind(), cls._word_list()),
                                   "invalid_argument")


class PixelFormat(_Named):
    """Layout of an image's samples in memory. 12 and above are additions of this library."""

    Rgb = 1
    Rgba = 2
    Bgra = 3
    Grey = 4
    Yuyv = 5
    Vyuy = 6
    Nv12 = 7
    Nv16 = 8
    PlanarRgb = 9
    PlanarRgba = 10
    Nv24 = 11
    Uyvy = 12
    Yvyu = 13
    Nv21 = 14
    I420 = 15
    Bgr = 16
    BayerRggb = 17
    BayerBggr = 18
    BayerGrbg = 19
    BayerGbrg = 20

    @classmethod
    def _aliases(cls) -> Dict[str, str]:
        return {"gray": "Grey", "y800": "Grey", "8bps": "PlanarRgb"}


class TensorMemory(_Named):
    """Kind of memory: DMA-BUF, shared memory by descriptor, GPU pixel buffer, heap."""

    DMA = 0
    SHM = 1
    PBO = 2
    MEM = 3

    @classmethod
    def _aliases(cls) -> Dict[str, str]:
        return {"heap": "MEM"}


class Normalization(_Named):
    """The value that ``Tensor.normalize_to_numpy`` makes of a byte v: SIGNED v / 127.5 - 1 (int8:
    v - 128), UNSIGNED v / 255, RAW v. DEFAULT is SIGNED, for uint8 destinations RAW."""

    DEFAULT = 0
    SIGNED = 1
    UNSIGNED = 2
    RAW = 3

    @classmethod
    def _other_words(cls) -> List[str]:
        return ["imagenet"]  # convert() takes it instead of a member


class Rotation(_Named):
    """A rotation, applied after the flip."""

    Rotate0 = 0
    Clockwise90 = 1
    Rotate180 = 2
    CounterClockwise90 = 3
    Rotate90 = 1
    Rotate270 = 3

    @classmethod
    def _aliases(cls) -> Dict[str, str]:
        return {"none": "Rotate0", "clockwise90": "Clockwise90",
                "counterclockwise90": "CounterClockwise90"}

    @classmethod
    def _wanted(cls) -> str:
        return "a Rotation, its name, or degrees"

    @classmethod
    def _of_degrees(cls, degrees: int, argument: str) -> Any:
        """Clockwise. Calls that take a Rotation take degrees, too."""
        if degrees % 90:
            raise InvalidArgumentError(f"{argument}: must be a multiple of 90 degrees ({degrees})",
                                       "invalid_argument")
        return cls(degrees % 360 // 90)

    @staticmethod
    def degrees_clockwise(angle: int) -> Rotation:
        """The rotation by ``angle`` degrees, a multiple of 90, taken modulo 360. Raises ValueError
        for other angles, OverflowError for negative ones."""
        if isinstance(angle, bool) or not hasattr(angle, "__index__"):
            raise TypeError(f"angle: must be an int ({type(angle).__name__})")
        angle = angle.__index__()
        if angle < 0:
            raise OverflowError(f"angle: must not be negative ({angle})")
        if angle % 90:
            raise InvalidArgumentError(f"angle: must be a multiple of 90 ({angle})",
                                       "invalid_argument")
        return Rotation(angle % 360 // 90)

    @classmethod
    def from_degrees_clockwise(cls, angle: int) -> Rotation:
        """The same as degrees_clockwise()."""
        return cls.degrees_clockwise(angle)


class Flip(_Named):
    """A mirror, applied before the rotation: Horizontal swaps left and right."""

    NoFlip = 0
    Horizontal = 1
    Vertical = 2

    @classmethod
    def _aliases(cls) -> Dict[str, str]:
        return {"none": "NoFlip"}


class ColorMode(_Named):
    """What determines the colour of a drawn object: its class, its index in the list, its track."""

    Class = 0
    Instance = 1
    Track = 2


class EglDisplayKind(_Named):
    """The source of an EGL display. Surfaceless is ours: the library prefers it."""

    Gbm = 0
    PlatformDevice = 1
    Default = 2
    Surfaceless = 3


class Nms(_Named):
    """Non-maximum suppression: between all boxes, between boxes of one class, or as in the model's
    configuration."""

    ClassAgnostic = 0
    ClassAware = 1
    Auto = 2


class DecoderType(_Named):
    """Family of a model's outputs."""

    Ultralytics = 0
    ModelPack = 1

    @classmethod
    def _aliases(cls) -> Dict[str, str]:
        return {"modelpack": "ModelPack"}


class DecoderVersion(_Named):
    """Generation of an Ultralytics model."""

    Yolov5 = 0
    Yolov8 = 1
    Yolo11 = 2
    Yolo26 = 3


class DimName(_Named):
    """The meaning of an axis of a model's output."""

    Batch = 0
    Height = 1
    Width = 2
    NumClasses = 3
    NumFeatures = 4
    NumBoxes = 5
    NumProtos = 6
    NumAnchorsXFeatures = 7
    Padding = 8
    BoxCoords = 9


class Fit(_Named):
    """How an image is fitted into its rectangle: Stretch fills it; Letterbox keeps the aspect
    ratio, centred; Cover keeps it and cuts off what does not fit; TopLeft keeps it, in the corner.
    Cover and TopLeft are additions of this library."""

    Stretch = 0
    Letterbox = 1
    Cover = 2
    TopLeft = 3


class MatchMetric(_Named):
    """Overlap of two boxes: intersection over union, or over the smaller box."""

    Iou = 0
    Ios = 1


class ColorSpace(_Named):
    """Primaries."""

    Bt709 = 0
    Bt2020 = 1
    Srgb = 2
    Smpte170m = 3


class ColorTransfer(_Named):
    """Transfer curve."""

    Bt709 = 0
    Srgb = 1
    Pq = 2
    Hlg = 3
    Linear = 4


class ColorEncoding(_Named):
    """Matrix between RGB and YCbCr."""

    Bt601 = 0
    Bt709 = 1
    Bt2020 = 2


class ColorRange(_Named):
    """Codes of black and white: 0 and 255, or 16 and 235."""

    Full = 0
    Limited = 1


class DctMethod(_Named):
    """Inverse DCT of the JPEG decoder."""

    Accurate = 0
    Fast = 1


class Filter(_Named):
    """Resampling kernel, by its PyTorch name. An addition of this library."""

    Nearest = 0
    Bilinear = 1
    Bicubic = 2
    Lanczos3 = 3
    Box = 4


class LetterboxRule(_Named):
    """Arithmetic that rounds a letterboxed image to whole pixels. An addition of this library."""

    Hal = 0
    Ultralytics = 1
    UltralyticsVal = 2


__all__ = [name for name, item in list(globals().items())
           if isinstance(item, type) and issubclass(item, _Named) and item is not _Named]
for _name in __all__:
    globals()[_name].__module__ = "halyard"
