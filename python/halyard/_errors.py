# SPDX-License-Identifier: Apache-2.0
"""The exceptions of Halyard."""
from typing import Any, Dict, List, Optional


class Error(RuntimeError):
    """A call failed. ``code`` is the library's name of the reason ("invalid_argument"), ``errno``
    the system's number if a system call failed, else 0."""

    errno: Optional[int]  # as OSError declares it

    def __init__(self, message: str = "", code: str = "os", errno: int = 0) -> None:
        super().__init__(message)
        self.code = code
        self.errno = errno

    def __reduce__(self):  # type: ignore[no-untyped-def]
        return type(self), (str(self), self.code, self.errno)


class InvalidArgumentError(Error, ValueError):
    """A value is wrong; the message names it and its limit."""


class UnsupportedError(Error, NotImplementedError):
    """Understood, but not supported by this build, file or device."""


class ConflictError(UnsupportedError):
    """Parties disagree about a buffer. The text is the report; ``conflicts`` is a list of objects,
    each with ``key``, ``rule``, ``tag``, ``parties``, ``nearest`` and ``hint``, as
    `halyard negotiate --json` prints them."""

    def __init__(self, report: str = "", conflicts: Optional[List[Dict[str, Any]]] = None) -> None:
        super().__init__(report, "unsupported")
        self.conflicts = [] if conflicts is None else conflicts

    def __reduce__(self):  # type: ignore[no-untyped-def]
        return type(self), (str(self), self.conflicts)


class OutOfMemoryError(Error, MemoryError):
    """Memory of the requested kind cannot be allocated."""


class CapacityError(Error, BufferError):
    """A fixed capacity is used up: the destination is too small."""


class MissingFileError(Error, FileNotFoundError):
    """A file, device or name does not exist."""


class AccessError(Error, PermissionError):
    """The system refuses access, or memory is read-only."""


class BusyError(Error, BlockingIOError):
    """Held by somebody else."""


class WaitTimeoutError(Error, TimeoutError):
    """The wait ended before the event."""


class DataError(Error, ValueError):
    """A file or document is damaged or does not follow its format."""


class SystemCallError(Error, OSError):
    """A system call or a device failed; see ``errno``."""


class MapIndexError(BufferError, IndexError):
    """An index beyond the last element of a TensorMap; iteration ends at it."""


BY_CODE = {
    "ok": Error,
    "invalid_argument": InvalidArgumentError,
    "unsupported": UnsupportedError,
    "no_memory": OutOfMemoryError,
    "exhausted": CapacityError,
    "not_found": MissingFileError,
    "exists": SystemCallError,
    "timeout": WaitTimeoutError,
    "busy": BusyError,
    "malformed": DataError,
    "corrupt": DataError,
    "version": DataError,
    "permission": AccessError,
    "os": SystemCallError,
    "device": SystemCallError,
    "cancelled": Error,
}

__all__ = sorted({"ConflictError", *(kind.__name__ for kind in BY_CODE.values())})


def invalid_argument(message: str) -> InvalidArgumentError:
    """Makes an InvalidArgumentError."""
    return InvalidArgumentError(message, "invalid_argument")
