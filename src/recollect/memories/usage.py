"""Records when memories were last shown (`used_at`), by which eviction chooses what to remove.

Reads only note it in a buffer. A task writes the buffer in batches later, so that no read waits for
a write. A crash loses the buffer, which only makes eviction a little less informed.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from itertools import islice

import structlog

from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.kernel.errors import RecollectError
from recollect.kernel.ids import MemoryId
from recollect.memories.model import StoredMemory
from recollect.memories.store.bundle import MemoryStores

_log = structlog.get_logger("recollect.use")

# `used_at` is this precise, so a row is written at most once in that time.
PRECISION = timedelta(hours=1)
FLUSH_SECONDS = 30
_BUFFER_MAX = 20_000
_ROWS_PER_TRANSACTION = 200


class UsageTracker:
    """Buffers uses on one event loop. `record_shown` never waits and never fails."""

    def __init__(self, context: ServiceContext[MemoryStores]) -> None:
        self._database = context.database
        self._stores = context.stores
        self._runtime = context.runtime
        self._read_at: dict[MemoryId, datetime] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._writing: asyncio.Task[None] | None = None

    def record_shown(self, returned: Iterable[StoredMemory]) -> None:
        """Note that these were shown now. A full buffer drops the note."""
        now = self._runtime.clock.now()
        for stored in returned:
            used_at = stored.used_at
            if used_at is None or now - used_at >= PRECISION:
                self._buffer_use(stored.memory.id, now)

    async def flush(self) -> None:
        """Write the buffer. If the database fails, the batch at hand is lost and the rest stays."""
        while self._read_at:
            # Taken out before the write, because new uses may be noted while it runs. The whole
            # batch gets one instant: `PRECISION` is much coarser than the time in the buffer.
            batch = dict(islice(self._read_at.items(), _ROWS_PER_TRANSACTION))
            for memory_id in batch:
                del self._read_at[memory_id]
            try:
                await self._database.write(self._mark_used(list(batch), max(batch.values())))
            except RecollectError as error:
                _log.warning("usage of memories was not written", error=type(error).__name__)
                return

    async def close(self) -> None:
        """Cancel the timer, wait for a running flush, and write the rest."""
        if self._timer is not None:
            self._timer.cancel()
        if self._writing is not None:
            await self._writing
        await self.flush()

    def _buffer_use(self, memory_id: MemoryId, now: datetime) -> None:
        if len(self._read_at) < _BUFFER_MAX:
            self._read_at.setdefault(memory_id, now)
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(FLUSH_SECONDS, self._start_flush)

    def _start_flush(self) -> None:
        self._timer = None
        self._writing = asyncio.create_task(self.flush())

    def _mark_used(self, memory_ids: Sequence[MemoryId], at: datetime) -> Callable[[Tx], None]:
        mark = self._stores.memory_bulk.mark_used
        return lambda tx: mark(tx, memory_ids, at=at, unless_after=at - PRECISION)
