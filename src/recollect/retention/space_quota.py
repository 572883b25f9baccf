"""The quota of active memories a space (`memory.max_entries`): the least needed are archived.

The quota is soft. Writes are never refused for it; each gc archives what is over.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from recollect.audit.memory_recorder import MemoryAudit
from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.kernel.owner import Owner
from recollect.memories.cleanup_rules import can_evict
from recollect.memories.model import (
    ArchiveReason,
    CleanupRow,
    MemoryStatus,
    VersionChange,
)
from recollect.memories.store.bulk import OverQuotaSpace
from recollect.memories.usage import UsageTracker
from recollect.retention.batch_delete import (
    CleanupDecision,
    CleanupPlan,
    CleanupRun,
    CleanupRunner,
)
from recollect.retention.cleanup_audit import CleanupAudit, CleanupOrder
from recollect.retention.store_bundle import RetentionStores

_ROWS_PER_TRANSACTION = 100


class SpaceQuota:
    """Handles each space on its own: a full space never evicts rows of another."""

    def __init__(
        self,
        context: ServiceContext[RetentionStores],
        audit: MemoryAudit,
        *,
        usage: UsageTracker,
        max_entries: int | None,
    ) -> None:
        self._database = context.database
        self._stores = context.stores
        self._audit = audit
        self._usage = usage
        self._max_entries = max_entries
        self._runner = CleanupRunner(context)

    async def evict(self, order: CleanupOrder, now: datetime) -> int:
        """Archive what is over quota in every space; returns how many rows, or would be.

        Uses that are still in memory are written first: the order of eviction depends on when a
        row was last shown.
        """
        max_entries = self._max_entries
        if max_entries is None:
            return 0
        await self._usage.flush()
        spaces = await self._database.scan(
            lambda tx: self._stores.memory_bulk.spaces_over_quota(tx, most=max_entries, now=now)
        )
        return sum(
            [
                await self._evict_over_quota(order, space, space.count - max_entries, now)
                for space in spaces
            ]
        )

    async def _evict_over_quota(
        self, order: CleanupOrder, space: OverQuotaSpace, over: int, now: datetime
    ) -> int:
        """Archive up to `over` rows of one space.

        There may be fewer candidates: rows younger than a week and rows under a retention policy
        are exempt. The audit event then says how many rows stay over quota (`shortfall`). It is
        written even if nothing can be archived, so that a space which stays too full is noticed.
        """
        rows = await self._database.scan(
            lambda tx: self._stores.memory_bulk.eviction_candidates(
                tx, space.space, now=now, limit=over
            )
        )
        if order.dry_run:
            return len(rows)
        payload = {"shortfall": over - len(rows)}
        audit = CleanupAudit(self._audit, self._stores, "memory.evict", order, payload, space.space)
        if not rows:
            await self._database.write(lambda tx: audit.record_batch(tx, 0))
            return 0
        return await self._archive_rows(rows, order.actor, audit, now)

    async def _archive_rows(
        self, rows: Sequence[CleanupRow], by: Owner, audit: CleanupAudit, now: datetime
    ) -> int:
        # SQL has ordered and limited the rows, so no scan is needed. The runner still locks each
        # batch and checks it again: a row that was used or changed meanwhile may be exempt now.
        plan = CleanupPlan()
        for row in rows:
            plan.add_row(row, CleanupDecision("evicted"))
        run = CleanupRun(
            plan,
            lambda row: CleanupDecision("evicted") if can_evict(row, now) else None,
            lambda tx, locked: sum(self._archive_row(tx, row, by, now) for row in locked),
            _ROWS_PER_TRANSACTION,
        )
        done = await self._runner.execute_run(run, record_batch=audit.record_batch, event_id=None)
        return done.count

    def _archive_row(self, tx: Tx, row: CleanupRow, by: Owner, now: datetime) -> bool:
        before = self._stores.memories.fetch(tx, row.id)
        if before is None:
            return False
        after = replace(
            before.memory,
            status=MemoryStatus.ARCHIVED,
            archive_reason=ArchiveReason.EVICTED,
            version=before.memory.version + 1,
            updated_at=now,
        )
        self._stores.memories.update(tx, before, after, change=VersionChange.UPDATED, by=by, at=now)
        return True
