"""Pools of connections, of which each belongs to one process, and to one event loop if there is
one: after a fork two processes would write on the same socket, and a loop that has ended can't
close what it opened."""

import asyncio
import os
import threading
import weakref
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

T = TypeVar("T")


class Closable(Protocol):
    """A pool that is closed without waiting."""

    def close(self) -> None:
        """Close its connections."""
        ...


C = TypeVar("C", bound=Closable)


class Pools(Generic[C]):
    """One pool for each process. They are closed with it, at the latest."""

    def __init__(self, make: Callable[[], C]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._by_process: dict[int, C] = {}

    def mine(self) -> C:
        """The pool of the caller, which is made at the first call."""
        pool = self._by_process.get(os.getpid())
        return pool if pool is not None else self._new()

    def _new(self) -> C:
        with self._lock:  # two threads may come first at once
            pool = self._by_process.get(os.getpid())
            if pool is None:
                pool = self._by_process[os.getpid()] = self._make()
                weakref.finalize(self, pool.close)
        return pool

    def take_mine(self) -> C | None:
        """The pool of the caller, which is forgotten here; None if there is none."""
        return self._by_process.pop(os.getpid(), None)


class AsyncPools(Generic[T]):
    """One pool for each process and each event loop."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._by_loop: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[int, T]] = (
            weakref.WeakKeyDictionary()
        )

    def mine(self) -> T:
        """The pool of the running loop, which is made at the first call."""
        loop = asyncio.get_running_loop()
        process, pool = self._by_loop.get(loop, (None, None))
        if pool is None or process != os.getpid():
            for ended in [one for one in self._by_loop if one.is_closed()]:
                self._by_loop.pop(ended, None)
            pool = self._make()
            self._by_loop[loop] = os.getpid(), pool
        return pool

    def take_mine(self) -> T | None:
        """The pool of the running loop, which is forgotten here; None if there is none."""
        process, pool = self._by_loop.pop(asyncio.get_running_loop(), (None, None))
        return pool if process == os.getpid() else None
