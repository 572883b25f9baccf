"""Builders for the worker's tests."""

import asyncio
import threading
from collections.abc import Callable, Mapping
from typing import Any

from recollect.app.stores import Stores
from recollect.db.context import ServiceContext
from recollect.db.transaction import Database
from recollect.doctor.health import StatusService
from recollect.jobs.model import Job, JobHandler, NewJob
from recollect.jobs.worker import Worker
from tests.support.clock import TestClock
from tests.support.storage import WAIT_SECONDS, Storage

KIND = "kind"


class JobQueue:
    """A queue, its clock, and workers made to order."""

    def __init__(self, storage: Storage, clock: TestClock) -> None:
        self.storage = storage
        self.clock = clock

    def clear(self) -> None:
        """Empty the queue."""
        self.storage.database.rows("DELETE FROM tasks")
        self.storage.metrics.jobs.clear()
        self.storage.metrics.queues.clear()

    def queue(self, count: int = 1) -> None:
        """Queue jobs that are due now, numbered from 0."""
        for number in range(count):
            job = NewJob(KIND, {"number": number}, self.clock.now())
            self.storage.do(self.storage.stores.jobs.insert, job)

    def worker(self, handler: JobHandler, **options: Any) -> Worker:
        """A worker for one kind of job."""
        return self.worker_of({KIND: handler}, **options)

    def worker_of(
        self,
        handlers: Mapping[str, JobHandler],
        *,
        database: Database | None = None,
        stores: Stores | None = None,
        attempts_max: int = 3,
        lease_seconds: int = 60,
    ) -> Worker:
        """A worker for many kinds of jobs."""
        storage = self.storage
        return Worker(
            ServiceContext(database or storage.engine, stores or storage.stores, storage.runtime),
            storage.metrics,
            handlers,
            attempts_max=attempts_max,
            lease_seconds=lease_seconds,
            poll_seconds=0.01,
        )

    def work(self, worker: Worker) -> int:
        """Run what is due, once."""
        return self.storage.run(worker.run_due())

    def status(self) -> StatusService:
        """What doctor and metrics look through."""
        storage = self.storage
        return StatusService(
            storage.context,
            storage.metrics,
            version="test",
            engine=storage.engine,
        )

    def rows(self, columns: str) -> list[tuple[Any, ...]]:
        """The queue as it is stored."""
        return self.storage.database.rows(f"SELECT {columns} FROM tasks ORDER BY id")


class Recorder:
    """A handler that keeps the numbers of its jobs, and fails as told."""

    def __init__(self, *failures: Exception) -> None:
        self.numbers: list[int] = []
        self._failures = list(failures)

    async def __call__(self, job: Job) -> None:
        """Run one job."""
        self.numbers.append(job.body["number"])
        if self._failures:
            raise self._failures.pop(0)


class Gate:
    """A handler that waits inside its first job until the test lets it go on."""

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.inside = threading.Event()
        self._go_on = threading.Event()

    async def __call__(self, job: Job) -> None:
        """Run one job."""
        self.numbers.append(job.body["number"])
        if len(self.numbers) == 1:
            self.inside.set()
            assert await asyncio.to_thread(self._go_on.wait, WAIT_SECONDS)

    def wait(self) -> None:
        """Return when the first job is at hand."""
        assert self.inside.wait(WAIT_SECONDS)

    def open(self) -> None:
        """Let it go on."""
        self._go_on.set()


def wait_until(true: Callable[[], bool]) -> None:
    """Look again and again, for a bounded time: a thread of the engine makes it true."""
    pause = threading.Event()
    for _ in range(WAIT_SECONDS * 50):
        if true():
            return
        pause.wait(0.02)
    raise AssertionError("it never became true")
