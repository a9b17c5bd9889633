# SPDX-License-Identifier: Apache-2.0
"""How tensors travel between processes: by value, or by descriptor where multiprocessing carries
descriptors (its queues, pipes and process arguments) and the memory has one."""
import os
from multiprocessing import reduction
from typing import Any, Dict

import numpy as np

from ._core import Tensor
from ._enums import TensorMemory


def _labels(tensor: Tensor) -> Dict[str, Any]:
    return {"name": tensor.name, "colorimetry": tensor.colorimetry,
            "quantization": tensor.quantization}


def _label(tensor: Tensor, labels: Dict[str, Any]) -> Tensor:
    tensor._set_name(labels["name"])
    tensor.colorimetry = labels["colorimetry"]
    tensor.quantization = labels["quantization"]
    return tensor


def _from_value(state: Dict[str, Any], data: bytes) -> Tensor:
    memory = state["memory"]
    try:
        tensor = _empty(state, memory)
    except RuntimeError:
        tensor = _empty(state, TensorMemory.MEM)
    source = np.frombuffer(data, "uint16" if tensor.dtype == "bfloat16" else tensor.dtype)
    if tensor.dtype == "bfloat16":
        import ml_dtypes
        source = source.view(ml_dtypes.bfloat16)
    np.asarray(tensor)[...] = source.reshape(tensor.shape)
    return _label(tensor, state["labels"])


def _empty(state: Dict[str, Any], memory: TensorMemory) -> Tensor:
    if state["format"] is not None:
        return Tensor.image(state["width"], state["height"], state["format"], memory,
                            "readwrite", state["dtype"])
    return Tensor(state["shape"], state["dtype"], memory)


def _reduce(tensor: Tensor, protocol: int = 2) -> Any:
    plain = tensor if tensor.ndim == 0 or _is_adjacent(tensor) else tensor.copy(TensorMemory.MEM)
    state = {"dtype": plain.dtype, "shape": plain.shape, "format": plain.format,
             "width": plain.width, "height": plain.height, "memory": tensor.memory,
             "labels": _labels(tensor)}
    return _from_value, (state, np.asarray(plain).tobytes())


def _is_adjacent(tensor: Tensor) -> bool:
    try:
        memoryview(tensor).release()
    except BufferError:
        return tensor.dtype == "bfloat16"
    return True


def _from_descriptor(descriptor: Any, state: Any, labels: Dict[str, Any]) -> Tensor:
    fd = descriptor.detach()
    try:
        return _label(Tensor._from_shared(fd, state), labels)
    finally:
        os.close(fd)


def _reduce_shared(tensor: Tensor) -> Any:
    state = tensor._shared_state()
    if state is None:
        return _reduce(tensor)
    return _from_descriptor, (reduction.DupFd(tensor._borrowed_fd), state, _labels(tensor))


setattr(Tensor, "__reduce_ex__", _reduce)
if hasattr(reduction, "DupFd"):
    reduction.register(Tensor, _reduce_shared)
