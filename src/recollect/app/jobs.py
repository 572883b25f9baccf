"""Builds the background jobs, and the worker that runs them."""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Protocol

from recollect.app.context import AppContext
from recollect.app.memories import build_reconcile_jobs
from recollect.app.retention import build_cleanup_jobs, build_erase_jobs
from recollect.app.search import build_index_jobs, build_memory_index_jobs
from recollect.http.services import Services
from recollect.idempotency.cleanup import IdempotencyJobs
from recollect.jobs.model import JobHandler
from recollect.jobs.worker import Worker
from recollect.retention.cleanup_service import CleanupService
from recollect.retention.maintenance_jobs import MaintenanceJobs
from recollect.search.index_form_jobs import IndexFormJobs
from recollect.search.memories.indexing import MemoryIndexJobs


class HandledJobs(Protocol):
    """Jobs of some types."""

    def handlers(self) -> Mapping[str, JobHandler]:
        """The handlers by job type."""
        ...


def build_vector_worker(context: AppContext, indexing: MemoryIndexJobs) -> Worker:
    """A worker for the vectors of memories, and for what follows from them."""
    return _build_worker(context, (indexing, build_reconcile_jobs(context)))


class BackgroundJobs:
    """All jobs of a process. `indexing` is public: commands start a reindex with it."""

    def __init__(self, context: AppContext, services: Services) -> None:
        settings = context.settings
        reconciling = build_reconcile_jobs(context)
        memory_indexing = build_memory_index_jobs(context)
        self.indexing = build_index_jobs(context, memory_indexing)
        maintenance = MaintenanceJobs(
            context,
            audit_retention=timedelta(days=settings.audit.retention_days),
            transfer_lifetime=timedelta(days=settings.transfers.ttl_days),
            external_index=context.embedding.vector_index,
        )
        idempotency = IdempotencyJobs(context)
        cleanup = build_cleanup_jobs(context, services[CleanupService])
        index_form = IndexFormJobs(context, context.entry_indexer, context.database)
        self._scheduled = (maintenance, self.indexing, index_form, idempotency, cleanup)
        self.worker = _build_worker(
            context, (*self._scheduled, memory_indexing, reconciling, build_erase_jobs(context))
        )

    async def schedule(self) -> None:
        """Queue the periodic jobs that are not queued yet."""
        for jobs in self._scheduled:
            await jobs.schedule()


def _build_worker(context: AppContext, all_jobs: Iterable[HandledJobs]) -> Worker:
    settings = context.settings.jobs
    return Worker(
        context,
        context.metrics,
        {type_: handler for jobs in all_jobs for type_, handler in jobs.handlers().items()},
        attempts_max=settings.attempts_max,
        lease_seconds=settings.lease_seconds,
        poll_seconds=settings.poll_ms / 1000,
    )
