# SPDX-License-Identifier: Apache-2.0
"""PipelineStats: counts and times of a Pipeline."""
from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Dict, List

__all__ = ["PipelineStats", "SourceStats", "StageStats"]


@dataclass(frozen=True)
class StageStats:
    """A stage's frames so far. Times are in milliseconds, percentiles within 2 percent."""

    name: str
    frames: int
    errors: int
    p50: float
    p99: float
    max: float
    total: float


@dataclass(frozen=True)
class SourceStats:
    """A source's frames so far.

    - errors: of reading; dropped: by drop_oldest, while paused, or by stop(); skipped: by
      skip_inference; failed: with an error of a stage;
    - delivered: passed the last stage, the failed ones included."""

    name: str
    read: int
    errors: int
    dropped: int
    skipped: int
    failed: int
    delivered: int
    has_ended: bool
    last_error: str


@dataclass(frozen=True)
class PipelineStats:
    """Counts and times of a Pipeline.

    - stages: "load", "convert", "model", "decode", "track" and the program's own;
    - latency: from the reading of a frame to behind the last stage;
    - elapsed: seconds since the start; in_flight: frames on their way now;
    - copies, copied_bytes: of images, in the whole process since the start."""

    sources: List[SourceStats]
    stages: List[StageStats]
    latency: StageStats
    detections: int
    elapsed: float
    in_flight: int
    copies: int
    copied_bytes: int

    @property
    def frames(self) -> int:
        """Frames that have passed the last stage."""
        return self.latency.frames

    @property
    def fps(self) -> float:
        """Frames a second since the start."""
        return self.frames / self.elapsed if self.elapsed > 0 else 0.0

    def stage(self, name: str) -> StageStats:
        """The stage of that name. Raises KeyError."""
        for each in self.stages:
            if each.name == name:
                return each
        raise KeyError(f"there is no stage {name!r} ({', '.join(s.name for s in self.stages)})")

    def to_dict(self) -> Dict[str, Any]:
        """As plain dicts, lists and numbers, with "frames" and "fps"."""
        return {**asdict(self), "frames": self.frames, "fps": self.fps}

    @staticmethod
    def _of(found: Dict[str, Any]) -> PipelineStats:
        made = {**found, "sources": [SourceStats(**each) for each in found["sources"]],
                "stages": [StageStats(**each) for each in found["stages"]],
                "latency": StageStats(**found["latency"])}
        return PipelineStats(**made)


for _item in (PipelineStats, SourceStats, StageStats):
    _item.__module__ = "halyard"
