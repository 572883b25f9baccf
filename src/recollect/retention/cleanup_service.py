"""Cleanup of memories: expire, vacuum, gc, compact.

Each use case makes a plan and executes it; a dry run stops after the plan. Runs of the server's own
jobs write no audit event if there was nothing to do; orders of an admin always do.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath
from typing import Any

from recollect.audit.memory_recorder import MemoryAudit
from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.kernel.retention_rules import (
    VACUUM_DAYS,
    MemoryScope,
)
from recollect.memories.cleanup_rules import (
    VacuumOutcome,
    days_before,
    deletion_rule,
    is_purgeable,
    vacuum_outcome,
)
from recollect.memories.model import CleanupRow
from recollect.retention.backup import VacuumBackup
from recollect.retention.batch_delete import (
    BatchAction,
    CandidateScan,
    CleanupDecision,
    CleanupPlan,
    CleanupRun,
    CleanupRunner,
    RowRule,
)
from recollect.retention.cleanup_audit import CleanupAudit, CleanupOrder
from recollect.retention.compaction import (
    ROWS_PER_TRANSACTION as COMPACTED_PER_TRANSACTION,
)
from recollect.retention.compaction import Compaction
from recollect.retention.space_quota import SpaceQuota
from recollect.retention.store_bundle import RetentionStores


@dataclass(frozen=True, slots=True)
class ExpireResult:
    """What was deleted because it had expired, by rule."""

    deleted_count: int
    would_delete_count: int
    by_rule: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class VacuumResult:
    """What a vacuum did or would do. `backup` is the path of the file with the deleted rows."""

    deleted_count: int
    would_delete_count: int
    skipped_count: int
    cutoff: datetime
    backup: str | None


@dataclass(frozen=True, slots=True)
class CleanupResult:
    """How many rows each step changed or would change."""

    by_step: Mapping[str, int]

    @property
    def count(self) -> int:
        """The sum of all steps."""
        return sum(self.by_step.values())


class CleanupService:
    """Handles rows of all spaces: its callers are admins and the server's own jobs."""

    def __init__(
        self,
        context: ServiceContext[RetentionStores],
        audit: MemoryAudit,
        *,
        archive_days: int,
        quota: SpaceQuota,
        compaction: Compaction,
        backup: VacuumBackup,
    ) -> None:
        self._database = context.database
        self._stores = context.stores
        self._runtime = context.runtime
        self._audit = audit
        self._rules = context.rules
        self._archive_days = archive_days
        self._quota = quota
        self._compaction = compaction
        self._backup = backup
        self._sweeper = CleanupRunner(context)

    async def expire(
        self, commission: CleanupOrder, *, scope: MemoryScope | None = None
    ) -> ExpireResult:
        """Delete everything that has expired, without a grace period and without a backup."""
        now = self._runtime.clock.now()
        walk = self._expired_scan(now, scope, lambda row: CleanupDecision(deletion_rule(row, now)))
        plan = await self._sweeper.make_plan(walk)
        telling = self._cleanup_audit("memory.expire", commission, plan)
        (deleted,) = await self._run_batches(
            telling, CleanupRun(plan, walk.judge, self._delete_action(now))
        )
        return ExpireResult(deleted, plan.count, dict(plan.by_rule))

    async def vacuum(
        self,
        commission: CleanupOrder,
        *,
        scope: MemoryScope | None = None,
        older_than_days: int = VACUUM_DAYS,
    ) -> VacuumResult:
        """Delete what expired longer ago than its grace period, and records that are too old.

        The order is the safety: plan, write the backup of all planned rows, then delete. If the
        backup can't be written, Unavailable is raised and nothing is deleted. Execution judges each
        row again under its lock and deletes it only in the planned version, so nothing is deleted
        that is not in the backup.

        Two scans feed one plan. The second selects old records, except those that the first has
        selected already (an expired old record would be counted twice). At execution both rules are
        asked, because the plan no longer says which of them selected a row.
        """
        now = self._runtime.clock.now()
        cutoff = days_before(now, older_than_days)
        judge = self._vacuum_rule(now, cutoff)
        # `judge` leaves out what the first scan selects: no row is planned twice.
        due, old = (
            self._expired_scan(now, scope, self._purge_rule(now)),
            self._old_records_scan(cutoff, scope, judge),
        )
        plan = await self._sweeper.make_plan(due, old)
        backup = None if commission.dry_run else await self._backup.write(plan, now)
        # The event has the file name only: paths of the server are not for readers of the log.
        kept = {"skipped_count": plan.skipped, "backup": backup and PurePath(backup).name}
        telling = self._cleanup_audit("memory.vacuum", commission, plan, **kept)
        purging = self._purge_rule(now)
        sweep = CleanupRun(plan, lambda row: purging(row) or judge(row), self._delete_action(now))
        (deleted,) = await self._run_batches(telling, sweep)
        return VacuumResult(
            deleted_count=deleted,
            would_delete_count=plan.count,
            skipped_count=plan.skipped,
            cutoff=cutoff,
            backup=backup,
        )

    async def gc(
        self, commission: CleanupOrder, *, older_than_days: int | None = None
    ) -> CleanupResult:
        """Purge what expired longer ago than its grace period, compact, evict over quota.

        Eviction comes last although reports list it second: what it archives must not be compacted
        in the same round, even with `older_than_days` 0.
        """
        now = self._runtime.clock.now()
        walk = self._expired_scan(now, None, self._purge_rule(now))
        purge = CleanupRun(
            await self._sweeper.make_plan(walk), walk.judge, self._delete_action(now)
        )
        compact = await self._plan_compaction(commission, now, older_than_days)
        telling = self._cleanup_audit("memory.gc", commission, purge.plan, compact.plan)
        purged, compacted = await self._run_batches(telling, purge, compact)
        if commission.dry_run:
            purged, compacted = purge.plan.count, compact.plan.count
        evicted = await self._quota.evict(commission, now)
        return CleanupResult({"purge": purged, "evict": evicted, "compact": compacted})

    async def compact(
        self, commission: CleanupOrder, *, older_than_days: int | None = None
    ) -> CleanupResult:
        """Remove the text of memories that were superseded or archived long enough ago."""
        now = self._runtime.clock.now()
        sweep = await self._plan_compaction(commission, now, older_than_days)
        telling = self._cleanup_audit("memory.gc", commission, sweep.plan)
        (compacted,) = await self._run_batches(telling, sweep)
        return CleanupResult({"compact": sweep.plan.count if commission.dry_run else compacted})

    async def _plan_compaction(
        self, commission: CleanupOrder, now: datetime, older_than_days: int | None
    ) -> CleanupRun:
        days = self._archive_days if older_than_days is None else older_than_days
        walk = self._compaction.candidate_scan(now, days_before(now, days))
        plan = await self._sweeper.make_plan(walk)
        act = self._compaction.batch_action(commission.actor, now)
        return CleanupRun(plan, walk.judge, act, COMPACTED_PER_TRANSACTION)

    async def _run_batches(self, telling: CleanupAudit, *sweeps: CleanupRun) -> list[int]:
        """Execute the runs one after the other under one audit event; returns the count of each.

        A dry run executes nothing. If no batch wrote the event and a requester gave the order, it
        is written here, with the planned count.
        """
        order = telling.commission
        counts, event_id = [0] * len(sweeps), None
        if not order.dry_run:
            for at, sweep in enumerate(sweeps):
                swept = await self._sweeper.execute_run(
                    sweep, tell=telling.record_batch, event_id=event_id
                )
                counts[at], event_id = swept.count, swept.event_id
        if event_id is None and order.requester is not None:
            planned = sum(sweep.plan.count for sweep in sweeps)
            await self._database.write(lambda tx: telling.record_batch(tx, planned))
        return counts

    def _cleanup_audit(
        self, event_type: str, commission: CleanupOrder, *plans: CleanupPlan, **more: Any
    ) -> CleanupAudit:
        by_rule = sum((plan.by_rule for plan in plans), Counter[str]())
        payload = {"by_rule": dict(by_rule), **more}
        return CleanupAudit(self._audit, self._stores, event_type, commission, payload)

    def _delete_action(self, now: datetime) -> BatchAction:
        def work(tx: Tx, rows: list[CleanupRow]) -> int:
            return self._stores.memory_bulk.remove(tx, [row.id for row in rows], at=now)

        return work

    def _purge_rule(self, now: datetime) -> RowRule:
        rules = self._rules
        return lambda row: (
            CleanupDecision(deletion_rule(row, now)) if is_purgeable(row, rules, now) else None
        )

    def _vacuum_rule(self, now: datetime, cutoff: datetime) -> RowRule:
        """Selects old records, except those that the purge rule selects."""
        rules = self._rules

        def judge(row: CleanupRow) -> CleanupDecision | None:
            fate = vacuum_outcome(row, rules, now, cutoff=cutoff)
            if is_purgeable(row, rules, now) or fate is VacuumOutcome.KEPT:
                return None
            return CleanupDecision(deletion_rule(row, now), goes=fate is VacuumOutcome.REMOVED)

        return judge

    def _expired_scan(
        self, now: datetime, scope: MemoryScope | None, judge: RowRule
    ) -> CandidateScan:
        return CandidateScan(
            lambda tx, after, limit: self._stores.memory_bulk.page_expired(
                tx, now=now, scope=scope, after=after, limit=limit
            ),
            lambda row: row.expires_at,
            judge,
        )

    def _old_records_scan(
        self, cutoff: datetime, scope: MemoryScope | None, judge: RowRule
    ) -> CandidateScan:
        return CandidateScan(
            lambda tx, after, limit: self._stores.memory_bulk.page_old_records(
                tx, cutoff=cutoff, scope=scope, after=after, limit=limit
            ),
            lambda row: row.created_at,
            judge,
        )
