# SPDX-License-Identifier: Apache-2.0
"""Topics: messages from any process to any process of this machine, by name."""
from __future__ import annotations

import builtins
import time
from collections.abc import Mapping
from types import TracebackType
from typing import (Any, AsyncIterator, Callable, Generic, Iterator, Optional, Protocol, Sequence,
                    Type, TypeVar, Union, overload)

import numpy as np

from ._calls import helpful
from ._core import (DepthImage, Device, Image, PointCloud, Tensor, TensorHandle, TensorPool,
                    TensorPoolConfig, TopicStats, _Endpoint, _ReferenceTensor)
from ._errors import Error, InvalidArgumentError
from ._readers import Readers

__all__ = ["Serializer", "Topic"]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class SerializerLike(Protocol[T]):
    """What Topic takes as a type of messages: a name, and the conversions to and from bytes."""

    @property
    def name(self) -> str: ...

    def encode(self, message: T, /) -> Any: ...

    def decode(self, data: bytes, /) -> T: ...


class Serializer(Generic[T]):
    """Makes messages of any type: ``Topic("pose", Serializer("robot.Pose", encode, decode))``.

    Args:
        name: of the message type, the same in all programs, 1..200 bytes.
        encode: converts an object to bytes, or to an object with a contiguous buffer.
        decode: converts bytes, which may come from anybody, to an object. A message that it
            refuses by a ValueError counts as lost; other exceptions reach the caller of recv().
    """

    def __init__(self, name: str, encode: Callable[[T], Any],
                 decode: Callable[[bytes], T]) -> None:
        self.name = name
        self.encode = encode
        self.decode = decode


class _Plain:
    """A struct as bytes in the layout of C++; the name is that of message_name there."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype

    def encode(self, message: Any) -> bytes:
        # Zeros first: the bytes between fields are sent too.
        array = np.zeros((), self.dtype)
        if isinstance(message, Mapping):
            names = self.dtype.names or ()
            if set(message) != set(names):
                raise _refuse(f"message: must have the fields {', '.join(names)} "
                              f"({', '.join(map(str, message))})")
            for name, value in message.items():
                array[name] = value
            return array.tobytes()
        # NumPy would match the fields of another struct by their order.
        given = getattr(message, "dtype", self.dtype)
        if given != self.dtype or getattr(message, "shape", ()) != ():
            raise _refuse(f"message: must be one of {self.dtype}, a tuple or a dict ({given})")
        array[()] = message
        return array.tobytes()

    def decode(self, data: bytes) -> Any:
        return np.frombuffer(data, self.dtype)[0]


_OWN = {Tensor: "Tensor", TensorHandle: "Tensor", _ReferenceTensor: "Tensor", Image: "Image",
        PointCloud: "PointCloud", DepthImage: "DepthImage", bytes: "bytes"}


def _refuse(text: str) -> InvalidArgumentError:
    return InvalidArgumentError(text, "invalid_argument")


def _plain_of(type: Any, name: Optional[str]) -> Optional[_Plain]:
    """The codec of a structured dtype, None for other types."""
    if not isinstance(type, np.dtype):
        return None
    if type.names is None or type.hasobject:
        raise _refuse(f"type: must be a structured dtype without objects ({type})")
    if not type.isnative:
        raise _refuse(f"type: must be in native byte order ({type})")
    if not name:
        raise _refuse("message_name: a struct needs the name that all programs give it")
    return _Plain(type)


class Topic(Generic[T]):
    """Messages of one type by name, from any process to any process of this machine.

    Frames are not copied: a tensor in a pool's memory or in a DMA-BUF is sent as a descriptor.
    Any other tensor is copied into the topic's pool first. Memory of a pool is read-only once it
    is sent. Any number of threads may use one object; each message is given to one of the
    receivers. Iterate over it (``for frame in topic``, ``async for frame in topic``) to wait for
    one message after the other, until it is closed.

    Args:
        name: letters, digits and ``_ - .``, in parts that ``/`` separates.
        type: Tensor, Image, PointCloud, DepthImage, bytes, a structured NumPy dtype with
            `message_name` (the plain struct of that name in C++), or a Serializer.
        depth: messages kept for each publisher, 1..4096; 16.
        overflow: what happens if a subscriber has not read the oldest message: "drop_oldest"
            (the default), "drop_newest", or "block".
        history: how many a late subscriber gets, 0..depth; 0.
        max_endpoints: maximum number of publishers, and of subscribers, 1..1024; 64.
        pool: a TensorPoolConfig, the limits of the topic's pool.
        role: "publisher", "subscriber" or "both".
        latest_only: recv() gives the newest message and skips older ones.
        receives_own: this object receives its own messages.
        block_timeout: seconds that send() waits if overflow is "block"; None: forever.
        max_shared_frames: frames in DMA-BUFs that subscribers may have unread or in use; send()
            copies further ones, so that a stopped subscriber leaves a camera buffers; None: all.

    None means the topic's value, if others have made the topic, else the default. Raises
    halyard.Error: a name or a limit (the message names it), or another type or other limits than
    those that the topic has. A child of fork() makes topics of its own.
    """

    @overload
    def __init__(self: Topic[Tensor], name: str, type: Type[Tensor] = ..., *,
                 depth: Optional[int] = None, overflow: Optional[str] = None,
                 history: Optional[int] = None, max_endpoints: Optional[int] = None,
                 role: str = "both", latest_only: bool = False, receives_own: bool = False,
                 block_timeout: Optional[float] = 1.0, pool: Optional[TensorPoolConfig] = None,
                 max_shared_frames: Optional[int] = None,
                 message_name: Optional[str] = None) -> None: ...

    @overload
    def __init__(self: Topic[np.void], name: str, type: np.dtype[Any], *,
                 depth: Optional[int] = None, overflow: Optional[str] = None,
                 history: Optional[int] = None, max_endpoints: Optional[int] = None,
                 role: str = "both", latest_only: bool = False, receives_own: bool = False,
                 block_timeout: Optional[float] = 1.0, pool: Optional[TensorPoolConfig] = None,
                 max_shared_frames: Optional[int] = None,
                 message_name: Optional[str] = None) -> None: ...

    @overload
    def __init__(self: Topic[T], name: str, type: Union[Type[T], SerializerLike[T]], *,
                 depth: Optional[int] = None, overflow: Optional[str] = None,
                 history: Optional[int] = None, max_endpoints: Optional[int] = None,
                 role: str = "both", latest_only: bool = False, receives_own: bool = False,
                 block_timeout: Optional[float] = 1.0, pool: Optional[TensorPoolConfig] = None,
                 max_shared_frames: Optional[int] = None,
                 message_name: Optional[str] = None) -> None: ...

    @helpful
    def __init__(self, name: str, type: Any = Tensor, *, depth: Optional[int] = None,
                 overflow: Optional[str] = None, history: Optional[int] = None,
                 max_endpoints: Optional[int] = None, role: str = "both",
                 latest_only: bool = False, receives_own: bool = False,
                 block_timeout: Optional[float] = 1.0, pool: Optional[TensorPoolConfig] = None,
                 max_shared_frames: Optional[int] = None,
                 message_name: Optional[str] = None) -> None:
        options = {"depth": depth, "overflow": overflow, "history": history,
                   "max_endpoints": max_endpoints, "role": role, "latest_only": latest_only,
                   "receives_own": receives_own, "block_timeout": block_timeout, "pool": pool,
                   "max_shared_frames": max_shared_frames}
        self._codec: Any = None
        size = alignment = 0
        own = _OWN.get(type) if isinstance(type, builtins.type) else None
        if own is not None:
            kind = own
        elif (plain := _plain_of(type, message_name)) is not None:
            kind, self._codec = "plain", plain
            size, alignment = plain.dtype.itemsize, plain.dtype.alignment
        elif all(hasattr(type, word) for word in ("name", "encode", "decode")):
            kind, self._codec, message_name = "serialized", type, type.name
        else:
            raise TypeError("type: must be Tensor, Image, PointCloud, DepthImage, bytes, a "
                            f"structured numpy.dtype or a Serializer, not {type!r}")
        self._endpoint = _Endpoint(name, kind, message_name, size, alignment, options)
        self._readers = Readers(self._endpoint)

    @property
    def name(self) -> str:
        """The topic's name."""
        return self._endpoint.name

    @property
    def lost(self) -> int:
        """Messages lost so far, as recv() has found."""
        return self._endpoint.lost

    @property
    def pool(self) -> TensorPool:
        """The topic's pool, made at the first use."""
        return self._endpoint.pool()

    def stats(self) -> TopicStats:
        """The counters of this endpoint, and the topic's properties."""
        return self._endpoint.stats()

    def alloc_tensor(self, shape: Sequence[int], dtype: Any = "float32",
                     device: Union[Device, str] = "cpu", *,
                     timeout: Optional[float] = None) -> TensorHandle:
        """A tensor in the topic's pool, to be filled and sent; see TensorPool.alloc()."""
        return self.pool.alloc(shape, dtype, device, timeout=timeout)

    def send(self, message: Any, *, timeout: Optional[float] = None) -> None:
        """Sends a message. A topic of type Tensor takes any tensor or array, one of type bytes any
        object with a contiguous buffer. Waits only if `overflow` is "block": up to `timeout`
        seconds; None means `block_timeout`. Raises TypeError, and halyard.Error: CapacityError
        (drop_newest: refused; the pool has no space for a copy), WaitTimeoutError (block),
        UnsupportedError (not a publisher; a child of fork())."""
        data = message if self._codec is None else self._codec.encode(message)
        self._endpoint.send(data, timeout)

    def send_handle(self, handle: Tensor, *, timeout: Optional[float] = None) -> None:
        """The same for a tensor in a pool's memory, which is not copied. Raises
        InvalidArgumentError for other memory."""
        self.send(TensorHandle.of(handle), timeout=timeout)

    def recv(self, timeout: Optional[float] = 0) -> Optional[T]:
        """The next message; None if there is none in time. Tensors in a pool's memory are
        TensorHandles. `timeout`: seconds, 0: does not wait, None: waits forever. Ctrl-C ends a
        wait."""
        begin = time.monotonic()
        left = timeout
        while True:
            found = self._endpoint.recv(left)
            if found is None or self._codec is None:
                return found  # type: ignore[no-any-return]
            message = self._decoded(found)
            if message is not None:
                return message
            if timeout is not None:
                left = max(0.0, begin + timeout - time.monotonic())

    def recv_handle(self, timeout: Optional[float] = 0) -> Optional[TensorHandle]:
        """The same for topics of tensors, with the tensor as a TensorHandle. Raises
        InvalidArgumentError for a tensor that is not in a pool's memory."""
        found: Any = self.recv(timeout)
        if found is None or isinstance(found, TensorHandle):
            return found
        return TensorHandle.of(found)

    def _decoded(self, data: bytes) -> Optional[T]:
        try:
            return self._codec.decode(data)  # type: ignore[no-any-return]
        except ValueError:
            self._endpoint.count_malformed()
            return None

    def has_message(self) -> bool:
        """Whether recv() would return a message."""
        return self._endpoint.has_message()

    def fileno(self) -> int:
        """A descriptor for select, epoll and event loops: readable when messages may be there. It
        belongs to the topic. Call recv() until it gives None, which resets the descriptor."""
        return self._endpoint.fileno()

    async def recv_async(self, timeout: Optional[float] = None) -> Optional[T]:
        """The next message, for the running asyncio loop; None if there is none within `timeout`
        seconds. A cancelled call has taken no message."""
        import asyncio  # a fifth of the time of `import halyard`, and few need it

        loop = asyncio.get_running_loop()
        end = None if timeout is None else loop.time() + timeout
        while True:
            message = self.recv()
            left = None if end is None else end - loop.time()
            if message is not None or (left is not None and left <= 0):
                return message
            await self._readers.wait(loop, left)

    def __iter__(self) -> Iterator[T]:
        while True:
            try:
                message = self.recv(None)
            except Error:
                if self.is_closed:
                    return
                raise
            if message is not None:
                yield message

    async def __aiter__(self) -> AsyncIterator[T]:
        while True:
            try:
                message = await self.recv_async()
            except Error:
                if self.is_closed:
                    return
                raise
            if message is not None:
                yield message

    @property
    def is_closed(self) -> bool:
        """Whether close() was called."""
        return self._endpoint.is_closed

    def close(self) -> None:
        """Leaves the topic; a second call does nothing. Threads and tasks that wait get a
        halyard.Error. Received messages stay valid."""
        self._endpoint.refuse()
        self._readers.close()

    def __enter__(self) -> Topic[T]:
        if self.is_closed:
            raise _refuse(f"topic: {self.name} is closed")
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Topic {self.name!r}{' (closed)' if self.is_closed else ''}>"


for _item in (Serializer, Topic):
    _item.__module__ = "halyard"
