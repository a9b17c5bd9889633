# SPDX-License-Identifier: Apache-2.0
"""Point clouds as structured NumPy arrays over the same bytes."""
from __future__ import annotations

from typing import Any, List, Optional

import numpy as np

from ._core import PointCloud, PointField, TensorPool
from ._errors import InvalidArgumentError


class _Memory:
    """Bytes at an address, as NumPy sees them. Keeps their owner alive."""

    def __init__(self, base: Any, interface: dict[str, Any]) -> None:
        self.base = base
        self.__array_interface__ = interface


def _refuse(text: str) -> InvalidArgumentError:
    return InvalidArgumentError(text, "invalid_argument")


def dtype_of(fields: List[PointField]) -> np.dtype[Any]:
    """The fields as a dtype that ends with the last field."""
    formats = [np.dtype(f.datatype) if f.count == 1 else np.dtype((f.datatype, (f.count,)))
               for f in fields]
    end = max(f.offset + one.itemsize for f, one in zip(fields, formats))
    return np.dtype({"names": [f.name for f in fields], "formats": formats,
                     "offsets": [f.offset for f in fields], "itemsize": end})


def fields_of(dtype: Any) -> List[PointField]:
    """The fields of a structured dtype."""
    if not dtype.names:
        raise _refuse(f"fields: must be a structured dtype ({dtype})")
    made = []
    for name in dtype.names:
        kind, offset = dtype.fields[name][:2]
        count = int(np.prod(kind.shape, dtype=np.int64))
        if not kind.base.isnative:
            raise _refuse(f"fields: {name} must be in native byte order")
        made.append(PointField(name, offset, kind.base, count))
    return made


def view(cloud: PointCloud) -> np.ndarray[Any, Any]:
    shape = (cloud.height, cloud.width) if cloud.is_organized else (cloud.width,)
    dtype = dtype_of(cloud.fields)
    if len(cloud) == 0:
        return np.empty(shape, dtype)
    base = np.asarray(cloud)
    steps = (cloud.row_step, cloud.point_step) if cloud.is_organized else (cloud.point_step,)
    memory = _Memory(base, {
        "version": 3, "shape": shape, "strides": steps, "typestr": f"|V{dtype.itemsize}",
        "data": (base.__array_interface__["data"][0], not base.flags.writeable)})
    return np.asarray(memory).view(dtype)


def field(cloud: PointCloud, name: str) -> np.ndarray[Any, Any]:
    names = [one.name for one in cloud.fields]
    if name not in names:
        raise _refuse(f"name: the cloud has no field {name!r} ({', '.join(names)})")
    found: np.ndarray[Any, Any] = view(cloud)[name]
    return found


def from_structured(array: np.ndarray[Any, Any], pool: Optional[TensorPool]) -> PointCloud:
    if array.ndim not in (1, 2):
        raise _refuse(f"array: must be [N] or [H, W] of points ({array.ndim} axes)")
    height, width = array.shape if array.ndim == 2 else (1, array.shape[0])
    cloud = PointCloud.with_fields(width, height, fields_of(array.dtype), array.dtype.itemsize,
                                   pool=pool)
    points = view(cloud)
    for name in array.dtype.names or ():
        points[name] = array.reshape(points.shape)[name].reshape(points[name].shape)
    return cloud


def sixteen(matrix: Any) -> List[float]:
    """The 16 numbers of a 4 x 4 matrix, row by row."""
    rows = np.asarray(matrix, np.float64)
    if rows.shape != (4, 4):
        raise _refuse(f"matrix: must be 4 x 4 ({list(rows.shape)})")
    flat: List[float] = rows.ravel().tolist()
    return flat
