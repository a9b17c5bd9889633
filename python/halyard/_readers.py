# SPDX-License-Identifier: Apache-2.0
"""asyncio tasks that wait for a topic's descriptor."""
from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Dict, Optional, Set

from ._core import _Endpoint
from ._errors import InvalidArgumentError

if TYPE_CHECKING:
    import asyncio


class Readers:
    """The tasks that wait for an endpoint, by event loop. A loop has one reader for a descriptor,
    which wakes all of them. Each task looks for a message itself: a cancelled task loses none."""

    def __init__(self, endpoint: _Endpoint) -> None:
        self._endpoint = endpoint
        self._lock = threading.Lock()
        self._waiting: Dict[asyncio.AbstractEventLoop, Set[asyncio.Future[None]]] = {}
        self._is_closed = False

    async def wait(self, loop: asyncio.AbstractEventLoop, timeout: Optional[float]) -> None:
        """Returns when there may be a message, or after the timeout. Raises halyard.Error if the
        topic is closed."""
        future: asyncio.Future[None] = loop.create_future()
        fd = self._endpoint.fileno()
        with self._lock:
            if self._is_closed:
                raise self._closed()
            is_first = loop not in self._waiting
            self._waiting.setdefault(loop, set()).add(future)
        timer = None if timeout is None else loop.call_later(timeout, self._wake, future)
        try:
            if is_first:
                loop.add_reader(fd, self._wake_all, loop)
            await future
        finally:
            if timer is not None:
                timer.cancel()
            self._forget(loop, future, fd)

    @staticmethod
    def _wake(future: asyncio.Future[None]) -> None:
        if not future.done():
            future.set_result(None)

    def _wake_all(self, loop: asyncio.AbstractEventLoop) -> None:
        with self._lock:
            waiting = list(self._waiting.get(loop, ()))
        for future in waiting:
            self._wake(future)

    def _forget(self, loop: asyncio.AbstractEventLoop, future: asyncio.Future[None],
                fd: int) -> None:
        with self._lock:
            waiting = self._waiting.get(loop)
            if waiting is None:
                return
            waiting.discard(future)
            if waiting:
                return
            del self._waiting[loop]
        loop.remove_reader(fd)
        self._leave_when_unused()

    def close(self) -> None:
        """Wakes all tasks with an error. Closes the descriptor when no loop watches it."""
        with self._lock:
            self._is_closed = True
            loops = list(self._waiting)
        for loop in loops:
            try:
                loop.call_soon_threadsafe(self._refuse, loop)
            except RuntimeError:  # the loop has ended
                with self._lock:
                    self._waiting.pop(loop, None)
        self._leave_when_unused()

    def _refuse(self, loop: asyncio.AbstractEventLoop) -> None:
        with self._lock:
            waiting = list(self._waiting.get(loop, ()))
        for future in waiting:
            if not future.done():
                future.set_exception(self._closed())

    def _leave_when_unused(self) -> None:
        with self._lock:
            is_over = self._is_closed and not self._waiting
        if is_over:
            self._endpoint.close()

    def _closed(self) -> InvalidArgumentError:
        return InvalidArgumentError(f"topic: {self._endpoint.name} is closed", "invalid_argument")
