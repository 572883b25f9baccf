"""An event loop on a thread of its own, so that callers on any loop or thread share what lives on
it."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, wait
from typing import Any, TypeVar

T = TypeVar("T")


class LoopThread:
    """Runs coroutines for others until it is stopped."""

    def __init__(self, name: str) -> None:
        self._ready = threading.Event()
        self._lock = threading.Lock()
        self._running: set[Future[Any]] = set()
        self._stopping = False
        # A process that ends without closing its store must not hang.
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()
        self._ready.wait()

    def submit(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        """Start it; the caller goes on. RuntimeError once it is stopping."""
        with self._lock:
            if self._stopping:
                work.close()
                raise RuntimeError("it is closed")
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
            self._running.add(future)
        future.add_done_callback(self._forget)
        return future

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Its result, on the caller's own loop. Who gives up waiting cancels it."""
        return await asyncio.wrap_future(self.submit(work))

    @property
    def pending(self) -> int:
        """How many are not done."""
        return len(self._running)

    def running(self) -> set["Future[Any]"]:
        """What is not done."""
        with self._lock:
            return set(self._running)

    def stop(self, last: Callable[[], Coroutine[Any, Any, None]] | None = None) -> None:
        """Block until all that was started is done, then `last`, then the thread has ended."""
        with self._lock:
            self._stopping = True
        wait(self.running())
        try:
            if last is not None:
                asyncio.run_coroutine_threadsafe(last(), self._loop).result()
        finally:
            self._loop.call_soon_threadsafe(self._stopped.set)
            self._thread.join()

    def _work(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopped = asyncio.Event()
        self._ready.set()
        await self._stopped.wait()

    def _forget(self, future: Future[Any]) -> None:
        with self._lock:
            self._running.discard(future)
