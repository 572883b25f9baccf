"""Eviction: permanently removes trees that were soft-deleted before a cutoff.

A run is a background task, so it continues when the caller disconnects. It removes a few trees
per transaction and lets other writers in between. One audit event counts the trees of the
whole run; each transaction adds to it what it removes (see docs/adr/0008).
"""

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime, timedelta

import structlog

from recollect.audit.event_recorder import used_role
from recollect.audit.model import Event, EventKind
from recollect.conversations.ports import ConversationStores
from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.identity.model import Principal
from recollect.jobs.model import NewJob
from recollect.kernel.errors import Unavailable
from recollect.kernel.ids import TreeId
from recollect.kernel.runtime import Runtime
from recollect.text.dates.durations import Duration

_log = structlog.get_logger("recollect.eviction")

VECTOR_DELETE = "vector_store_delete"
_TREES_PER_TRANSACTION = 50
# A vector job that is already running may still write vectors after their entries are gone.
_VECTOR_DELAY = timedelta(seconds=60)
# A tree that somebody keeps locked must not keep a run alive for ever.
_PASSES_MAX = 50
_PASS_DELAY_SECONDS = 0.1


def vector_delete_job(tree_id: TreeId, runtime: Runtime) -> NewJob:
    """The job that removes vectors of a tree whose entries are gone. A queued one is kept."""
    body = {"conversationGroupId": tree_id}
    name = f"{VECTOR_DELETE}:{tree_id}"
    return NewJob(VECTOR_DELETE, body, runtime.clock.now() + _VECTOR_DELAY, name)


class EvictionRun:
    """One run, as its caller sees it: wait for the end, or follow the progress."""

    def __init__(self) -> None:
        self._percent = 0
        self._ended = False
        self._changed = asyncio.Condition()
        self.task: asyncio.Task[None] | None = None

    async def wait(self) -> None:
        """Wait for the end. Raises what made the run fail. Cancelling the wait does not stop it."""
        if self.task is not None:
            await asyncio.shield(self.task)

    async def progress(self) -> AsyncIterator[int]:
        """Yield 0, then each new percentage, and 100 at the end. Raises what made the run fail.

        Any number of callers may follow one run. A slow one misses numbers in between.
        """
        # A condition and not a queue: followers that are slow or gone leave nothing behind.
        reported = 0
        yield reported
        while not self._ended:
            async with self._changed:
                while not self._ended and self._percent == reported:
                    await self._changed.wait()
            if self._percent > reported:
                reported = self._percent
                yield reported
        await self.wait()
        yield 100

    async def report(self, percent: int) -> None:
        """Called by the run. The number never decreases, and stays below 100 until the end."""
        async with self._changed:
            self._percent = max(self._percent, min(percent, 99))
            self._changed.notify_all()

    async def mark_ended(self) -> None:
        """Called when the run has ended, well or not."""
        async with self._changed:
            self._ended = True
            self._changed.notify_all()


class EvictionService:
    """Starts runs, and holds references to their tasks until they end."""

    def __init__(
        self, context: ServiceContext[ConversationStores], *, batch_size: int, batch_delay_ms: int
    ) -> None:
        self._database = context.database
        self._stores = context.stores
        self._runtime = context.runtime
        self._batch_size = batch_size
        self._batch_delay_seconds = batch_delay_ms / 1000
        self._running: set[asyncio.Task[None]] = set()
        self._closing = False

    async def begin(
        self, principal: Principal, period: Duration, *, justification: str | None
    ) -> EvictionRun:
        """Write the audit event, with count 0, then start the run."""
        now = self._runtime.clock.now()
        event = Event(
            id=self._runtime.ids.new(),
            at=now,
            kind=EventKind.ADMIN_WRITE,
            action="evict",
            actor_user_id=principal.user_id,
            actor_client_id=principal.client_id,
            role=used_role(principal, EventKind.ADMIN_WRITE),
            count=0,
            justification=justification,
        )
        # Committed before anything is removed: a crash can't leave removed trees without an event.
        await self._database.write(lambda tx: self._stores.events.insert(tx, event))
        eviction = EvictionRun()
        run = self._run(eviction, period.subtract_from(now), event.id)
        eviction.task = task = asyncio.create_task(run)
        self._running.add(task)
        task.add_done_callback(self._on_run_done)
        return eviction

    def _on_run_done(self, task: asyncio.Task[None]) -> None:
        """Log a failure. Callers that wait get it through the task, but there may be none."""
        self._running.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            _log.error("eviction failed", exc_info=error)

    async def close(self) -> None:
        """Stop each run after its current transaction. The next run removes the rest."""
        self._closing = True
        await asyncio.gather(*self._running, return_exceptions=True)

    async def _run(self, eviction: EvictionRun, cutoff: datetime, event_id: str) -> None:
        try:
            await self._evict(eviction, cutoff, event_id)
        finally:
            await eviction.mark_ended()

    async def _evict(self, eviction: EvictionRun, cutoff: datetime, event_id: str) -> None:
        """Make passes over all due trees until none is left.

        A pass skips trees that another transaction holds, instead of waiting for them. The next
        pass tries those again. Several runs at once share the work in this way.
        """
        # `total` is counted once and serves the progress only. Whether a tree is due is decided
        # in the statement that claims it, under its lock. So a tree that was restored after the
        # count survives.
        total = await self._count_due(cutoff)
        removed = 0
        for _ in range(_PASSES_MAX):
            removed += await self._run_pass(eviction, cutoff, event_id, removed, total)
            if not await self._count_due(cutoff):
                return
            await asyncio.sleep(_PASS_DELAY_SECONDS)

    async def _run_pass(
        self, eviction: EvictionRun, cutoff: datetime, event_id: str, before: int, total: int
    ) -> int:
        # `after` walks in order of id, so a pass ends even if skipped trees stay locked. A batch
        # is spread over several transactions; the configured pause comes after each batch.
        size = min(self._batch_size, _TREES_PER_TRANSACTION)
        after: TreeId | None = None
        removed = in_batch = 0
        while True:
            self._check_not_closing()
            gone = await self._remove_batch(cutoff, after, size, event_id)
            removed += len(gone)
            in_batch += len(gone)
            await eviction.report(100 * (before + removed) // max(total, 1))
            if len(gone) < size:
                return removed
            after = gone[-1]
            if in_batch >= self._batch_size:
                in_batch = 0
                await asyncio.sleep(self._batch_delay_seconds)

    async def _remove_batch(
        self, cutoff: datetime, after: TreeId | None, limit: int, event_id: str
    ) -> list[TreeId]:
        def work(tx: Tx) -> list[TreeId]:
            stores = self._stores
            due = stores.conversations.claim_deleted_before(tx, cutoff, after=after, limit=limit)
            stores.conversations.delete_trees(tx, due)
            for tree_id in due:
                stores.jobs.insert(tx, vector_delete_job(tree_id, self._runtime))
            # In the same transaction, so the count is right at every moment, also after a crash.
            if due:
                stores.events.add_count(tx, event_id, len(due))
            return due

        return await self._database.write(work)

    async def _count_due(self, cutoff: datetime) -> int:
        return await self._database.read(
            lambda tx: self._stores.conversations.count_deleted_before(tx, cutoff)
        )

    def _check_not_closing(self) -> None:
        if self._closing:
            raise Unavailable("the server is shutting down; the rest is due at the next run")
