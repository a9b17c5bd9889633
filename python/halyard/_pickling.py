# SPDX-License-Identifier: Apache-2.0
"""Pickling of tensors: by value, or by descriptor where multiprocessing can send descriptors (its
queues, pipes and process arguments) and the memory has one. Placements are pickled by value."""
import os
from multiprocessing import reduction
from typing import Any, Dict, Union

import numpy as np

from ._core import Placement, Tensor, _placement_of, _ReferenceTensor, _Tensor
from ._enums import TensorMemory


_Made = Union[Tensor, _ReferenceTensor]


def _class_of(tensor: _Tensor) -> Any:
    """The class that another process makes of it: TensorHandles become Tensors."""
    return _ReferenceTensor if isinstance(tensor, _ReferenceTensor) else Tensor


def _labels(tensor: _Tensor) -> Dict[str, Any]:
    return {"name": tensor.name, "colorimetry": tensor.colorimetry,
            "orientation": tensor.orientation, "quantization": tensor.quantization}


def _label(tensor: _Made, labels: Dict[str, Any]) -> _Made:
    tensor._set_name(labels["name"])
    tensor.colorimetry = labels["colorimetry"]
    tensor.orientation = labels.get("orientation")
    tensor.quantization = labels["quantization"]
    return tensor


def _from_value(state: Dict[str, Any], data: bytes) -> _Made:
    memory = state["memory"]
    try:
        tensor = _empty(state, memory)
    except RuntimeError:
        tensor = _empty(state, TensorMemory.MEM)
    array = np.asarray(tensor)
    array[...] = np.frombuffer(data, np.uint8).view(array.dtype).reshape(array.shape)
    return _label(tensor, state["labels"])


def _empty(state: Dict[str, Any], memory: TensorMemory) -> _Made:
    kind = state.get("class", Tensor)
    if state["format"] is not None:
        image: _Made = kind.image(state["width"], state["height"], state["format"], memory,
                                    "readwrite", state["dtype"])
        return image
    made: _Made = kind(state["shape"], state["dtype"], memory)
    return made


def _reduce(tensor: _Made, protocol: int = 2) -> Any:
    plain = tensor if tensor.ndim == 0 or _is_adjacent(tensor) else tensor.copy(TensorMemory.MEM)
    state = {"class": _class_of(tensor), "dtype": plain._dtype_name, "shape": tuple(plain.shape),
             "format": plain.format, "width": plain.width, "height": plain.height,
             "memory": tensor.memory, "labels": _labels(tensor)}
    return _from_value, (state, np.asarray(plain).tobytes())


def _is_adjacent(tensor: _Tensor) -> bool:
    try:
        memoryview(tensor).release()
    except BufferError:
        return tensor._dtype_name == "bfloat16"
    return True


def _from_descriptor(descriptor: Any, state: Any, labels: Dict[str, Any],
                     kind: Any = Tensor) -> _Made:
    fd = descriptor.detach()
    try:
        return _label(kind._from_shared(fd, state), labels)
    finally:
        os.close(fd)


def _reduce_shared(tensor: _Made) -> Any:
    state = tensor._shared_state()
    if state is None:
        return _reduce(tensor)
    return _from_descriptor, (reduction.DupFd(tensor._borrowed_fd), state, _labels(tensor),
                              _class_of(tensor))


def placement(*fields: Any) -> Placement:
    """A pickled Placement."""
    return _placement_of(*fields)


setattr(_Tensor, "__reduce_ex__", _reduce)
if hasattr(reduction, "DupFd"):
    reduction.register(Tensor, _reduce_shared)
    reduction.register(_ReferenceTensor, _reduce_shared)
