"""Eviction: removes trees that were soft-deleted long enough ago, for good.

A run is a task of the service, so nobody has to wait for it. It removes a few trees a transaction
and lets others in between; one event counts for the whole run, in the transactions that remove.
"""

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime, timedelta

import structlog

from recollect.domain.durations import Duration
from recollect.domain.events import Event, EventKind
from recollect.domain.ids import TreeId
from recollect.domain.jobs import NewJob
from recollect.errors import Unavailable
from recollect.policy.principals import Principal
from recollect.ports.database import Database, Tx
from recollect.ports.runtime import Runtime
from recollect.ports.stores import Stores
from recollect.services.audit import used_role

_log = structlog.get_logger("recollect.eviction")

VECTOR_DELETE = "vector_store_delete"
_TREES_PER_TRANSACTION = 50
_VECTOR_DELAY = timedelta(seconds=60)
_LAST_PASSES = 50
_PASS_DELAY_SECONDS = 0.1


class Eviction:
    """A run, for those who want to know how far it is."""

    def __init__(self) -> None:
        self._percent = 0
        self._ended = False
        self._changed = asyncio.Condition()
        self.task: asyncio.Task[None] | None = None

    async def done(self) -> None:
        """Wait for the end; raises what made the run fail. Cancelling this does not stop it."""
        if self.task is not None:
            await asyncio.shield(self.task)

    async def progress(self) -> AsyncIterator[int]:
        """0, then whatever is new, 100 at the end; raises what made the run fail."""
        shown = 0
        yield shown
        while not self._ended:
            async with self._changed:
                while not self._ended and self._percent == shown:
                    await self._changed.wait()
            if self._percent > shown:
                shown = self._percent
                yield shown
        await self.done()
        yield 100

    async def report(self, percent: int) -> None:
        """Called by the run: never falls, and 100 is only for the end."""
        async with self._changed:
            self._percent = max(self._percent, min(percent, 99))
            self._changed.notify_all()

    async def wake(self) -> None:
        """Called when the run has ended, whichever way."""
        async with self._changed:
            self._ended = True
            self._changed.notify_all()


class EvictionService:
    """Starts runs and keeps them alive."""

    def __init__(
        self,
        database: Database,
        stores: Stores,
        runtime: Runtime,
        *,
        batch_size: int,
        batch_delay_ms: int,
    ) -> None:
        self._database = database
        self._stores = stores
        self._runtime = runtime
        self._batch_size = batch_size
        self._batch_delay_seconds = batch_delay_ms / 1000
        self._running: set[asyncio.Task[None]] = set()
        self._closing = False

    async def begin(
        self, principal: Principal, period: Duration, *, justification: str | None
    ) -> Eviction:
        """Record the run and start it."""
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
        await self._database.write(lambda tx: self._stores.events.insert(tx, event))
        eviction = Eviction()
        run = self._run(eviction, period.before(now), event.id)
        eviction.task = task = asyncio.create_task(run)
        self._running.add(task)
        task.add_done_callback(self._forget)
        return eviction

    def _forget(self, task: asyncio.Task[None]) -> None:
        """Those who listen get the failure through the task; the log gets it in any case."""
        self._running.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            _log.error("eviction failed", exc_info=error)

    async def close(self) -> None:
        """Let runs stop after the trees at hand. What is left is due at the next run."""
        self._closing = True
        await asyncio.gather(*self._running, return_exceptions=True)

    async def _run(self, eviction: Eviction, cutoff: datetime, event_id: str) -> None:
        try:
            await self._evict(eviction, cutoff, event_id)
        finally:
            await eviction.wake()

    async def _evict(self, eviction: Eviction, cutoff: datetime, event_id: str) -> None:
        """Passes over what is due until nothing is left; a pass skips trees that others hold."""
        total = await self._count(cutoff)
        removed = 0
        for _ in range(_LAST_PASSES):
            removed += await self._pass(eviction, cutoff, event_id, removed, total)
            if not await self._count(cutoff):
                return
            await asyncio.sleep(_PASS_DELAY_SECONDS)

    async def _pass(
        self, eviction: Eviction, cutoff: datetime, event_id: str, before: int, total: int
    ) -> int:
        size = min(self._batch_size, _TREES_PER_TRANSACTION)
        after: TreeId | None = None
        removed = in_batch = 0
        while True:
            self._check_open()
            gone = await self._remove(cutoff, after, size, event_id)
            removed += len(gone)
            in_batch += len(gone)
            await eviction.report(100 * (before + removed) // max(total, 1))
            if len(gone) < size:
                return removed
            after = gone[-1]
            if in_batch >= self._batch_size:
                in_batch = 0
                await asyncio.sleep(self._batch_delay_seconds)

    async def _remove(
        self, cutoff: datetime, after: TreeId | None, limit: int, event_id: str
    ) -> list[TreeId]:
        def work(tx: Tx) -> list[TreeId]:
            stores = self._stores
            due = stores.conversations.claim_deleted_before(tx, cutoff, after=after, limit=limit)
            stores.conversations.delete_trees(tx, due)
            for tree_id in due:
                stores.jobs.insert(tx, self._vector_delete(tree_id))
            if due:
                stores.events.add_count(tx, event_id, len(due))
            return due

        return await self._database.write(work)

    def _vector_delete(self, tree_id: TreeId) -> NewJob:
        return NewJob(
            type=VECTOR_DELETE,
            body={"conversationGroupId": tree_id},
            due_at=self._runtime.clock.now() + _VECTOR_DELAY,
            name=f"{VECTOR_DELETE}:{tree_id}",
        )

    async def _count(self, cutoff: datetime) -> int:
        return await self._database.read(
            lambda tx: self._stores.conversations.count_deleted_before(tx, cutoff)
        )

    def _check_open(self) -> None:
        if self._closing:
            raise Unavailable("the server is shutting down; the rest is due at the next run")
