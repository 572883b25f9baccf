"""The worker: claims due jobs under a lease, runs their handlers, and records failures.

A finished job is deleted in the same transaction that queues its successor. The jobs of a worker
that dies stay leased; when the lease ends another worker takes them, so handlers are idempotent.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext

import structlog

from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.jobs.model import Job, JobHandler, NewJob, backoff_delay
from recollect.jobs.ports import JobStores
from recollect.kernel.errors import RecollectError, Unavailable
from recollect.observability.metrics import Metrics

_CLAIM_MAX = 16
_log = structlog.get_logger("recollect.worker")


class Worker:
    """Runs jobs one after the other until it is stopped; then it finishes the current one."""

    def __init__(
        self,
        context: ServiceContext[JobStores],
        metrics: Metrics,
        handlers: Mapping[str, JobHandler],
        *,
        attempts_max: int,
        lease_seconds: int,
        poll_seconds: float,
    ) -> None:
        self._database = context.database
        self._stores = context.stores
        self._runtime = context.runtime
        self._metrics = metrics
        self._handlers = handlers
        self._attempts_max = attempts_max
        self._lease_seconds = lease_seconds
        self._poll_seconds = poll_seconds

    async def run(self, stop: asyncio.Event) -> None:
        """Run due jobs; when there are none, or the queue can't be read, poll after a pause."""
        while not stop.is_set():
            count = 0
            try:
                count = await self._run_claimed_jobs(stop)
            except RecollectError as error:
                _log.warning("the queue can't be read now", error=type(error).__name__)
            if not count:
                await _wait_or_stop(stop, self._poll_seconds)

    async def run_due(self, stop: asyncio.Event | None = None) -> int:
        """Run a batch of the jobs that are due now, or until `stop`; returns how many there
        were."""
        return await self._run_claimed_jobs(stop or asyncio.Event())

    async def _run_claimed_jobs(self, stop: asyncio.Event) -> int:
        """Claim a batch of due jobs and run them; after `stop` the rest is returned to the queue.

        `leased` is shared with the task that renews the leases. It removes jobs whose lease was
        lost, and those are skipped: another worker runs them. A job that loses its lease while it
        runs is not interrupted. It may then run twice, but what it stores at its end names the
        claim, so only the worker that has the job now can finish or fail it.
        """
        claim_id = self._runtime.ids.new()
        jobs = await self._database.write(
            lambda tx: self._stores.jobs.claim(
                tx,
                types=sorted(self._handlers),
                claim_id=claim_id,
                lease_seconds=self._lease_seconds,
                limit=_CLAIM_MAX,
            )
        )
        leased = {job.id for job in jobs}
        renewal = asyncio.create_task(self._renew_leases(leased, claim_id))
        try:
            for job in jobs:
                if job.id in leased:
                    await (self._release_job if stop.is_set() else self._run_job)(job, claim_id)
                    leased.discard(job.id)
        finally:
            renewal.cancel()
        return len(jobs)

    async def _release_job(self, job: Job, claim_id: str) -> None:
        now = self._runtime.clock.now()
        await self._database.write(
            lambda tx: self._stores.jobs.release(tx, job.id, claim_id=claim_id, retry_at=now)
        )

    async def _run_job(self, job: Job, claim_id: str) -> None:
        tracer = self._metrics.tracer
        with nullcontext() if tracer is None else tracer.run_job(job.type, job.attempt):
            await self._run_handler(job, claim_id)

    async def _run_handler(self, job: Job, claim_id: str) -> None:
        started = time.perf_counter()
        try:
            successor = await self._handlers[job.type](job)
        except Exception as error:  # noqa: BLE001 - outermost frame of a job: it is kept and retried
            # If the database is down too, this raises; the job is retried when its lease ends.
            await self._fail(job, claim_id, error)
            outcome = "stuck" if self._should_give_up(job, error) else "retry"
        else:
            await self._database.write(lambda tx: self._finish(tx, job, claim_id, successor))
            outcome = "done"
        self._metrics.record_job(job.type, outcome, time.perf_counter() - started)

    async def _renew_leases(self, leased: set[str], claim_id: str) -> None:
        """Renew the leases of the current job and of those that wait behind it, for ever.

        Short leases with renewals, not leases as long as the longest job: then the jobs of a worker
        that died come back soon, however long other jobs run. A job that another worker has taken
        meanwhile is removed from `leased`. A renewal that fails is tried again after a third of the
        lease, so a short outage costs no lease.
        """
        while True:
            await asyncio.sleep(self._lease_seconds / 3)
            try:
                leased &= await self._database.write(self._renewal_work(tuple(leased), claim_id))
            except RecollectError as error:
                _log.warning("leases not renewed", error=type(error).__name__)

    def _renewal_work(self, job_ids: Sequence[str], claim_id: str) -> Callable[[Tx], set[str]]:
        renew, lease = self._stores.jobs.renew, self._lease_seconds
        return lambda tx: {
            id_ for id_ in job_ids if renew(tx, id_, claim_id=claim_id, lease_seconds=lease)
        }

    def _finish(self, tx: Tx, job: Job, claim_id: str, successor: NewJob | None) -> None:
        self._stores.jobs.finish(tx, job.id, claim_id=claim_id)
        if successor is not None:
            self._stores.jobs.insert(tx, successor)

    def _should_give_up(self, job: Job, error: Exception) -> bool:
        """Has the job used up its attempts? Not during an outage of another system: when that is
        over, jobs must go on without an operator."""
        return job.attempt >= self._attempts_max and not isinstance(error, Unavailable)

    async def _fail(self, job: Job, claim_id: str, error: Exception) -> None:
        stuck = self._should_give_up(job, error)
        outage = isinstance(error, Unavailable)
        _log_failure(job, error, outage=outage)
        pause = backoff_delay(job.attempt, outage=outage)
        retry_at = self._runtime.clock.now() + pause
        await self._database.write(
            lambda tx: self._stores.jobs.fail(
                tx,
                job.id,
                claim_id=claim_id,
                error=_describe_error(error),
                retry_at=retry_at,
                stuck=stuck,
            )
        )


def _log_failure(job: Job, error: Exception, *, outage: bool) -> None:
    """Log a failure. An outage of another system is one warning without a traceback."""
    facts = {"job": job.id, "type": job.type, "attempt": job.attempt}
    if outage:
        _log.warning("job postponed", reason=_describe_error(error), **facts)
    else:
        _log.error("job failed", exc_info=error, **facts)


async def _wait_or_stop(stop: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(stop.wait(), seconds)
    except TimeoutError:
        return


def _describe_error(error: Exception) -> str:
    """The error for the queue and the log. Our own messages contain no user content; of other
    exceptions only the class is shown."""
    if isinstance(error, RecollectError):
        return f"{type(error).__name__}: {error.message}"
    return type(error).__name__
