# SPDX-License-Identifier: Apache-2.0
"""Queries about GPUs."""
from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType
from typing import List, Optional, Type

from . import _core
from ._enums import EglDisplayKind

__all__ = ["CudaMap", "EglDisplayInfo", "probe_egl_displays"]


@dataclass(frozen=True)
class EglDisplayInfo:
    """A display that OpenGL can use without a screen: its kind, and a description."""

    kind: EglDisplayKind
    description: str


def probe_egl_displays() -> List[EglDisplayInfo]:
    """Displays that an ImageProcessor can use, the best first. An empty list without OpenGL."""
    return [EglDisplayInfo(EglDisplayKind(kind), text) for kind, text in _core._usable_displays()]


class CudaMap:
    """A tensor's memory as CUDA sees it, from ``Tensor.cuda_map()``; programs do not make it.
    ``Tensor.cuda_map()`` gives None without CUDA, as in this build."""

    def __init__(self) -> None:
        raise TypeError("CudaMap: comes from Tensor.cuda_map()")

    @property
    def device_ptr(self) -> int:
        """Address on the device; 0 after release()."""
        return 0

    @property
    def size(self) -> int:
        """Bytes; 0 after release()."""
        return 0

    def release(self) -> None:
        """Ends the mapping; a second call does nothing."""

    def __len__(self) -> int:
        return self.size

    def __enter__(self) -> CudaMap:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.release()
