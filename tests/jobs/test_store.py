"""The durable queue: a claim is a lease, and only its holder may end, prolong or return the job."""

from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest

from recollect.jobs.model import Job, NewJob
from tests.support.clock import TestClock
from tests.support.engines import TestDatabase
from tests.support.storage import WAIT_SECONDS, Storage, a_storage

LEASE = 60


@pytest.fixture
def clock() -> TestClock:
    return TestClock()


@pytest.fixture
def queue(new_database: Callable[[], TestDatabase], clock: TestClock) -> Iterator[Storage]:
    with a_storage(new_database(), clock=clock) as running, clock.hold():
        yield running


def insert(queue: Storage, count: int = 1, **fields: object) -> None:
    due_at = queue.runtime.clock.now() + timedelta(seconds=int(str(fields.pop("in_seconds", 0))))
    for number in range(count):
        body = {"number": number}
        job = NewJob(str(fields.get("type", "kind")), body, due_at)
        queue.do(queue.stores.jobs.insert, job)


def claim(queue: Storage, claim_id: str, limit: int = 10) -> list[Job]:
    return queue.do(
        queue.stores.jobs.claim,
        types=["kind", "other"],
        claim_id=claim_id,
        lease_seconds=LEASE,
        limit=limit,
    )


def claim_one(queue: Storage) -> tuple[Job, str]:
    claim_id = queue.new_id()
    jobs = claim(queue, claim_id)
    assert len(jobs) == 1
    return jobs[0], claim_id


def depth(queue: Storage) -> int:
    return queue.ask(queue.stores.jobs.fetch_queue_state).depth


def test_no_job_goes_to_two_workers(queue: Storage) -> None:
    insert(queue, 120)
    jobs = queue.stores.jobs
    claims = [
        queue.begin(
            queue.engine.write(
                lambda tx: jobs.claim(
                    tx, types=["kind"], claim_id=queue.new_id(), lease_seconds=LEASE, limit=4
                )
            )
        )
        for _ in range(30)
    ]
    taken = [job.id for future in claims for job in future.result(WAIT_SECONDS)]
    taken += [job.id for job in claim(queue, queue.new_id(), limit=120)]
    assert len(taken) == len(set(taken)) == 120


def test_a_job_is_claimed_when_it_is_due(queue: Storage, clock: TestClock) -> None:
    insert(queue, in_seconds=10)
    assert claim(queue, queue.new_id()) == []
    clock.advance(seconds=10)
    job, _ = claim_one(queue)
    assert (job.type, job.body, job.attempt) == ("kind", {"number": 0}, 1)


def test_the_oldest_due_comes_first(queue: Storage, clock: TestClock) -> None:
    insert(queue, type="other", in_seconds=5)
    insert(queue, type="kind", in_seconds=2)
    clock.advance(seconds=10)
    assert [job.type for job in claim(queue, queue.new_id())] == ["kind", "other"]


def test_a_type_without_handler_is_left_alone(queue: Storage) -> None:
    insert(queue, type="of_a_newer_server")
    assert claim(queue, queue.new_id()) == []
    assert depth(queue) == 1


def test_a_lease_that_is_over_gives_the_job_to_another(queue: Storage, clock: TestClock) -> None:
    insert(queue)
    job, first = claim_one(queue)
    clock.advance(seconds=LEASE - 1)
    assert claim(queue, queue.new_id()) == []
    clock.advance(seconds=1)
    again, second = claim_one(queue)
    assert (again.id, again.attempt) == (job.id, 2)
    renew = queue.stores.jobs.renew
    assert not queue.do(renew, job.id, claim_id=first, lease_seconds=LEASE)
    assert queue.do(renew, job.id, claim_id=second, lease_seconds=LEASE)


def test_a_renewed_lease_keeps_the_job(queue: Storage, clock: TestClock) -> None:
    insert(queue)
    job, claim_id = claim_one(queue)
    clock.advance(seconds=LEASE - 1)
    assert queue.do(queue.stores.jobs.renew, job.id, claim_id=claim_id, lease_seconds=LEASE)
    clock.advance(seconds=LEASE - 1)
    assert claim(queue, queue.new_id()) == []


def test_one_who_lost_the_lease_changes_nothing(queue: Storage, clock: TestClock) -> None:
    insert(queue)
    job, first = claim_one(queue)
    clock.advance(seconds=LEASE)
    _, second = claim_one(queue)
    now = clock.now()
    jobs = queue.stores.jobs
    queue.do(jobs.finish, job.id, claim_id=first)
    queue.do(jobs.release, job.id, claim_id=first, retry_at=now)
    queue.do(jobs.fail, job.id, claim_id=first, error="late", retry_at=now, stuck=True)
    assert claim(queue, queue.new_id()) == []
    assert queue.database.rows("SELECT last_error, stuck_at FROM tasks") == [(None, None)]
    queue.do(jobs.finish, job.id, claim_id=second)
    assert depth(queue) == 0


def test_a_released_job_is_due_and_has_lost_no_attempt(queue: Storage, clock: TestClock) -> None:
    insert(queue)
    job, claim_id = claim_one(queue)
    queue.do(queue.stores.jobs.release, job.id, claim_id=claim_id, retry_at=clock.now())
    again, _ = claim_one(queue)
    assert (again.id, again.attempt) == (job.id, 1)


def test_a_failed_job_waits_and_keeps_its_error(queue: Storage, clock: TestClock) -> None:
    insert(queue)
    job, claim_id = claim_one(queue)
    at = clock.now() + timedelta(seconds=4)
    queue.do(
        queue.stores.jobs.fail,
        job.id,
        claim_id=claim_id,
        error="Unavailable: later",
        retry_at=at,
        stuck=False,
    )
    assert claim(queue, queue.new_id()) == []
    clock.advance(seconds=4)
    again, _ = claim_one(queue)
    assert again.attempt == 2
    assert queue.database.rows("SELECT last_error FROM tasks") == [("Unavailable: later",)]


def test_a_stuck_job_is_counted_and_comes_back_when_revived(
    queue: Storage, clock: TestClock
) -> None:
    insert(queue, 2)
    job, other = claim(queue, claim_id := queue.new_id())
    queue.do(
        queue.stores.jobs.fail,
        job.id,
        claim_id=claim_id,
        error="Internal: broken",
        retry_at=clock.now(),
        stuck=True,
    )
    queue.do(queue.stores.jobs.finish, other.id, claim_id=claim_id)
    state = queue.ask(queue.stores.jobs.fetch_queue_state)
    assert (state.depth, state.stuck, state.oldest_due_at) == (0, 1, None)
    clock.advance(days=10)
    assert claim(queue, queue.new_id()) == []
    assert queue.do(queue.stores.jobs.revive_stuck) == 1
    again, _ = claim_one(queue)
    assert (again.id, again.attempt) == (job.id, 1)


def test_a_bodyless_queue_has_no_oldest_job(queue: Storage) -> None:
    state = queue.ask(queue.stores.jobs.fetch_queue_state)
    assert (state.depth, state.stuck, state.oldest_due_at) == (0, 0, None)
    insert(queue, in_seconds=5)
    insert(queue)
    assert queue.ask(queue.stores.jobs.fetch_queue_state).oldest_due_at == queue.runtime.clock.now()


def test_a_name_is_had_by_one_job_and_free_when_it_is_given_up(queue: Storage) -> None:
    jobs, now = queue.stores.jobs, queue.runtime.clock.now()
    for _ in range(2):
        queue.do(jobs.insert, NewJob("kind", {}, now, "the name"))
    first, _ = claim_one(queue)
    queue.do(jobs.clear_name, first.id)
    queue.do(jobs.insert, NewJob("kind", {}, now, "the name"))
    second, _ = claim_one(queue)
    assert first.id != second.id
    assert not queue.do(jobs.rename, first.id, type_="other", name="the name")
    assert queue.do(jobs.rename, first.id, type_="other", name="another name")
    rows = queue.database.rows("SELECT id, task_type, task_name FROM tasks")
    assert {str(id_): (type_, name) for id_, type_, name in rows} == {
        first.id: ("other", "another name"),
        second.id: ("kind", "the name"),
    }


def test_what_is_planned_for_later_does_not_wait(queue: Storage, clock: TestClock) -> None:
    insert(queue, in_seconds=3_600)
    assert depth(queue) == 0
    clock.advance(hours=1)
    assert depth(queue) == 1
    claim_one(queue)
    assert depth(queue) == 1
