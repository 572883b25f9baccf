"""Kept answers: sealed, bound to their key, and gone after a day."""

import asyncio
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest

from recollect.http.errors import http_headers, http_status
from recollect.idempotency import service as idempotency
from recollect.idempotency.cleanup import IDEMPOTENCY_EXPIRY, IdempotencyJobs
from recollect.idempotency.service import (
    ABANDONED_AFTER,
    KEY_LIFETIME,
    IdempotencyService,
    RecordedAnswer,
    request_fingerprint,
)
from recollect.kernel.errors import Conflict, RequestStillRunning, Unavailable
from recollect.kernel.owner import Owner
from recollect.kernel.strict_json import dump
from tests.support.clock import TestClock
from tests.support.engines import TestDatabase
from tests.support.job_queue import JobQueue
from tests.support.storage import a_storage

KEYS = [("a", b"k" * 32)]
ANN = Owner.user("ann")
WORDS = "words that were only answered"


@pytest.fixture
def job_queue(new_database: Callable[[], TestDatabase]) -> Iterator[JobQueue]:
    clock = TestClock()
    with a_storage(new_database(), clock=clock, keys=KEYS) as storage, clock.hold():
        yield JobQueue(storage, clock)


def service(job_queue: JobQueue) -> IdempotencyService:
    return IdempotencyService(job_queue.storage.context)


def once(job_queue: JobQueue, key: str, handle: Callable[[str], RecordedAnswer]) -> RecordedAnswer:
    async def handled(reserved_id: str) -> RecordedAnswer:
        return handle(reserved_id)

    return job_queue.storage.run(
        service(job_queue).run_once(
            ANN, key, fingerprint=request_fingerprint(b"same"), handle=handled
        )
    )


def test_a_kept_answer_can_not_be_read_in_storage(job_queue: JobQueue) -> None:
    answer = RecordedAnswer(201, dump({"content": WORDS}).encode())
    assert once(job_queue, "k", lambda _: answer) == answer
    assert once(job_queue, "k", lambda _: RecordedAnswer(500, b"")) == answer
    assert WORDS not in job_queue.storage.database.stored_text()


def test_after_a_failure_of_the_server_the_next_try_has_the_same_id(job_queue: JobQueue) -> None:
    given: list[str] = []

    def fails(reserved_id: str) -> RecordedAnswer:
        given.append(reserved_id)
        raise Unavailable("the database went away")

    def succeeds(reserved_id: str) -> RecordedAnswer:
        given.append(reserved_id)
        return RecordedAnswer(201, b"{}")

    with pytest.raises(Unavailable):
        once(job_queue, "k", fails)
    once(job_queue, "k", succeeds)
    assert given[0] == given[1]


def test_a_second_request_waits_for_the_answer_of_the_first(job_queue: JobQueue) -> None:
    entered, may_end = asyncio.Event(), asyncio.Event()
    answer = RecordedAnswer(201, b'{"id": "one"}')

    async def slow(_: str) -> RecordedAnswer:
        entered.set()
        await may_end.wait()
        return answer

    async def never(_: str) -> RecordedAnswer:
        raise AssertionError("the request was handled twice")

    async def both() -> list[RecordedAnswer]:
        said = request_fingerprint(b"same")
        first = asyncio.create_task(
            service(job_queue).run_once(ANN, "k", fingerprint=said, handle=slow)
        )
        await entered.wait()
        second = asyncio.create_task(
            service(job_queue).run_once(ANN, "k", fingerprint=said, handle=never)
        )
        # Its claim is refused at least once while the first runs.
        await asyncio.sleep(0)
        may_end.set()
        return [await first, await second]

    assert job_queue.storage.run(both()) == [answer, answer]


def test_a_caller_who_hangs_up_finds_the_answer_when_they_come_again(job_queue: JobQueue) -> None:
    entered, may_end = asyncio.Event(), asyncio.Event()
    answer = RecordedAnswer(201, b'{"id": "one"}')

    async def slow(_: str) -> RecordedAnswer:
        entered.set()
        await may_end.wait()
        return answer

    async def never(_: str) -> RecordedAnswer:
        raise AssertionError("the request was handled twice")

    async def hang_up_and_come_again() -> RecordedAnswer:
        kept, same = service(job_queue), request_fingerprint(b"same")
        first = asyncio.create_task(kept.run_once(ANN, "k", fingerprint=same, handle=slow))
        await entered.wait()
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        may_end.set()
        return await kept.run_once(ANN, "k", fingerprint=same, handle=never)

    assert job_queue.storage.run(hang_up_and_come_again()) == answer


def test_a_first_request_that_takes_too_long_is_told_with_a_time_to_come_back(
    job_queue: JobQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idempotency, "_PAUSES_SECONDS", (0.001,))

    async def asks_again(_: str) -> RecordedAnswer:
        return await service(job_queue).run_once(
            ANN, "k", fingerprint=request_fingerprint(b"same"), handle=asks_again
        )

    with pytest.raises(RequestStillRunning) as refused:
        job_queue.storage.run(asks_again(""))
    assert refused.value.details == {"reason": "idempotency", "message": refused.value.message}
    assert http_status(refused.value, strict=True) == 409
    assert http_headers(refused.value, strict=True) == [(b"retry-after", b"1")]


def test_after_a_refusal_the_key_is_free_for_another_request(job_queue: JobQueue) -> None:
    def refused(_: str) -> RecordedAnswer:
        raise Conflict("no")

    with pytest.raises(Conflict):
        once(job_queue, "k", refused)
    assert job_queue.storage.database.rows("SELECT key FROM idempotency_answers") == []
    assert once(job_queue, "k", lambda _: RecordedAnswer(404, b"{}")).status == 404
    assert once(job_queue, "k", lambda _: RecordedAnswer(200, b"{}")).status == 200


def test_answers_are_removed_after_their_day_and_not_before(job_queue: JobQueue) -> None:
    once(job_queue, "old", lambda _: RecordedAnswer(200, b"{}"))
    job_queue.clock.advance(seconds=KEY_LIFETIME.total_seconds() / 2)
    once(job_queue, "young", lambda _: RecordedAnswer(200, b"{}"))
    jobs = IdempotencyJobs(job_queue.storage.context)
    job_queue.storage.run(jobs.schedule())
    job_queue.storage.run(jobs.schedule())
    job_queue.clock.advance(seconds=KEY_LIFETIME.total_seconds() / 2 + 1)
    assert job_queue.work(job_queue.worker_of(jobs.handlers())) == 1
    assert job_queue.storage.database.rows("SELECT key FROM idempotency_answers") == [("young",)]
    assert job_queue.rows("task_type") == [(IDEMPOTENCY_EXPIRY,)]


def test_a_fingerprint_tells_where_one_part_ends() -> None:
    assert request_fingerprint(b"ab", b"c") != request_fingerprint(b"a", b"bc")
    assert request_fingerprint(b"a") == request_fingerprint(b"a")


def test_a_long_request_is_not_taken_for_abandoned(job_queue: JobQueue) -> None:
    answer, renewed = RecordedAnswer(201, b'{"id": "one"}'), asyncio.Event()
    said, clock = request_fingerprint(b"same"), job_queue.clock
    kept = IdempotencyService(job_queue.storage.context, renewed_every=timedelta(milliseconds=1))
    claims = "SELECT claimed_at FROM idempotency_answers"

    async def long(_: str) -> RecordedAnswer:
        before = job_queue.storage.database.rows(claims)
        clock.advance(seconds=ABANDONED_AFTER.total_seconds())
        async with asyncio.timeout(10):
            while job_queue.storage.database.rows(claims) == before:
                await asyncio.sleep(0)
        renewed.set()
        with pytest.raises(RequestStillRunning):
            await kept.run_once(ANN, "k", fingerprint=said, handle=never)
        return answer

    async def never(_: str) -> RecordedAnswer:
        raise AssertionError("the request was handled twice")

    run = kept.run_once(ANN, "k", fingerprint=said, handle=long)
    assert job_queue.storage.run(run) == answer
    assert renewed.is_set()
    assert once(job_queue, "k", lambda _: RecordedAnswer(500, b"")) == answer


def test_what_no_server_runs_any_more_is_taken_over_at_once(job_queue: JobQueue) -> None:
    given: list[str] = []

    def handle(reserved_id: str) -> RecordedAnswer:
        given.append(reserved_id)
        return RecordedAnswer(201, b"{}")

    once(job_queue, "k", handle)
    job_queue.storage.database.rows("UPDATE idempotency_answers SET status = NULL")
    with pytest.raises(RequestStillRunning):
        once(job_queue, "k", handle)
    job_queue.storage.run(service(job_queue).release_abandoned())
    once(job_queue, "k", handle)
    assert len(given) == 2
    assert given[0] == given[1]
