"""Cleanup jobs: gc when a server starts, gc and vacuum at regular intervals."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.jobs.model import Job, JobHandler, NewJob
from recollect.kernel.retention_rules import VacuumRules
from recollect.retention.cleanup_service import CleanupService
from recollect.retention.commands import TidyMemories, VacuumMemories
from recollect.retention.store_bundle import RetentionStores

MEMORY_GC = "memory_gc"
MEMORY_VACUUM = "memory_vacuum"


@dataclass(frozen=True, slots=True)
class CleanupSchedule:
    """Which cleanup jobs are enabled, and their intervals."""

    auto_gc: bool
    gc_every: timedelta
    vacuum: VacuumRules


class CleanupJobs:
    """Each job queues its successor. A job that was disabled ends at its next turn."""

    def __init__(
        self,
        context: ServiceContext[RetentionStores],
        service: CleanupService,
        schedule: CleanupSchedule,
    ) -> None:
        self._database = context.database
        self._stores = context.stores
        self._runtime = context.runtime
        self._service = service
        self._schedule = schedule

    def handlers(self) -> Mapping[str, JobHandler]:
        return {MEMORY_GC: self.run_gc, MEMORY_VACUUM: self.run_vacuum}

    async def schedule(self) -> None:
        """Queue a gc for now and the regular jobs. Job names are unique: nodes that start together
        queue each job once."""
        jobs: list[NewJob] = []
        if self._schedule.auto_gc:
            at_once = NewJob(
                MEMORY_GC, {"again": False}, self._runtime.clock.now(), f"{MEMORY_GC}:start"
            )
            jobs += [at_once, self._next_gc()]
        if self._schedule.vacuum.enabled:
            jobs.append(self._next_vacuum())

        def work(tx: Tx) -> None:
            for job in jobs:
                self._stores.jobs.insert(tx, job)

        await self._database.write(work)

    async def run_gc(self, job: Job) -> NewJob | None:
        if not self._schedule.auto_gc:
            return None
        await self._service.gc(TidyMemories(dry_run=False))
        # The extra gc of a server start has no successor; the regular one runs beside it.
        return self._next_gc() if job.body["again"] else None

    async def run_vacuum(self, _: Job) -> NewJob | None:
        """Run one vacuum for each scope, with the age that the retention file has for it."""
        rules = self._schedule.vacuum
        if not rules.enabled:
            return None
        for scope, days in rules.after_days.items():
            await self._service.vacuum(
                VacuumMemories(scope=scope, older_than_days=days, dry_run=False)
            )
        return self._next_vacuum()

    def _next_gc(self) -> NewJob:
        return self._delayed_job(MEMORY_GC, self._schedule.gc_every)

    def _next_vacuum(self) -> NewJob:
        return self._delayed_job(
            MEMORY_VACUUM, timedelta(hours=self._schedule.vacuum.interval_hours)
        )

    def _delayed_job(self, type_: str, delay: timedelta) -> NewJob:
        return NewJob(type_, {"again": True}, self._runtime.clock.now() + delay, type_)
