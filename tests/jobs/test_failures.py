"""A job that fails is tried again after a while, a bounded number of times, and stays visible."""

import pytest

from recollect.jobs.model import Job, NewJob
from recollect.kernel.errors import Internal, Unavailable
from tests.support.job_queue import KIND, Recorder, Workshop


def test_a_failed_job_waits_longer_each_time(shop: Workshop) -> None:
    shop.queue()
    handler = Recorder(*[ValueError()] * 4)
    worker = shop.worker(handler, attempts_max=10)
    with shop.clock.hold():
        for waits in (2, 4, 8, 16):
            assert shop.work(worker) == 1
            shop.clock.advance(seconds=waits - 0.000_001)
            assert shop.work(worker) == 0
            shop.clock.advance(microseconds=1)
        assert shop.work(worker) == 1
    assert handler.numbers == [0] * 5
    assert shop.rows("id") == []
    assert shop.storage.metrics.jobs == [(KIND, "retry")] * 4 + [(KIND, "done")]


def test_after_the_last_attempt_a_job_is_stuck_and_seen(shop: Workshop) -> None:
    shop.queue()
    handler = Recorder(*[ValueError()] * 10)
    worker = shop.worker(handler, attempts_max=3)
    for _ in range(6):
        shop.work(worker)
        shop.clock.advance(hours=2)
    assert handler.numbers == [0] * 3
    assert shop.storage.metrics.jobs == [(KIND, "retry")] * 2 + [(KIND, "stuck")]
    report = shop.storage.run(shop.status().examine())
    assert report.problems == report.queue.stuck == 1
    shop.storage.run(shop.status().measure_queue())
    assert shop.storage.metrics.queues == [(0, 1)]


def test_a_stuck_job_holds_up_no_other(shop: Workshop) -> None:
    shop.queue(2)
    handler = Recorder(ValueError())
    assert shop.work(shop.worker(handler, attempts_max=1)) == 2
    assert handler.numbers == [0, 1]
    assert len(shop.rows("id")) == 1


@pytest.mark.parametrize(
    ("error", "kept"),
    [
        (ValueError("the text of a message"), "ValueError"),
        (KeyError("the text of a message"), "KeyError"),
        (Unavailable("the database does not answer"), "Unavailable: the database does not answer"),
        (Internal("a broken row"), "Internal: a broken row"),
    ],
)
def test_the_kept_error_holds_no_content(shop: Workshop, error: Exception, kept: str) -> None:
    shop.queue()
    shop.work(shop.worker(Recorder(error)))
    assert shop.rows("last_error") == [(kept,)]


def test_a_job_and_its_successor_change_places_at_once(shop: Workshop) -> None:
    later = shop.clock.advance(hours=1)

    async def handler(_: Job) -> NewJob:
        return NewJob(KIND, {"number": 7}, later, "named")

    shop.storage.do(
        shop.storage.stores.jobs.insert, NewJob(KIND, {"number": 0}, shop.clock.now(), "named")
    )
    assert shop.work(shop.worker(handler)) == 1
    assert shop.rows("task_name, retry_count") == [("named", 0)]
