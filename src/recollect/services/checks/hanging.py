"""Checks of rows that depend on others: index rows, vectors, edges, memories of agents, jobs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from recollect.domain.doctor import Check
from recollect.domain.jobs import NewJob
from recollect.domain.memories import ArchiveReason, MemoryId, Status
from recollect.ports.database import Tx
from recollect.ports.stores import Stores
from recollect.services.checks.ids import IdCheck
from recollect.services.checks.mending import Mender
from recollect.services.checks.order import Order
from recollect.services.erase import ERASE
from recollect.services.memory_indexing import MemoryIndexer


@dataclass(frozen=True, slots=True)
class HangingChecks:
    """Builds these checks; the private methods are their repairs."""

    stores: Stores
    mender: Mender
    indexer: MemoryIndexer

    def before_rows(self) -> list[IdCheck]:
        """Checks that run before the row checks. The repairs of those change, quarantine and
        reindex memories, and these checks report what was wrong without them."""
        return [
            IdCheck(Check.ORPHAN_INDEX, self._unindex),
            IdCheck(Check.ORPHAN_EDGES, self._cut_edges),
            IdCheck(Check.UNKNOWN_ORIGIN),
            IdCheck(Check.UNKNOWN_AGENT, self._archive),
            IdCheck(Check.CONFLICTS),
            IdCheck(Check.CLOCK),
        ]

    def behind_rows(self) -> list[IdCheck]:
        """Checks that run after the row checks. Their repairs write index rows and queue jobs, so
        missing vectors and stuck jobs are looked for when the index and the queue are final."""
        return [
            IdCheck(Check.MISSING_VECTORS, self._queue),
            IdCheck(Check.STUCK_JOBS, self._revive),
        ]

    def _unindex(self, tx: Tx, _order: Order, ids: Sequence[str]) -> int:
        for memory_id in ids:
            self.mender.unindex(tx, MemoryId(memory_id))
        return len(ids)

    def _cut_edges(self, tx: Tx, _order: Order, ids: Sequence[str]) -> int:
        return self.stores.doctor.delete_edges(tx, ids)

    def _queue(self, tx: Tx, _order: Order, ids: Sequence[str]) -> int:
        waiting = self.stores.doctor.wait_for_vectors(tx, ids)
        self.indexer.queue(tx)
        return waiting

    def _revive(self, tx: Tx, order: Order, ids: Sequence[str]) -> int:
        """Give stuck jobs new attempts, and a new job to erasures that have none. An erasure that
        is reported because it finds traces again and again can't be repaired here."""
        now = order.looking.now
        lost = self.stores.doctor.lost_erasures(tx, ids)
        for erasure_id in lost:
            job = NewJob(ERASE, {"erasure_id": erasure_id}, now, f"{ERASE}:{erasure_id}")
            self.stores.jobs.insert(tx, job)
        return self.stores.doctor.revive(tx, ids, at=now) + len(lost)

    def _archive(self, tx: Tx, order: Order, ids: Sequence[str]) -> int:
        """Archive the memories, as removing their agent would have done."""
        held = self.mender.hold(tx, ids)
        reason = ArchiveReason.AGENT_REMOVED
        for stored in held:
            after = replace(stored.memory, status=Status.ARCHIVED, archive_reason=reason)
            told = {"fields": ["archive_reason", "status"], "reason": str(reason)}
            self.mender.change(tx, order, stored, after, **told)
        return len(held)
