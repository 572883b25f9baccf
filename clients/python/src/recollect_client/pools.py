"""Pools of connections, of which each belongs to one process, and to one event loop if there is
one: after a fork two processes would write on the same socket, and a loop that has ended can't
close what it opened."""

import asyncio
import os
import weakref
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Pools(Generic[T]):
    """One pool for each process."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._by_process: dict[int, T] = {}

    def mine(self) -> T:
        """The pool of the caller, which is made at the first call."""
        pool = self._by_process.get(os.getpid())
        # `setdefault`: of two threads that come first at once both get the same pool.
        return pool or self._by_process.setdefault(os.getpid(), self._make())

    def take_mine(self) -> T | None:
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
