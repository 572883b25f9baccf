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
from recollect.identity.requester import Requester
from recollect.kernel.retention_rules import MemoryScope
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
from recollect.retention.commands import ExpireMemories, TidyMemories, VacuumMemories
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
        self._runner = CleanupRunner(context)

    async def expire(
        self, command: ExpireMemories, requester: Requester | None = None
    ) -> ExpireResult:
        """Delete everything that has expired, without a grace period and without a backup."""
        order = CleanupOrder.for_command(command, requester)
        now = self._runtime.clock.now()
        scan = self._expired_scan(
            now, command.scope, lambda row: CleanupDecision(deletion_rule(row, now))
        )
        plan = await self._runner.make_plan(scan)
        audit = self._cleanup_audit("memory.expire", order, plan)
        (deleted,) = await self._run_batches(
            audit, CleanupRun(plan, scan.judge, self._delete_action(now))
        )
        return ExpireResult(deleted, plan.count, dict(plan.by_rule))

    async def vacuum(
        self, command: VacuumMemories, requester: Requester | None = None
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
        order = CleanupOrder.for_command(command, requester)
        now = self._runtime.clock.now()
        cutoff = days_before(now, command.older_than_days)
        purge, vacuum = self._purge_rule(now), self._vacuum_rule(now, cutoff)
        # `vacuum` leaves out what `purge` selects: no row is planned twice.
        plan = await self._runner.make_plan(
            self._expired_scan(now, command.scope, purge),
            self._old_records_scan(cutoff, command.scope, vacuum),
        )
        backup = None if order.dry_run else await self._backup.write(plan, now)
        # The event has the file name only: paths of the server are not for readers of the log.
        details = {"skipped_count": plan.skipped, "backup": backup and PurePath(backup).name}
        audit = self._cleanup_audit("memory.vacuum", order, plan, **details)
        run = CleanupRun(plan, lambda row: purge(row) or vacuum(row), self._delete_action(now))
        (deleted,) = await self._run_batches(audit, run)
        return VacuumResult(
            deleted_count=deleted,
            would_delete_count=plan.count,
            skipped_count=plan.skipped,
            cutoff=cutoff,
            backup=backup,
        )

    async def gc(self, command: TidyMemories, requester: Requester | None = None) -> CleanupResult:
        """Purge what expired longer ago than its grace period, compact, evict over quota.

        Eviction comes last although reports list it second: what it archives must not be compacted
        in the same round, even with `older_than_days` 0.
        """
        order = CleanupOrder.for_command(command, requester)
        now = self._runtime.clock.now()
        scan = self._expired_scan(now, None, self._purge_rule(now))
        purge = CleanupRun(await self._runner.make_plan(scan), scan.judge, self._delete_action(now))
        compact = await self._plan_compaction(order, now, command.older_than_days)
        audit = self._cleanup_audit("memory.gc", order, purge.plan, compact.plan)
        purged, compacted = await self._run_batches(audit, purge, compact)
        if order.dry_run:
            purged, compacted = purge.plan.count, compact.plan.count
        evicted = await self._quota.evict(order, now)
        return CleanupResult({"purge": purged, "evict": evicted, "compact": compacted})

    async def compact(
        self, command: TidyMemories, requester: Requester | None = None
    ) -> CleanupResult:
        """Remove the text of memories that were superseded or archived long enough ago."""
        order = CleanupOrder.for_command(command, requester)
        now = self._runtime.clock.now()
        run = await self._plan_compaction(order, now, command.older_than_days)
        audit = self._cleanup_audit("memory.gc", order, run.plan)
        (compacted,) = await self._run_batches(audit, run)
        return CleanupResult({"compact": run.plan.count if order.dry_run else compacted})

    async def _plan_compaction(
        self, order: CleanupOrder, now: datetime, older_than_days: int | None
    ) -> CleanupRun:
        days = self._archive_days if older_than_days is None else older_than_days
        scan = self._compaction.candidate_scan(now, days_before(now, days))
        plan = await self._runner.make_plan(scan)
        act = self._compaction.batch_action(order.actor, now)
        return CleanupRun(plan, scan.judge, act, COMPACTED_PER_TRANSACTION)

    async def _run_batches(self, audit: CleanupAudit, *runs: CleanupRun) -> list[int]:
        """Execute the runs one after the other under one audit event; returns the count of each.

        A dry run executes nothing. If no batch wrote the event and a requester gave the order, it
        is written here, with the planned count.
        """
        counts, event_id = [0] * len(runs), None
        if not audit.order.dry_run:
            for index, run in enumerate(runs):
                done = await self._runner.execute_run(
                    run, record_batch=audit.record_batch, event_id=event_id
                )
                counts[index], event_id = done.count, done.event_id
        if event_id is None and audit.order.requester is not None:
            planned = sum(run.plan.count for run in runs)
            await self._database.write(lambda tx: audit.record_batch(tx, planned))
        return counts

    def _cleanup_audit(
        self, event_type: str, order: CleanupOrder, *plans: CleanupPlan, **more: Any
    ) -> CleanupAudit:
        by_rule = sum((plan.by_rule for plan in plans), Counter[str]())
        payload = {"by_rule": dict(by_rule), **more}
        return CleanupAudit(self._audit, self._stores, event_type, order, payload)

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
            outcome = vacuum_outcome(row, rules, now, cutoff=cutoff)
            if is_purgeable(row, rules, now) or outcome is VacuumOutcome.KEPT:
                return None
            return CleanupDecision(deletion_rule(row, now), goes=outcome is VacuumOutcome.REMOVED)

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
