"""Checks of rows that depend on others: index rows, vectors, edges, memories of agents, jobs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from recollect.db.transaction import Tx
from recollect.doctor.checks.ids import IdCheck
from recollect.doctor.checks.order import DoctorOrder
from recollect.doctor.model import DoctorCheck
from recollect.doctor.repair import MemoryRepairer
from recollect.doctor.store.bundle import DoctorStores
from recollect.erasure.service import ERASE_JOB
from recollect.jobs.model import NewJob
from recollect.kernel.ids import MemoryId
from recollect.memories.model import ArchiveReason, MemoryStatus
from recollect.search.memories.indexing import MemoryIndexer


@dataclass(frozen=True, slots=True)
class OrphanChecks:
    """Builds these checks; the private methods are their repairs."""

    stores: DoctorStores
    repairer: MemoryRepairer
    indexer: MemoryIndexer

    def checks_before_rows(self) -> list[IdCheck]:
        """Checks that run before the row checks. The repairs of those change, quarantine and
        reindex memories, and these checks report what was wrong without them."""
        return [
            IdCheck(DoctorCheck.ORPHAN_INDEX, self._unindex),
            IdCheck(DoctorCheck.ORPHAN_EDGES, self._delete_edges),
            IdCheck(DoctorCheck.UNKNOWN_ORIGIN),
            IdCheck(DoctorCheck.UNKNOWN_AGENT, self._archive_memories),
            IdCheck(DoctorCheck.CONFLICTS),
            IdCheck(DoctorCheck.CLOCK),
        ]

    def checks_after_rows(self) -> list[IdCheck]:
        """Checks that run after the row checks. Their repairs write index rows and queue jobs, so
        missing vectors and stuck jobs are looked for when the index and the queue are final."""
        return [
            IdCheck(DoctorCheck.MISSING_VECTORS, self._queue_vectors),
            IdCheck(DoctorCheck.STUCK_JOBS, self._retry_jobs),
        ]

    def _unindex(self, tx: Tx, _order: DoctorOrder, ids: Sequence[str]) -> int:
        for memory_id in ids:
            self.repairer.unindex(tx, MemoryId(memory_id))
        return len(ids)

    def _delete_edges(self, tx: Tx, _order: DoctorOrder, ids: Sequence[str]) -> int:
        return self.stores.doctor.delete_edges(tx, ids)

    def _queue_vectors(self, tx: Tx, _order: DoctorOrder, ids: Sequence[str]) -> int:
        waiting = self.stores.doctor.mark_pending(tx, ids)
        self.indexer.queue_job(tx)
        return waiting

    def _retry_jobs(self, tx: Tx, order: DoctorOrder, ids: Sequence[str]) -> int:
        """Give stuck jobs new attempts, and a new job to erasures that have none. An erasure that
        is reported because it finds traces again and again can't be repaired here."""
        now = order.context.now
        lost = self.stores.doctor.lost_erasures(tx, ids)
        for erasure_id in lost:
            job = NewJob(ERASE_JOB, {"erasure_id": erasure_id}, now, f"{ERASE_JOB}:{erasure_id}")
            self.stores.jobs.insert(tx, job)
        return self.stores.doctor.retry_jobs(tx, ids, at=now) + len(lost)

    def _archive_memories(self, tx: Tx, order: DoctorOrder, ids: Sequence[str]) -> int:
        """Archive the memories, as removing their agent would have done."""
        locked = self.repairer.lock_rows(tx, ids)
        reason = ArchiveReason.AGENT_REMOVED
        for stored in locked:
            after = replace(stored.memory, status=MemoryStatus.ARCHIVED, archive_reason=reason)
            payload = {"fields": ["archive_reason", "status"], "reason": str(reason)}
            self.repairer.update(tx, order, stored, after, **payload)
        return len(locked)
