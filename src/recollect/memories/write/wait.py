"""Lets a write wait until what it queued is done, so that a caller may search for it by meaning or
read what was made of it."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from recollect.db.transaction import Database, Tx
from recollect.kernel.errors import ValidationFailed
from recollect.memories.commands import CreateMemory, WaitFor
from recollect.memories.model import StoredMemory
from recollect.memories.write.warnings import WriteWarning
from recollect.memories.write.writer import MemoryWriteResult

WAIT_SECONDS_DEFAULT = 10
WAIT_SECONDS_MAX = 30
# Another process may do the work, so there is nothing here that could tell us when it is done.
_FIRST_PAUSE_SECONDS = 0.01
_PAUSE_SECONDS_MAX = 0.25

WAIT_TIMEOUT = WriteWarning(
    "wait_timeout",
    "the memory is stored and found by its words; what was waited for is not done yet and goes on",
)

# Whether some work that a write queues is still to be done for this memory.
PendingWork = Callable[[Tx, StoredMemory], bool]


class WriteWaiter:
    """Waits for the work of a memory. Each kind of work says itself whether it is pending."""

    def __init__(
        self, database: Database, pending: Mapping[WaitFor, Sequence[PendingWork]]
    ) -> None:
        self._database = database
        self._pending = pending

    async def wait(self, written: MemoryWriteResult, command: CreateMemory) -> MemoryWriteResult:
        """The same result, once the work is done or, with a warning, the time is over."""
        if command.wait is None:
            return written
        kinds = self._pending[command.wait]
        ends_at = time.monotonic() + (command.wait_seconds or WAIT_SECONDS_DEFAULT)
        pause = _FIRST_PAUSE_SECONDS

        def is_pending(tx: Tx) -> bool:
            return any(pending(tx, written.stored) for pending in kinds)

        while await self._database.read(is_pending):
            left = ends_at - time.monotonic()
            if left <= 0:
                return replace(written, warnings=(*written.warnings, WAIT_TIMEOUT))
            await asyncio.sleep(min(pause, left))
            pause = min(2 * pause, _PAUSE_SECONDS_MAX)
        return written


def check_wait(command: CreateMemory) -> None:
    """Raises ValidationFailed. Before the write: a refused request stores nothing."""
    seconds = command.wait_seconds
    if seconds is None:
        return
    if command.wait is None:
        raise ValidationFailed.for_field("wait_seconds", "needs `wait`: what is waited for?")
    if not 1 <= seconds <= WAIT_SECONDS_MAX:
        raise ValidationFailed.for_field("wait_seconds", f"must be 1 to {WAIT_SECONDS_MAX}")
