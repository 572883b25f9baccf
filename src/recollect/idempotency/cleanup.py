"""The job that deletes expired idempotency keys and their recorded answers."""

from collections.abc import Mapping
from datetime import timedelta

from recollect.db.context import ServiceContext
from recollect.idempotency.ports import IdempotencyStores
from recollect.idempotency.service import KEY_LIFETIME
from recollect.jobs.model import Job, JobHandler, NewJob

IDEMPOTENCY_EXPIRY = "idempotency_expiry"
_EVERY = timedelta(hours=1)
_ROWS_PER_TRANSACTION = 500


class IdempotencyJobs:
    """One job, which queues itself again every hour."""

    def __init__(self, context: ServiceContext[IdempotencyStores]) -> None:
        self._database = context.database
        self._stores = context.stores
        self._runtime = context.runtime

    def handlers(self) -> Mapping[str, JobHandler]:
        """The handler by job type."""
        return {IDEMPOTENCY_EXPIRY: self.delete_expired}

    async def schedule(self) -> None:
        """Queue the job, unless it is queued already. Safe to call on many nodes."""
        await self._database.write(lambda tx: self._stores.jobs.insert(tx, self._next_job(_EVERY)))

    async def delete_expired(self, _: Job) -> NewJob:
        """Delete keys older than a day in small transactions; returns the next hour's job."""
        cutoff = self._runtime.clock.now() - KEY_LIFETIME
        removed = _ROWS_PER_TRANSACTION
        while removed == _ROWS_PER_TRANSACTION:
            removed = await self._database.write(
                lambda tx: self._stores.idempotency.delete_before(
                    tx, cutoff, limit=_ROWS_PER_TRANSACTION
                )
            )
        return self._next_job(_EVERY)

    def _next_job(self, delay: timedelta) -> NewJob:
        due_at = self._runtime.clock.now() + delay
        return NewJob(IDEMPOTENCY_EXPIRY, {}, due_at, IDEMPOTENCY_EXPIRY)
