"""An event loop on a thread of its own.

A database engine belongs to the loop on which it was opened, but a store may be used from several
loops and threads: from `asyncio.run` called twice, from a notebook, from worker threads. So the
engine gets a loop of its own, and every caller submits coroutines to it.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, wait
from typing import Any, TypeVar

T = TypeVar("T")


class LoopThread:
    """Runs coroutines for other threads until it is stopped.

    `_lock` guards `_running` and `_stopping`. `submit` checks `_stopping` and registers its future
    under one hold of the lock, and `stop` sets the flag under the same lock. So each coroutine is
    either refused or waited for; none can slip in between the flag and the wait. `_loop` and
    `_stopped` are set on the new thread, which the constructor waits for.
    """

    def __init__(self, name: str) -> None:
        self._ready = threading.Event()
        self._lock = threading.Lock()
        self._running: set[Future[Any]] = set()
        self._stopping = False
        # A daemon: a process that exits without closing its store must not hang.
        self._thread = threading.Thread(target=self._run_loop, name=name, daemon=True)
        self._thread.start()
        self._ready.wait()

    def submit(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        """Start the coroutine and return at once. RuntimeError if the thread is being stopped."""
        with self._lock:
            if self._stopping:
                # Closing it avoids the warning "coroutine was never awaited".
                work.close()
                raise RuntimeError("it is closed")
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
            self._running.add(future)
        # Outside of the lock: for a future that is done already the callback runs right here, on
        # this thread, and takes the lock itself.
        future.add_done_callback(self._discard_done)
        return future

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for the result on the caller's own loop. Cancelling the wait cancels the work."""
        return await asyncio.wrap_future(self.submit(work))

    @property
    def pending_count(self) -> int:
        """How many coroutines are not done. Without the lock: it only needs to be about right."""
        return len(self._running)

    def running_futures(self) -> set["Future[Any]"]:
        """The futures that are not done."""
        with self._lock:
            return set(self._running)

    def stop(self, last: Callable[[], Coroutine[Any, Any, None]] | None = None) -> None:
        """Refuse new work, wait until running work is done, run `last` on the loop, end the thread.

        `last` closes what lives on the loop, so it runs on the loop and after all work. If it
        fails the thread ends nevertheless. Must not be called on the loop's own thread, which would
        wait for itself.
        """
        with self._lock:
            self._stopping = True
        # `wait` must not hold the lock: the callbacks of finishing futures take it.
        wait(self.running_futures())
        try:
            if last is not None:
                asyncio.run_coroutine_threadsafe(last(), self._loop).result()
        finally:
            self._loop.call_soon_threadsafe(self._stopped.set)
            self._thread.join()

    def stop_soon(self, last: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """The same without waiting, from any thread and in the middle of a garbage collection."""
        with self._lock:
            was_stopping, self._stopping = self._stopping, True
        if not was_stopping:
            self._loop.call_soon_threadsafe(self._begin_to_stop, last)

    def is_current(self) -> bool:
        """Is the caller on this thread?"""
        return threading.current_thread() is self._thread

    def _begin_to_stop(self, last: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._stop_task = asyncio.create_task(self._finish(last))

    async def _finish(self, last: Callable[[], Coroutine[Any, Any, None]]) -> None:
        running = [asyncio.wrap_future(future) for future in self.running_futures()]
        try:
            if running:
                await asyncio.wait(running)
            await last()
        finally:
            self._stopped.set()

    def _run_loop(self) -> None:
        asyncio.run(self._wait_for_stop())

    async def _wait_for_stop(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopped = asyncio.Event()
        self._ready.set()
        await self._stopped.wait()

    def _discard_done(self, future: Future[Any]) -> None:
        with self._lock:
            self._running.discard(future)
