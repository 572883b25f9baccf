"""The queue of captures. They are stored one after the other on a thread of their own, so that no
agent waits for the store or fails because of it."""

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable, Generator
from concurrent.futures import Future
from typing import Any

from recollect.app.loop_thread import LoopThread
from recollect.ir.captures import CapturedPayload
from recollect.ir.entries import MemoryEntry

Save = Callable[[MemoryEntry], Awaitable[MemoryEntry]]

PENDING_MAX = 10_000
_log = logging.getLogger("recollect.ir")


class Capture:
    """A capture that is being stored. Awaiting it is optional; it gives the stored entry, or None
    if it could not be stored."""

    def __init__(self, future: "Future[MemoryEntry | None]") -> None:
        self._future = future

    @classmethod
    def without_entry(cls) -> "Capture":
        """A capture that failed already: its result is None."""
        done: Future[MemoryEntry | None] = Future()
        done.set_result(None)
        return cls(done)

    def __await__(self) -> Generator[Any, None, MemoryEntry | None]:
        # `wrap_future` passes a cancellation on to the work. The shield stops it: whoever gives up
        # waiting must not cancel the capture.
        return asyncio.shield(asyncio.wrap_future(self._future)).__await__()

    def result(self, timeout: float | None = None) -> MemoryEntry | None:
        """Wait for the entry in code without an event loop."""
        return self._future.result(timeout)


class CaptureQueue:
    """The captures of a runner and all its handles, stored in the order of `enqueue`.

    The order comes from two things. Coroutines are submitted under `_lock`, so the loop starts them
    in that order; and `_turn` lets one of them run at a time, since `asyncio.Lock` is fair. Without
    `_turn` two saves would overlap at their first await. The lock belongs to the loop of the
    thread, so each new thread gets a new one.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: LoopThread | None = None
        self._turn = asyncio.Lock()

    def enqueue(self, save: Save, stage: str, direction: str, **what: Any) -> Capture:
        """Copy the payload now and store it later. Any failure is logged as a warning: the agent
        must go on, even if the `str` of its payload raises."""
        try:
            captured = CapturedPayload.copy_from(stage, direction, **what)
            return Capture(self._submit(save, captured))
        except Exception as error:  # noqa: BLE001 - the agent goes on, whatever its payload does
            _warn_not_stored(error, what.get("agent_slug"), what.get("run_id"))
            return Capture.without_entry()

    async def wait_pending(self) -> None:
        """Wait for all captures that were enqueued before this call."""
        with self._lock:
            pending = self._thread.running_futures() if self._thread is not None else set()
        if pending:
            # `wait` does not cancel what it waits for, so no shield is needed here.
            await asyncio.wait([asyncio.wrap_future(future) for future in pending])

    def stop(self) -> None:
        """Block until all is stored, and end the thread. A later capture starts a new one. The
        thread is stopped outside of the lock, which captures on other threads need."""
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.stop()

    def _submit(self, save: Save, captured: CapturedPayload) -> "Future[MemoryEntry | None]":
        with self._lock:
            if self._thread is None:
                self._thread, self._turn = LoopThread("recollect-captures"), asyncio.Lock()
            if self._thread.pending_count >= PENDING_MAX:
                raise RuntimeError("too many captures wait for the store")
            return self._thread.submit(_save_in_turn(save, captured, self._turn))


async def _save_in_turn(
    save: Save, captured: CapturedPayload, turn: asyncio.Lock
) -> MemoryEntry | None:
    async with turn:
        try:
            return await save(captured.to_entry())
        except Exception as error:  # noqa: BLE001 - no caller waits for it
            _warn_not_stored(error, captured.agent_slug, captured.run_id)
            return None


def _warn_not_stored(error: Exception, agent_slug: object, run_id: object) -> None:
    """Log ids and the type of the error. Its message could repeat the payload."""
    kind = type(error).__name__
    _log.warning("a capture was not stored: %s, agent %r, run %r", kind, agent_slug, run_id)
