# SPDX-License-Identifier: Apache-2.0
"""Checks of the arrays, names and indices that Detections take."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from ._errors import invalid_argument as _wrong

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_CLASSES = 1_000_000  # a dict with one large key would else take all memory
Names = Union[Sequence[str], Mapping[int, str], None]


def names_from(names: Names) -> Optional[Tuple[str, ...]]:
    """Names of classes by index, from a list, or from a dict as in Ultralytics."""
    if names is None:
        return None
    if isinstance(names, str):
        raise TypeError("names: must be a list or dict of class names, not a str")
    if isinstance(names, Mapping):
        if not all(isinstance(key, (int, np.integer)) and 0 <= key < MAX_CLASSES for key in names):
            raise _wrong("names: a dict must have class indices as keys, 0 to "
                         f"{MAX_CLASSES - 1}, and names as values")
        last = max(names, default=-1)
        return tuple(str(names.get(i, f"class {i}")) for i in range(last + 1))
    return tuple(str(name) for name in names)


def rows_from(name: str, value: Any, dtype: Any, shape: Sequence[Optional[int]]) -> NDArray[Any]:
    try:
        array = np.asarray(value, dtype)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name}: must be an array of numbers ({error})") from None
    if array.size == 0 and array.ndim < len(shape):
        array = array.reshape([0, *(extent or 0 for extent in shape[1:])])
    if array.ndim != len(shape) or any(want not in (None, got)
                                       for want, got in zip(shape, array.shape)):
        wanted = ", ".join("N" if i == 0 and extent is None else "?" if extent is None else
                           str(extent) for i, extent in enumerate(shape))
        raise _wrong(f"{name}: must have the shape ({wanted}), not {array.shape}")
    return array


def as_index(index: Any, count: int) -> Any:
    """A slice, or an array of int or bool."""
    if isinstance(index, slice):
        return index
    array = np.asarray(index)
    if array.size == 0 and array.dtype.kind == "f":
        array = array.astype(int)
    if array.dtype.kind not in "iub" or array.ndim != 1:
        what = (f"{array.dtype} {array.shape}" if isinstance(index, np.ndarray)
                else type(index).__name__)
        raise TypeError("Detections: an index must be an int, a slice, or a list or array of int "
                        f"or bool with one axis, not {what}")
    if array.dtype.kind == "b" and len(array) != count:
        raise IndexError(f"Detections: {len(array)} bools for {count} objects")
    return array


def is_equal(a: Any, b: Any) -> bool:
    if a is None or b is None:
        return a is b
    if not isinstance(a, np.ndarray):
        return bool(a == b)
    return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
