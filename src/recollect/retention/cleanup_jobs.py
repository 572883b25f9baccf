"""Cleanup jobs: gc when a server starts, gc and vacuum at regular intervals."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.jobs.model import Job, JobHandler, NewJob
from recollect.kernel.retention_rules import VacuumRules
from recollect.retention.cleanup_audit import CleanupOrder
from recollect.retention.cleanup_service import CleanupService
from recollect.retention.store_bundle import RetentionStores

MEMORY_GC = "memory_gc"
MEMORY_VACUUM = "memory_vacuum"
_SERVER_ORDER = CleanupOrder(dry_run=False)


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
        timetable: CleanupSchedule,
    ) -> None:
        self._database = context.database
        self._stores = context.stores
        self._runtime = context.runtime
        self._service = service
        self._timetable = timetable

    def handlers(self) -> Mapping[str, JobHandler]:
        return {MEMORY_GC: self.run_gc, MEMORY_VACUUM: self.run_vacuum}

    async def schedule(self) -> None:
        """Queue a gc for now and the regular jobs. Job names are unique: nodes that start together
        queue each job once."""
        jobs: list[NewJob] = []
        if self._timetable.auto_gc:
            at_once = NewJob(
                MEMORY_GC, {"again": False}, self._runtime.clock.now(), f"{MEMORY_GC}:start"
            )
            jobs += [at_once, self._next_gc()]
        if self._timetable.vacuum.enabled:
            jobs.append(self._next_vacuum())

        def work(tx: Tx) -> None:
            for job in jobs:
                self._stores.jobs.insert(tx, job)

        await self._database.write(work)

    async def run_gc(self, job: Job) -> NewJob | None:
        if not self._timetable.auto_gc:
            return None
        await self._service.gc(_SERVER_ORDER)
        # The extra gc of a server start has no successor; the regular one runs beside it.
        return self._next_gc() if job.body["again"] else None

    async def run_vacuum(self, _: Job) -> NewJob | None:
        """Run one vacuum for each scope, with the age that the retention file has for it."""
        rules = self._timetable.vacuum
        if not rules.enabled:
            return None
        for scope, days in rules.after_days.items():
            await self._service.vacuum(_SERVER_ORDER, scope=scope, older_than_days=days)
        return self._next_vacuum()

    def _next_gc(self) -> NewJob:
        return self._delayed_job(MEMORY_GC, self._timetable.gc_every)

    def _next_vacuum(self) -> NewJob:
        return self._delayed_job(
            MEMORY_VACUUM, timedelta(hours=self._timetable.vacuum.interval_hours)
        )

    def _delayed_job(self, type_: str, delay: timedelta) -> NewJob:
        return NewJob(type_, {"again": True}, self._runtime.clock.now() + delay, type_)
