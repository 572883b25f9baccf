"""Captures on their way into a store: one after the other, on a thread of their own, so that no
agent waits for them or fails by them."""

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable, Generator
from concurrent.futures import Future
from typing import Any

from recollect.ir.captures import Captured
from recollect.ir.entries import MemoryEntry
from recollect.ir.loops import LoopThread

Save = Callable[[MemoryEntry], Awaitable[MemoryEntry]]

PENDING_MAX = 10_000
_log = logging.getLogger("recollect.ir")


class Capture:
    """A capture on its way. Nobody has to wait for it; who awaits it gets the stored entry, or None
    if there is none."""

    def __init__(self, future: "Future[MemoryEntry | None]") -> None:
        self._future = future

    @classmethod
    def nothing(cls) -> "Capture":
        """Nothing was stored, and nothing will be."""
        done: Future[MemoryEntry | None] = Future()
        done.set_result(None)
        return cls(done)

    def __await__(self) -> Generator[Any, None, MemoryEntry | None]:
        # Who gives up waiting does not take the capture back.
        return asyncio.shield(asyncio.wrap_future(self._future)).__await__()

    def result(self, timeout: float | None = None) -> MemoryEntry | None:
        """The same for code without an event loop."""
        return self._future.result(timeout)


class Captures:
    """The captures of one runner and all its handles, in their order."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: LoopThread | None = None
        self._turn = asyncio.Lock()

    def keep(self, save: Save, stage: str, direction: str, **what: Any) -> Capture:
        """Copy what is to be kept now, save it later. Whatever goes wrong is a warning."""
        try:
            captured = Captured.of(stage, direction, **what)
            return Capture(self._submit(save, captured))
        except Exception as error:  # noqa: BLE001 - the agent goes on, whatever its payload does
            _warn(error, what.get("agent_slug"), what.get("run_id"))
            return Capture.nothing()

    async def settle(self) -> None:
        """Wait for all that was captured before."""
        with self._lock:
            pending = self._thread.running() if self._thread is not None else set()
        if pending:
            await asyncio.wait([asyncio.wrap_future(future) for future in pending])

    def stop(self) -> None:
        """Block until all is stored. Captures that come later start anew."""
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.stop()

    def _submit(self, save: Save, captured: Captured) -> "Future[MemoryEntry | None]":
        with self._lock:
            if self._thread is None:
                self._thread, self._turn = LoopThread("recollect-captures"), asyncio.Lock()
            if self._thread.pending >= PENDING_MAX:
                raise RuntimeError("too many captures wait for the store")
            return self._thread.submit(_saved(save, captured, self._turn))


async def _saved(save: Save, captured: Captured, turn: asyncio.Lock) -> MemoryEntry | None:
    async with turn:
        try:
            return await save(captured.to_entry())
        except Exception as error:  # noqa: BLE001 - nobody waits for this who could be told
            _warn(error, captured.agent_slug, captured.run_id)
            return None


def _warn(error: Exception, agent_slug: object, run_id: object) -> None:
    """Ids and the kind of the error: its message could hold what was captured."""
    kind = type(error).__name__
    _log.warning("a capture was not stored: %s, agent %r, run %r", kind, agent_slug, run_id)
