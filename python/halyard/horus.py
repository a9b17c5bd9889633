# SPDX-License-Identifier: Apache-2.0
"""Pools, tensors, messages and topics under the names and signatures of HORUS's Python package, on
top of Halyard's own::

    from halyard import horus

    pool = horus.TensorPool(pool_id=1, size_mb=1024, max_slots=1024)
    handle = pool.alloc(shape=(1080, 1920, 3), dtype="float32")

``install()`` makes ``import horus`` give this module. Halyard's classes can do more; use them in
new programs. Differences: an existing pool with other limits is an error; sent and received
messages are read-only; wrong sizes and places are errors, not ignored. Left out:
arithmetic, comparisons and conversions of tensors, which NumPy does (``numpy.asarray(handle)
+ 1``), and the scheduler and its nodes: send() and recv() ignore ``node``.
"""
from __future__ import annotations

import sys
from types import ModuleType
from typing import Any, Dict, Optional, Sequence, Type, TypeVar

import numpy as np

from . import _core
from ._core import (Device, TensorDescriptor, cuda_available, cuda_device_count, default_pool)
from ._topics import Topic as _Topic

__all__ = ["DepthImage", "Device", "Image", "PointCloud", "Tensor", "TensorHandle", "TensorPool",
           "Topic", "cuda_available", "cuda_device_count", "install"]


class TensorPool(_core.TensorPool):
    """halyard.TensorPool, whose stats() is a dict."""

    def stats(self) -> Dict[str, int]:  # type: ignore[override]
        """Counts over all processes of the pool."""
        found = super().stats()
        return {name: getattr(found, name) for name in (
            "pool_id", "pool_size", "max_slots", "allocated_slots", "total_refcount", "used_bytes",
            "free_bytes", "reserved_bytes", "peak_used_bytes", "failed_allocations", "processes")}


class _TensorType(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _core._Tensor)


class Tensor(metaclass=_TensorType):
    """Makes halyard.TensorHandle objects in this process's own pool. All tensors of Halyard are
    instances."""

    def __new__(cls, shape: Sequence[int],  # type: ignore[misc]
                dtype: Any = "float32") -> _core.TensorHandle:
        return cls.zeros(shape, dtype)

    @staticmethod
    def zeros(shape: Sequence[int], dtype: Any = "float32") -> _core.TensorHandle:
        """A tensor of zeros."""
        made = Tensor.empty(shape, dtype)
        made.fill(0)
        return made

    @staticmethod
    def empty(shape: Sequence[int], dtype: Any = "float32") -> _core.TensorHandle:
        """A tensor of undefined values."""
        return default_pool().alloc(shape, dtype)

    @staticmethod
    def from_numpy(array: Any) -> _core.TensorHandle:
        """A copy of an array."""
        array = np.asarray(array)
        made = Tensor.empty(array.shape, array.dtype)
        made.from_numpy(array)
        return made

    @staticmethod
    def from_descriptor(pool_id: int, descriptor: bytes) -> _core.TensorHandle:
        """The tensor that ``bytes(handle.descriptor())`` of any process names."""
        return _core.TensorPool.open(pool_id).attach(TensorDescriptor(descriptor))


TensorHandle = Tensor


class _Message:
    """A message of Halyard under HORUS's names; ``message`` is Halyard's object."""

    def __init__(self, message: Any) -> None:
        object.__setattr__(self, "message", message)

    def __getattr__(self, name: str) -> Any:
        if name == "message":  # not set yet: copying and pickling read it
            raise AttributeError(name)
        return getattr(self.message, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.message, name, value)

    def to_numpy(self) -> np.ndarray[Any, Any]:
        """The elements without a copy."""
        found: np.ndarray[Any, Any] = self.message.numpy()
        return found

    def as_tensor(self) -> _core.Tensor:
        """The elements as a tensor, without a copy."""
        found: _core.Tensor = self.message.tensor
        return found

    @property
    def device(self) -> str:
        """Where the elements are: "cpu"."""
        return "cpu"

    def is_gpu(self) -> bool:
        """False."""
        return False

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> np.ndarray[Any, Any]:
        found: np.ndarray[Any, Any] = self.message.__array__(dtype, copy)
        return found

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self.message.__dlpack__(**kwargs)

    def __dlpack_device__(self) -> Any:
        return self.message.__dlpack_device__()

    def __repr__(self) -> str:
        return f"horus.{self.message!r}"


class Image(_Message):
    """halyard.Image; height comes first. Its pixels are 0 at first."""

    def __init__(self, height: int, width: int, encoding: str = "rgb8") -> None:
        super().__init__(_core.Image(width, height, encoding))
        self.message.tensor.fill(0)

    @classmethod
    def from_numpy(cls, array: Any, encoding: Optional[str] = None) -> Image:
        """A copy of an array [H,W] or [H,W,C]."""
        return _wrapped(cls, _core.Image.from_numpy(array, encoding))

    @classmethod
    def from_bytes(cls, data: bytes, height: int, width: int, encoding: str = "rgb8") -> Image:
        """A copy of bytes without gaps between rows."""
        return _wrapped(cls, _core.Image.from_bytes(data, width, height, encoding))

    def roi(self, x: int, y: int, width: int, height: int) -> bytes:
        """A part of the image, copied. Image.message.roi() shares it."""
        part: bytes = self.message.copy_roi(x, y, width, height)
        return part


class PointCloud(_Message):
    """halyard.PointCloud. Its numbers are 0 at first."""

    def __init__(self, num_points: int, fields: int = 3, dtype: Any = "float32") -> None:
        super().__init__(_core.PointCloud(num_points, fields, dtype))
        if num_points > 0:
            self.message.tensor.fill(0)

    @classmethod
    def from_numpy(cls, array: Any) -> PointCloud:
        """A copy of an array [N, K]."""
        return _wrapped(cls, _core.PointCloud.from_numpy(array))

    def point_at(self, index: int) -> list[float]:
        """The numbers of a point. Raises IndexError if there is none."""
        numbers = self.to_numpy()
        numbers = numbers.reshape(-1, numbers.shape[-1])
        if not 0 <= index < len(numbers):
            raise IndexError(f"index: must be below {len(numbers)} ({index})")
        return [float(number) for number in numbers[index]]

    def __len__(self) -> int:
        return len(self.message)


_DEPTH_TYPES = {"meters": "float32", "m": "float32", "mm": "uint16", "millimeters": "uint16"}


class DepthImage(_Message):
    """halyard.DepthImage; height comes first. `dtype`: "float32" or "meters", "uint16" or "mm". Its
    depths are 0 at first: no measurement."""

    def __init__(self, height: int, width: int, dtype: str = "float32") -> None:
        super().__init__(_core.DepthImage(width, height, _DEPTH_TYPES.get(dtype, dtype)))
        self.message.tensor.fill(0)

    @classmethod
    def from_numpy(cls, array: Any) -> DepthImage:
        """A copy of an array [H, W]; float64 becomes float32."""
        array = np.asarray(array)
        wide = array.dtype == np.float64
        return _wrapped(cls, _core.DepthImage.from_numpy(array.astype("f4") if wide else array))


M = TypeVar("M", bound=_Message)


def _wrapped(kind: Type[M], message: Any) -> M:
    made = kind.__new__(kind)
    _Message.__init__(made, message)
    return made


_TYPES: Dict[Any, Any] = {Image: _core.Image, PointCloud: _core.PointCloud,
                          DepthImage: _core.DepthImage}


class Topic:
    """Messages of one type: Image, PointCloud, DepthImage or Tensor.

    Args:
        type: of the messages.
        capacity: messages that are kept for each publisher, 1..4096; None: 16.
        endpoint: the topic's name; None: that of the type in lower case.
    """

    def __init__(self, type: Any, capacity: Optional[int] = None,
                 endpoint: Optional[str] = None) -> None:
        self._kind = _TYPES.get(type) and type
        if self._kind is None and type is not Tensor and type is not _core.Tensor:
            raise TypeError(f"type: must be Image, PointCloud, DepthImage or Tensor, not {type!r}")
        name = endpoint if endpoint is not None else type.__name__.lower()
        self._topic: _Topic[Any] = _Topic(name, _TYPES.get(type, _core.Tensor), depth=capacity)

    @property
    def name(self) -> str:
        """The topic's name."""
        return self._topic.name

    def alloc_tensor(self, shape: Sequence[int], dtype: Any = "float32") -> _core.TensorHandle:
        """A tensor in the topic's pool, which is sent without a copy."""
        return self._topic.alloc_tensor(shape, dtype)

    def send(self, obj: Any, node: Any = None) -> bool:
        """Sends a message; True. Raises halyard.Error where it cannot be sent."""
        self._topic.send(obj.message if isinstance(obj, _Message) else obj)
        return True

    def recv(self, node: Any = None) -> Any:
        """The next message; None if there is none."""
        message = self._topic.recv()
        return message if message is None or self._kind is None else _wrapped(self._kind, message)

    def close(self) -> None:
        """Leaves the topic."""
        self._topic.close()


def install() -> ModuleType:
    """Makes ``import horus`` give this module in this process. May be called again. Returns the
    module.

    Raises:
        RuntimeError: another module horus is imported already; call install() before that.
    """
    own = sys.modules[__name__]
    if sys.modules.setdefault("horus", own) is not own:
        raise RuntimeError("horus is imported already: call halyard.horus.install() before "
                           "anything imports it")
    return own
