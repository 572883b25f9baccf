"""A job belongs to one worker while its lease lasts, and to another when it is over."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

from recollect.app.stores import Stores
from recollect.db.transaction import Tx
from recollect.kernel.clock import from_text
from recollect.kernel.errors import Unavailable
from tests.support.job_queue import Gate, JobQueue, Recorder, wait_until
from tests.support.storage import WAIT_SECONDS

T = TypeVar("T")
LEASE = 60


def test_a_lease_that_is_over_is_taken_by_another_worker(job_queue: JobQueue) -> None:
    job_queue.queue()
    slow, quick = Gate(), Recorder()
    running = job_queue.storage.begin(job_queue.worker(slow, lease_seconds=LEASE).run_due())
    slow.wait()
    assert job_queue.work(job_queue.worker(quick)) == 0
    job_queue.clock.advance(seconds=LEASE)
    assert job_queue.work(job_queue.worker(quick)) == 1
    slow.open()
    assert running.result(WAIT_SECONDS) == 1
    assert (slow.numbers, quick.numbers) == ([0], [0])
    assert job_queue.rows("id") == []


def test_a_late_failure_does_not_disturb_the_new_holder(job_queue: JobQueue) -> None:
    job_queue.queue()
    first, second = Gate(), Gate()

    async def fails_late(job: Any) -> None:
        await first(job)
        raise ValueError

    losing = job_queue.storage.begin(job_queue.worker(fails_late, lease_seconds=LEASE).run_due())
    first.wait()
    job_queue.clock.advance(seconds=LEASE)
    holding = job_queue.storage.begin(job_queue.worker(second, lease_seconds=LEASE).run_due())
    second.wait()
    first.open()
    losing.result(WAIT_SECONDS)
    assert job_queue.rows("last_error, stuck_at") == [(None, None)]
    second.open()
    holding.result(WAIT_SECONDS)
    assert job_queue.rows("id") == []


def test_a_long_job_keeps_its_lease_and_those_behind_it(job_queue: JobQueue) -> None:
    job_queue.queue(3)
    slow, other = Gate(), Recorder()
    running = job_queue.storage.begin(job_queue.worker(slow, lease_seconds=1).run_due())
    slow.wait()
    claimed = leases(job_queue)
    wait_until(
        lambda: all(now > then for now, then in zip(leases(job_queue), claimed, strict=True))
    )
    wait_until(lambda: job_queue.clock.now() > max(claimed))
    assert job_queue.work(job_queue.worker(other)) == 0
    slow.open()
    assert running.result(WAIT_SECONDS) == 3
    assert (slow.numbers, other.numbers) == ([0, 1, 2], [])


def test_a_job_that_was_taken_away_is_not_run_again(job_queue: JobQueue) -> None:
    job_queue.queue(2)
    slow, other = Gate(), Recorder()
    counted = CountedRenewals(job_queue.storage.stores)
    losing = job_queue.worker(slow, lease_seconds=1, stores=counted.stores)
    running = job_queue.storage.begin(losing.run_due())
    slow.wait()
    job_queue.clock.advance(seconds=LEASE)
    assert job_queue.work(job_queue.worker(other)) == 2
    seen = counted.refused
    wait_until(lambda: counted.refused >= seen + 2)
    slow.open()
    running.result(WAIT_SECONDS)
    assert (slow.numbers, other.numbers) == ([0], [0, 1])


def test_a_worker_that_stops_gives_back_what_it_has_not_begun(job_queue: JobQueue) -> None:
    job_queue.queue(3)
    slow, other = Gate(), Recorder()
    stop = asyncio.Event()
    running = job_queue.storage.begin(job_queue.worker(slow).run(stop))
    slow.wait()
    stop.set()
    slow.open()
    running.result(WAIT_SECONDS)
    assert slow.numbers == [0]
    assert job_queue.rows("retry_count, claim_id") == [(0, None)] * 2
    assert job_queue.work(job_queue.worker(other)) == 2


def test_a_worker_outlives_a_database_that_was_away(job_queue: JobQueue) -> None:
    job_queue.queue()
    handler = Gate()
    stop = asyncio.Event()
    flaky = FlakyDatabase(job_queue.storage.engine, failures=3)
    running = job_queue.storage.begin(job_queue.worker(handler, database=flaky).run(stop))
    handler.wait()
    handler.open()
    wait_until(lambda: job_queue.rows("id") == [])
    stop.set()
    running.result(WAIT_SECONDS)
    assert flaky.failures == 0


def leases(job_queue: JobQueue) -> list[datetime]:
    return [from_text(t) if isinstance(t, str) else t for (t,) in job_queue.rows("retry_at")]


class CountedRenewals:
    """Counts the renewals that were refused."""

    def __init__(self, stores: Stores) -> None:
        self._jobs = stores.jobs
        self.refused = 0
        self.stores = replace(stores, jobs=self)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._jobs, name)

    def renew(self, tx: Tx, job_id: str, **lease: Any) -> bool:
        """As the store, and counted."""
        renewed = self._jobs.renew(tx, job_id, **lease)
        self.refused += not renewed
        return renewed


class FlakyDatabase:
    """Fails the first writes as an engine does whose server is away."""

    def __init__(self, engine: Any, *, failures: int) -> None:
        self._engine = engine
        self.failures = failures

    async def read(self, work: Callable[[Tx], T]) -> T:
        """As the engine."""
        return await self._engine.read(work)  # type: ignore[no-any-return]

    async def write(self, work: Callable[[Tx], T]) -> T:
        """As the engine, when it is back."""
        if self.failures:
            self.failures -= 1
            raise Unavailable("away")
        return await self._engine.write(work)  # type: ignore[no-any-return]

    async def close(self) -> None:
        """The engine is not ours."""
