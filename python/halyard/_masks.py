# SPDX-License-Identifier: Apache-2.0
"""MaskResolution: the resolution of masks."""
from __future__ import annotations

from typing import Optional

from ._errors import InvalidArgumentError

__all__ = ["MaskResolution"]


class MaskResolution:
    """The resolution at which ``ImageProcessor.materialize_masks`` makes masks: ``Proto()`` or
    ``Scaled(width, height)``. Immutable."""

    __slots__ = ("_size",)
    _size: Optional[tuple[int, int]]

    def __init__(self) -> None:
        raise TypeError("MaskResolution: use MaskResolution.Proto() or MaskResolution.Scaled(w, h)")

    @classmethod
    def _make(cls, size: Optional[tuple[int, int]]) -> MaskResolution:
        made = object.__new__(cls)
        object.__setattr__(made, "_size", size)
        return made

    @classmethod
    def Proto(cls) -> MaskResolution:
        """The resolution of the prototypes: cheap, for display."""
        return cls._make(None)

    @classmethod
    def Scaled(cls, width: int, height: int) -> MaskResolution:
        """The resolution of an image of width x height pixels: for measuring. With a letterbox the
        size is that of the image without its pad."""
        for name, value in (("width", width), ("height", height)):
            if isinstance(value, bool) or not hasattr(value, "__index__"):
                raise TypeError(f"{name}: must be an int, not {type(value).__name__}")
            if value.__index__() < 0:
                raise OverflowError(f"{name}: must not be negative ({value})")
            if not 1 <= value.__index__() < 2**31:
                raise InvalidArgumentError(f"{name}: must be above 0 ({value})",
                                           "invalid_argument")
        return cls._make((width.__index__(), height.__index__()))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("MaskResolution is immutable")

    @property
    def is_proto(self) -> bool:
        """True for Proto()."""
        return self._size is None

    @property
    def width(self) -> int:
        """Pixels; 0 for Proto()."""
        return 0 if self._size is None else self._size[0]

    @property
    def height(self) -> int:
        """Pixels; 0 for Proto()."""
        return 0 if self._size is None else self._size[1]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MaskResolution) and self._size == other._size

    def __hash__(self) -> int:
        return hash(self._size)

    def __reduce__(self) -> tuple[object, ...]:
        return MaskResolution._make, (self._size,)

    def __repr__(self) -> str:
        if self._size is None:
            return "MaskResolution.Proto()"
        return f"MaskResolution.Scaled(width={self._size[0]}, height={self._size[1]})"
