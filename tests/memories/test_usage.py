"""When memories were last shown: noted by reads, written later, and never more than that."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta

import pytest

from recollect.kernel.ids import MemoryId
from recollect.memories.model import StoredMemory
from recollect.memories.usage import PRECISION, UsageTracker
from tests.support.clock import TestClock
from tests.support.engines import TestDatabase
from tests.support.memory.builders import ANN, a_memory
from tests.support.storage import Storage, a_storage

Shown = Callable[..., None]


@contextmanager
def a_store(database: TestDatabase, clock: TestClock) -> Iterator[Storage]:
    with a_storage(database, clock=clock) as storage:
        yield storage


@pytest.fixture
def clock() -> Iterator[TestClock]:
    clock = TestClock()
    with clock.hold():
        yield clock


@pytest.fixture
def storage(new_database: Callable[[], TestDatabase], clock: TestClock) -> Iterator[Storage]:
    with a_store(new_database(), clock) as opened:
        yield opened


@pytest.fixture
def use(storage: Storage) -> UsageTracker:
    return UsageTracker(storage.context)


def put(storage: Storage) -> StoredMemory:
    made = StoredMemory(a_memory(storage), ANN)
    stored = storage.do(storage.stores.memories.insert, made)
    assert stored is not None
    return stored


def kept(storage: Storage, memory_id: MemoryId) -> StoredMemory:
    found = storage.ask(storage.stores.memories.fetch, memory_id)
    assert found is not None
    return found


def show(storage: Storage, use: UsageTracker, *shown: StoredMemory) -> None:
    async def noted() -> None:
        use.record_shown(shown)

    storage.run(noted())


def test_what_was_shown_is_marked_and_nothing_else_of_it_changes(
    storage: Storage, use: UsageTracker, clock: TestClock
) -> None:
    shown, hidden = put(storage), put(storage)
    clock.advance(hours=2)
    show(storage, use, shown)
    assert kept(storage, shown.memory.id) == shown
    storage.run(use.flush())
    assert kept(storage, shown.memory.id) == replace(shown, used_at=clock.now())
    assert kept(storage, hidden.memory.id) == hidden


def test_a_row_is_written_once_in_an_hour(
    storage: Storage, use: UsageTracker, clock: TestClock
) -> None:
    first = put(storage)
    at = clock.now()
    show(storage, use, first)
    storage.run(use.flush())
    clock.advance(seconds=(PRECISION - timedelta(seconds=1)).total_seconds())
    # The first of these two is what another server read before.
    for stale in (first, kept(storage, first.memory.id)):
        show(storage, use, stale)
        storage.run(use.flush())
        assert kept(storage, first.memory.id).used_at == at
    clock.advance(seconds=1)
    show(storage, use, kept(storage, first.memory.id))
    storage.run(use.flush())
    assert kept(storage, first.memory.id).used_at == clock.now()


def test_what_is_held_back_is_written_at_the_end(
    storage: Storage, use: UsageTracker, clock: TestClock
) -> None:
    shown = [put(storage) for _ in range(3)]
    show(storage, use, *shown)
    storage.run(use.close())
    assert {kept(storage, one.memory.id).used_at for one in shown} == {clock.now()}


def test_many_that_were_shown_are_all_written(storage: Storage, use: UsageTracker) -> None:
    shown = [put(storage) for _ in range(450)]
    show(storage, use, *shown)
    storage.run(use.flush())
    assert all(kept(storage, one.memory.id).used_at for one in shown)


def test_a_database_that_is_gone_costs_nobody_anything(storage: Storage, use: UsageTracker) -> None:
    show(storage, use, put(storage))
    storage.stop_engine()
    storage.run(asyncio.wait_for(use.close(), 5))


def test_a_memory_that_was_deleted_meanwhile_stays_away(
    storage: Storage, use: UsageTracker
) -> None:
    shown = put(storage)
    show(storage, use, shown)
    storage.do(storage.stores.memories.delete, shown.memory.id, at=storage.runtime.clock.now())
    storage.run(use.flush())
    assert storage.ask(storage.stores.memories.fetch, shown.memory.id) is None
