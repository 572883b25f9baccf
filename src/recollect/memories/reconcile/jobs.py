"""The job `memory_reconcile`: compares statements with similar ones once their vectors are stored.

On a server without an embedding model only equal texts are compared, by the write itself.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence

from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.jobs.model import Job, JobHandler, NewJob
from recollect.kernel.errors import Unavailable
from recollect.kernel.ids import MemoryId
from recollect.memories.model import StoredMemory
from recollect.memories.reconcile.service import (
    ReconcileOutcome,
    ReconcilePlan,
    Reconciler,
    SimilarStatements,
    is_comparable,
)
from recollect.memories.reconcile.store import ComparisonQuery
from recollect.memories.store.bundle import MemoryStores

MEMORY_RECONCILE = "memory_reconcile"

# After so many concurrent changes of its rows the job gives up, to be retried later.
_RETRIES_MAX = 5


class ReconcileJobs:
    """Handlers of the job. It may run again after a crash: rows that it ended are no longer
    active, and links that exist are not written twice."""

    def __init__(
        self,
        context: ServiceContext[MemoryStores],
        reconciler: Reconciler,
        *,
        model: str,
        neighbours: int,
    ) -> None:
        self._database = context.database
        self._stores = context.stores
        self._runtime = context.runtime
        self._reconciler = reconciler
        self._model = model
        self._neighbours = neighbours

    def handlers(self) -> Mapping[str, JobHandler]:
        """By job type. A server without an embedding model takes none of these jobs."""
        return {MEMORY_RECONCILE: self.reconcile} if self._model else {}

    def queue(self, tx: Tx, docs: Sequence[int]) -> None:
        """Queue a job for these rows, in the transaction that stores their vectors."""
        job = NewJob(MEMORY_RECONCILE, {"docs": list(docs)}, self._runtime.clock.now())
        self._stores.jobs.insert(tx, job)

    def is_queued(self, tx: Tx, stored: StoredMemory) -> bool:
        """Whether the memory waits to be compared. A job that gave up counts as waiting."""
        bodies = self._stores.jobs.fetch_bodies(tx, MEMORY_RECONCILE)
        return any(stored.doc in body["docs"] for body in bodies)

    async def reconcile(self, job: Job) -> None:
        """Compare the statements of a job, the oldest row first."""
        ids = await self._database.read(
            lambda tx: self._stores.similarity.fetch_ids(tx, job.body["docs"])
        )
        for memory_id in ids:
            await self._reconcile_one(memory_id)

    async def _reconcile_one(self, memory_id: MemoryId) -> None:
        """Read, plan, then apply in a transaction if no row has changed meanwhile.

        Reading every vector of a space and parsing texts may take seconds. So neither runs in the
        write transaction: the read is a scan beside other traffic, and planning has a thread. Only
        `CHANGED` counts against the limit; `PARTLY` made progress and may repeat.
        """
        disturbed = 0
        while disturbed < _RETRIES_MAX:
            seen = await self._database.scan(lambda tx: self._load_similar(tx, memory_id))
            if seen is None:
                return
            judged = await asyncio.to_thread(self._reconciler.plan, seen)
            outcome = await self._database.write(self._apply_in_tx(seen, judged))
            if outcome is ReconcileOutcome.DONE:
                return
            disturbed += outcome is ReconcileOutcome.CHANGED
        raise Unavailable("a memory changed during every attempt to reconcile it")

    def _apply_in_tx(
        self, seen: SimilarStatements, judged: Sequence[ReconcilePlan]
    ) -> Callable[[Tx], ReconcileOutcome]:
        return lambda tx: self._reconciler.apply(tx, seen, judged, at=self._runtime.clock.now())

    def _load_similar(self, tx: Tx, memory_id: MemoryId) -> SimilarStatements | None:
        """The similar statements, or None if there is nothing to decide. Imported rows are left
        out: they came with their links."""
        stored = self._stores.memories.fetch(tx, memory_id)
        now = self._runtime.clock.now()
        if stored is None or stored.import_id is not None or not is_comparable(stored, now):
            return None
        vector = self._stores.similarity.fetch_vector(tx, memory_id, model=self._model)
        if vector is None:
            return None
        what = ComparisonQuery(stored, vector, self._model, now, self._neighbours)
        seen = self._reconciler.select_similar(stored, self._fetch_similar_rows(tx, what), now)
        return seen if seen.pairs else None

    def _fetch_similar_rows(
        self, tx: Tx, what: ComparisonQuery
    ) -> list[tuple[StoredMemory, float]]:
        comparing = self._stores.similarity
        near = dict([*comparing.nearest_in_space(tx, what), *comparing.nearest_elsewhere(tx, what)])
        rows = self._stores.memories.fetch_many(tx, list(near))
        return [(row, near[row.memory.id]) for row in rows]
