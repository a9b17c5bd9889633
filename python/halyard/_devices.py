# SPDX-License-Identifier: Apache-2.0
"""Queries about GPUs."""
from __future__ import annotations

from dataclasses import dataclass
from typing import List

from . import _core
from ._enums import EglDisplayKind

__all__ = ["EglDisplayInfo", "probe_egl_displays"]


@dataclass(frozen=True)
class EglDisplayInfo:
    """A display that OpenGL can use without a screen: its kind, and a description."""

    kind: EglDisplayKind
    description: str


def probe_egl_displays() -> List[EglDisplayInfo]:
    """Displays that an ImageProcessor can use, the best first. An empty list without OpenGL."""
    return [EglDisplayInfo(EglDisplayKind(kind), text) for kind, text in _core._usable_displays()]
