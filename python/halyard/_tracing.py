# SPDX-License-Identifier: Apache-2.0
"""Tracing: what the library does and when, as Chrome trace JSON (open it at
https://ui.perfetto.dev)."""
import os
from types import TracebackType
from typing import Literal, Optional, Type, Union

from . import _core
from ._core import is_tracing_active as is_tracing_active

__all__ = ["Tracing", "is_tracing_active", "span"]


class Tracing:
    """A recording of every span of every thread, from ``start()`` to ``stop()``.

    Use it in a ``with`` statement, or call ``start()`` and ``stop()``. Sessions may follow one
    another, also of one object; one records at a time.

    Args:
        path: the file to write, str or os.PathLike. It appears, complete, at ``stop()``.
    """

    def __init__(self, path: Union[str, "os.PathLike[str]"]) -> None:
        self._path = os.fspath(path)
        if not isinstance(self._path, str):
            raise TypeError("path: must be a str or an os.PathLike of one")
        self._is_mine = False

    def start(self) -> None:
        """Begins to record. Raises RuntimeError if a session already records, and its matching
        subclasses if the file cannot be made."""
        _core._trace_start(self._path)
        self._is_mine = True

    def stop(self) -> None:
        """Ends this recording and writes the file; does nothing if it does not record."""
        if self._is_mine:
            self._is_mine = False
            _core._trace_stop()

    def __enter__(self) -> "Tracing":
        self.start()
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> Literal[False]:
        self.stop()
        return False

    def __repr__(self) -> str:
        return f"Tracing({self._path!r})"


class span:
    """A span of your own in the trace: ``with ef.span("decode", frame=7): ...``.

    It costs almost nothing while no session records. It is open on the thread that entered it, and
    may be entered again once it is closed. Use the same name for the same kind of work:
    names are kept until the process ends, the first 4096 of them.

    Args:
        name: shown by the viewer.
        args: at most eight values to show with it: int, float, or text of which 47 bytes are kept.
    """

    __slots__ = ("_span",)

    def __init__(self, name: str, **args: object) -> None:
        self._span = _core._Span(name, args)

    def __enter__(self) -> "span":
        self._span.__enter__()
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> Literal[False]:
        self._span.__exit__(kind, error, trace)
        return False
