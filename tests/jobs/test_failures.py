"""A job that fails is tried again after a while, a bounded number of times, and stays visible."""

import pytest

from recollect.jobs.model import Job, NewJob
from recollect.kernel.errors import Internal, Unavailable
from tests.support.job_queue import KIND, JobQueue, Recorder


def test_a_failed_job_waits_longer_each_time(job_queue: JobQueue) -> None:
    job_queue.queue()
    handler = Recorder(*[ValueError()] * 4)
    worker = job_queue.worker(handler, attempts_max=10)
    with job_queue.clock.hold():
        for waits in (2, 4, 8, 16):
            assert job_queue.work(worker) == 1
            job_queue.clock.advance(seconds=waits - 0.000_001)
            assert job_queue.work(worker) == 0
            job_queue.clock.advance(microseconds=1)
        assert job_queue.work(worker) == 1
    assert handler.numbers == [0] * 5
    assert job_queue.rows("id") == []
    assert job_queue.storage.metrics.jobs == [(KIND, "retry")] * 4 + [(KIND, "done")]


def test_after_the_last_attempt_a_job_is_stuck_and_seen(job_queue: JobQueue) -> None:
    job_queue.queue()
    handler = Recorder(*[ValueError()] * 10)
    worker = job_queue.worker(handler, attempts_max=3)
    for _ in range(6):
        job_queue.work(worker)
        job_queue.clock.advance(hours=2)
    assert handler.numbers == [0] * 3
    assert job_queue.storage.metrics.jobs == [(KIND, "retry")] * 2 + [(KIND, "stuck")]
    report = job_queue.storage.run(job_queue.status().examine())
    assert report.problems == report.queue.stuck == 1
    job_queue.storage.run(job_queue.status().measure_queue())
    assert job_queue.storage.metrics.queues == [(0, 1)]


def test_a_stuck_job_holds_up_no_other(job_queue: JobQueue) -> None:
    job_queue.queue(2)
    handler = Recorder(ValueError())
    assert job_queue.work(job_queue.worker(handler, attempts_max=1)) == 2
    assert handler.numbers == [0, 1]
    assert len(job_queue.rows("id")) == 1


@pytest.mark.parametrize(
    ("error", "kept"),
    [
        (ValueError("the text of a message"), "ValueError"),
        (KeyError("the text of a message"), "KeyError"),
        (Unavailable("the database does not answer"), "Unavailable: the database does not answer"),
        (Internal("a broken row"), "Internal: a broken row"),
    ],
)
def test_the_kept_error_holds_no_content(job_queue: JobQueue, error: Exception, kept: str) -> None:
    job_queue.queue()
    job_queue.work(job_queue.worker(Recorder(error)))
    assert job_queue.rows("last_error") == [(kept,)]


def test_a_job_and_its_successor_change_places_at_once(job_queue: JobQueue) -> None:
    later = job_queue.clock.advance(hours=1)

    async def handler(_: Job) -> NewJob:
        return NewJob(KIND, {"number": 7}, later, "named")

    job_queue.storage.do(
        job_queue.storage.stores.jobs.insert,
        NewJob(KIND, {"number": 0}, job_queue.clock.now(), "named"),
    )
    assert job_queue.work(job_queue.worker(handler)) == 1
    assert job_queue.rows("task_name, retry_count") == [("named", 0)]
