# SPDX-License-Identifier: Apache-2.0
"""What programs ask of GPUs. This build drives none, and says so in the documented way."""
from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType
from typing import List, Optional, Type

from ._enums import EglDisplayKind

__all__ = ["CudaMap", "EglDisplayInfo", "probe_egl_displays"]


@dataclass(frozen=True)
class EglDisplayInfo:
    """A display that OpenGL can draw without a screen: its kind, and words about it."""

    kind: EglDisplayKind
    description: str


def probe_egl_displays() -> List[EglDisplayInfo]:
    """Displays that an ImageProcessor can use, the best first; an empty list where there is no
    OpenGL, as in this build."""
    return []


class CudaMap:
    """A tensor's memory as CUDA sees it, from ``Tensor.cuda_map()``; never made by hand.
    ``Tensor.cuda_map()`` gives None where there is no CUDA, as in this build."""

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
