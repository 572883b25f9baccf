"""Audit retention, key rotation and the removal of vectors. Each may run twice."""

import base64
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

import pytest

from recollect.audit.model import Event, EventKind
from recollect.conversations.eviction import VECTOR_DELETE
from recollect.jobs.model import Job
from recollect.kernel.ids import EntryId
from recollect.kernel.strict_json import JsonText
from recollect.retention.maintenance_jobs import (
    AUDIT_RETENTION,
    KEY_ROTATION,
    MaintenanceJobs,
)
from tests.support.builders import an_entry, plant, put
from tests.support.clock import TestClock
from tests.support.encryption import KEY_A, KEY_B
from tests.support.engines import TestDatabase
from tests.support.job_queue import JobQueue
from tests.support.storage import Storage, a_storage

NewDatabase = Callable[[], TestDatabase]
DAYS = 365
MANY = 2_100


@pytest.fixture
def database(new_database: NewDatabase) -> TestDatabase:
    return new_database()


@pytest.fixture
def job_queue(database: TestDatabase) -> Iterator[JobQueue]:
    with a_shop(database) as job_queue:
        yield job_queue


@contextmanager
def a_shop(database: TestDatabase, *keys: dict[str, str]) -> Iterator[JobQueue]:
    """A queue under a clock that stands still, with these encryption keys."""
    clock = TestClock()
    pairs = [(key["id"], base64.b64decode(key["key"])) for key in keys]
    with a_storage(database, clock=clock, keys=pairs) as storage, clock.hold():
        yield JobQueue(storage, clock)


def maintenance(job_queue: JobQueue) -> MaintenanceJobs:
    storage = job_queue.storage
    return MaintenanceJobs(
        storage.context,
        audit_retention=timedelta(days=DAYS),
        transfer_lifetime=timedelta(days=DAYS),
    )


def work_off(job_queue: JobQueue) -> int:
    """Schedule and run what is due."""
    jobs = maintenance(job_queue)
    job_queue.storage.run(jobs.schedule())
    return job_queue.work(job_queue.worker_of(jobs.handlers()))


def record(storage: Storage, *instants: datetime) -> list[str]:
    ids = [storage.new_id() for _ in instants]

    def work(tx: Any) -> None:
        for id_, at in zip(ids, instants, strict=True):
            event = Event(id=id_, at=at, kind=EventKind.MEMBERSHIP, action="add")
            storage.stores.events.insert(tx, event)

    storage.write(work)
    return ids


def values(database: TestDatabase) -> Sequence[tuple[Any, ...]]:
    return database.rows("SELECT id, content FROM entries ORDER BY id")


def test_retention_removes_exactly_what_is_older(job_queue: JobQueue) -> None:
    cutoff = job_queue.clock.now() - timedelta(days=DAYS)
    microsecond = timedelta(microseconds=1)
    record(job_queue.storage, *[cutoff - microsecond] * MANY, cutoff - timedelta(days=1000))
    kept = record(job_queue.storage, cutoff, cutoff + microsecond, job_queue.clock.now())
    assert work_off(job_queue) == 1
    left = job_queue.storage.database.rows("SELECT id FROM audit_events")
    assert {str(id_) for (id_,) in left} == set(kept)


def test_retention_comes_back_every_day(job_queue: JobQueue) -> None:
    assert work_off(job_queue) == 1
    assert work_off(job_queue) == 0
    assert job_queue.rows("task_name, task_type") == [(AUDIT_RETENTION, AUDIT_RETENTION)]
    job_queue.clock.advance(hours=24)
    assert work_off(job_queue) == 1
    assert len(job_queue.rows("id")) == 1


def test_many_nodes_schedule_a_job_once(database: TestDatabase) -> None:
    with a_shop(database, KEY_A) as job_queue:
        nodes = [maintenance(job_queue) for _ in range(5)]
        for future in [job_queue.storage.begin(node.schedule()) for node in nodes]:
            future.result(30)
        types = sorted(type_ for (type_,) in job_queue.rows("task_type"))
        assert types == [AUDIT_RETENTION, KEY_ROTATION]


def test_a_first_key_seals_what_was_plain(database: TestDatabase) -> None:
    content = JsonText('["plain words"]')
    with a_shop(database) as job_queue:
        root = plant(job_queue.storage, title="a plain title")
        put(
            job_queue.storage,
            *(an_entry(job_queue.storage, root, n, content=content) for n in (1, 2, 3)),
        )
    with a_shop(database, KEY_A) as job_queue:
        assert work_off(job_queue) == 2
        stores = job_queue.storage.stores
        counts = job_queue.storage.ask(stores.maintenance.count_by_key)
        assert counts["entries.content"] == {"a": 3}
        assert counts["conversations.title"] == {"a": 1}
        for id_, stored in values(database):
            assert "plain" not in stored
            entry = job_queue.storage.ask(stores.entries.fetch, EntryId(str(id_)))
            assert entry is not None
            assert entry.content == content
        found = job_queue.storage.ask(stores.conversations.fetch, root.id)
        assert found is not None
        assert found.title == "a plain title"


def test_a_rotation_that_runs_again_changes_nothing(database: TestDatabase) -> None:
    seal_many(database, KEY_A)
    with a_shop(database, KEY_B, KEY_A) as job_queue:
        assert work_off(job_queue) == 1
        rotated = values(database)
        job = Job(job_queue.storage.new_id(), KEY_ROTATION, {"keyId": "b"}, 1)
        job_queue.storage.run(maintenance(job_queue).rotate_keys(job))
        assert values(database) == rotated


def test_a_rotation_is_queued_again_only_while_an_old_key_is_kept(database: TestDatabase) -> None:
    """A server that still had the old key first may have written after the rotation passed."""
    seal_many(database, KEY_A)
    with a_shop(database, KEY_B, KEY_A) as job_queue:
        assert work_off(job_queue) == 1
    with a_shop(database, KEY_B, KEY_A) as job_queue:
        assert work_off(job_queue) == 1
    with a_shop(database, KEY_B) as job_queue:
        assert work_off(job_queue) == 0
        assert [type_ for (type_,) in job_queue.rows("task_type")] == [AUDIT_RETENTION]


def test_a_rotation_for_another_key_is_out_of_date(database: TestDatabase) -> None:
    before = seal_many(database, KEY_A)
    with a_shop(database, KEY_A, KEY_B) as job_queue:
        job = Job(job_queue.storage.new_id(), KEY_ROTATION, {"keyId": "b"}, 1)
        job_queue.storage.run(maintenance(job_queue).rotate_keys(job))
        assert values(database) == before


def test_a_way_back_to_an_old_key_rotates_again(database: TestDatabase) -> None:
    seal_many(database, KEY_A)
    with a_shop(database, KEY_B, KEY_A) as job_queue:
        work_off(job_queue)
    with a_shop(database, KEY_A, KEY_B) as job_queue:
        assert work_off(job_queue) == 1
        counts = job_queue.storage.ask(job_queue.storage.stores.maintenance.count_by_key)
        assert counts["entries.content"] == {"a": 450}


def test_vectors_of_an_evicted_tree_go_and_those_of_its_successor_stay(job_queue: JobQueue) -> None:
    """The id of an evicted tree may be taken again before the job is due."""
    storage = job_queue.storage
    root = plant(storage)
    entry = an_entry(storage, root, 1)
    put(storage, entry)
    vector: Any = "[1,2]" if storage.engine.name == "postgres" else b"12"
    left_over = storage.new_id()
    for entry_id in (entry.id, left_over):
        storage.database.rows(
            "INSERT INTO entry_embeddings (entry_id, conversation_id, conversation_group_id,"
            " embedding) VALUES (:entry, :tree, :tree, :vector)",
            entry=entry_id,
            tree=root.id,
            vector=vector,
        )
    job = Job(storage.new_id(), VECTOR_DELETE, {"conversationGroupId": root.tree_id}, 1)
    storage.run(maintenance(job_queue).delete_vectors(job))
    left = storage.database.rows("SELECT entry_id FROM entry_embeddings")
    assert [str(id_) for (id_,) in left] == [entry.id]


def seal_many(database: TestDatabase, key: dict[str, str]) -> Sequence[tuple[Any, ...]]:
    """More entries than one transaction of the rotation takes, sealed by the key."""
    with a_shop(database, key) as job_queue:
        root = plant(job_queue.storage, title="sealed")
        entries = (an_entry(job_queue.storage, root, n + 1) for n in range(450))
        put(job_queue.storage, *entries)
        work_off(job_queue)
    return values(database)
