# SPDX-License-Identifier: Apache-2.0
"""WaitSet: waits for several topics, timers and descriptors at once."""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple, Union

from ._core import _WaitSet
from ._errors import SystemCallError
from ._topics import Topic

__all__ = ["WaitSet"]


class WaitSet:
    """Waits for several topics, timers and descriptors at once.

    Each source has a token, any object, which ``wait()`` returns::

        waits = halyard.WaitSet()
        waits.add(camera, "camera")
        waits.add_timer(1.0, "second")
        for token in waits.wait(): ...

    It keeps its topics. One thread uses it at a time; a second one gets a BusyError.
    """

    def __init__(self) -> None:
        self._set = _WaitSet()
        self._entries: Dict[int, Tuple[Any, Any]] = {}

    def add(self, topic: Topic[Any], token: Any = None) -> None:
        """Adds a topic; without a token, the topic is its own token. Raises halyard.Error if the
        token is taken or the topic closed."""
        if not isinstance(topic, Topic):
            raise TypeError(f"topic: must be a Topic, not {type(topic).__name__}")
        token = topic if token is None else token
        self._check(token)
        self._entries[self._set.add(topic._endpoint)] = token, topic

    def add_timer(self, interval: float, token: Any) -> None:
        """Adds a timer that fires every `interval` seconds from now on; more than 0."""
        self._check(token)
        self._entries[self._set.add_timer(interval)] = token, None

    def add_fd(self, fd: Union[int, Any], token: Any) -> None:
        """Adds a descriptor, or an object with fileno(), which is kept. Reports it while it is
        readable."""
        self._check(token)
        number = fd if isinstance(fd, int) else fd.fileno()
        self._entries[self._set.add_fd(number)] = token, fd

    def remove(self, token: Any) -> bool:
        """False if there is no such token."""
        for number, (known, _) in self._entries.items():
            if known is token or known == token:
                self._set.remove(number)
                del self._entries[number]
                return True
        return False

    def wait(self, timeout: Optional[float] = None) -> List[Any]:
        """The tokens of topics that have messages, of timers that have fired since the last
        call, and of readable descriptors, in the order of their adding. An empty list: `timeout`
        seconds have passed; None: waits forever. Ctrl-C ends a wait. Raises halyard.Error if a
        topic of the set is closed: remove it first."""
        return [self._entries[number][0] for number in self._set.wait(timeout)]

    def _check(self, token: Any) -> None:
        if any(known is token or known == token for known, _ in self._entries.values()):
            raise SystemCallError(f"token: is in the set already ({token!r})", "exists")

    def __len__(self) -> int:
        return len(self._entries)


WaitSet.__module__ = "halyard"
