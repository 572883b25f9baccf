"""Eviction beside other users of the trees."""

import asyncio
import threading
from collections.abc import Callable, Iterator

import pytest

from recollect.conversations.eviction import EvictionService
from recollect.conversations.model import Conversation
from recollect.db.transaction import Tx
from recollect.identity.model import Principal, ServerRole
from recollect.kernel.errors import Unavailable
from recollect.kernel.ids import UserId
from recollect.text.dates.durations import parse_duration
from tests.support.builders import NOON, an_entry, plant, put
from tests.support.engines import TestDatabase
from tests.support.job_queue import wait_until
from tests.support.storage import WAIT_SECONDS, Storage, a_storage

ADMIN = Principal(UserId("root"), roles=frozenset({ServerRole.ADMIN}))


@pytest.fixture
def storage(new_database: Callable[[], TestDatabase]) -> Iterator[Storage]:
    with a_storage(new_database()) as running:
        yield running


def service(storage: Storage, *, batch_size: int = 100) -> EvictionService:
    return EvictionService(storage.context, batch_size=batch_size, batch_delay_ms=1)


async def run_eviction(evictions: EvictionService) -> None:
    await (await evictions.begin(ADMIN, parse_duration("P1D"), justification=None)).wait()


def evict(storage: Storage, evictions: EvictionService) -> None:
    storage.run(run_eviction(evictions))


def deleted_trees(storage: Storage, count: int) -> list[Conversation]:
    trees = [plant(storage) for _ in range(count)]
    for tree in trees:
        put(storage, an_entry(storage, tree, 1))
        storage.do(storage.stores.conversations.update_deleted, tree.tree_id, NOON)
    return trees


def left(storage: Storage) -> set[str]:
    return {str(id_) for (id_,) in storage.database.rows("SELECT id FROM conversation_groups")}


def test_due_trees_go_with_everything_and_live_ones_stay(storage: Storage) -> None:
    deleted_trees(storage, 7)
    live = plant(storage)
    put(storage, an_entry(storage, live, 1))
    young = plant(storage)
    just_now = storage.runtime.clock.now()
    storage.do(storage.stores.conversations.update_deleted, young.tree_id, just_now)
    evict(storage, service(storage, batch_size=2))
    assert left(storage) == {live.id, young.id}
    assert storage.database.rows("SELECT count(*) FROM entries") == [(1,)]
    assert storage.database.rows("SELECT count(*) FROM conversation_memberships") == [(2,)]
    assert storage.database.rows("SELECT count(*) FROM tasks") == [(7,)]
    assert storage.database.rows("SELECT count FROM audit_events") == [(7,)]


def test_a_tree_that_is_in_use_is_removed_at_the_end(storage: Storage) -> None:
    trees = deleted_trees(storage, 3)
    locked, go_on = threading.Event(), threading.Event()

    def hold(tx: Tx) -> None:
        storage.stores.conversations.lock(tx, trees[1].id)
        storage.stores.conversations.fetch(tx, trees[1].id)
        locked.set()
        storage.stay(tx, go_on)

    holding = storage.begin(storage.engine.write(hold))
    assert locked.wait(WAIT_SECONDS)
    running = storage.begin(run_eviction(service(storage)))
    if storage.engine.name == "postgres":
        wait_until(lambda: left(storage) == {trees[1].id})
    go_on.set()
    running.result(WAIT_SECONDS)
    holding.result(WAIT_SECONDS)
    assert left(storage) == set()


def test_a_tree_restored_meanwhile_survives(storage: Storage) -> None:
    trees = sorted(deleted_trees(storage, 4), key=lambda tree: tree.id)
    restored, go_on = threading.Event(), threading.Event()

    def restore(tx: Tx) -> None:
        storage.stores.conversations.lock(tx, trees[2].id)
        storage.stores.conversations.update_deleted(tx, trees[2].tree_id, None)
        storage.stores.conversations.fetch(tx, trees[2].id)
        restored.set()
        storage.stay(tx, go_on)

    restoring = storage.begin(storage.engine.write(restore))
    assert restored.wait(WAIT_SECONDS)
    running = storage.begin(run_eviction(service(storage)))
    if storage.engine.name == "postgres":
        wait_until(lambda: left(storage) == {trees[2].id})
    go_on.set()
    restoring.result(WAIT_SECONDS)
    running.result(WAIT_SECONDS)
    assert left(storage) == {trees[2].id}


def test_parallel_runs_queue_one_task_a_tree(storage: Storage) -> None:
    deleted_trees(storage, 30)

    async def all_at_once() -> None:
        evictions = service(storage, batch_size=3)
        period = parse_duration("P1D")
        runs = [await evictions.begin(ADMIN, period, justification=None) for _ in range(3)]
        await asyncio.gather(*(run.wait() for run in runs))

    storage.run(all_at_once())
    names = storage.database.rows("SELECT task_name FROM tasks")
    assert len(names) == len(set(names)) == 30
    counted = storage.database.rows("SELECT sum(count) FROM audit_events")
    assert int(counted[0][0]) == 30
    assert left(storage) == set()


def test_a_server_that_stops_leaves_the_rest_for_the_next_run(storage: Storage) -> None:
    deleted_trees(storage, 10)

    async def stop_early() -> BaseException | None:
        evictions = service(storage, batch_size=1)
        run = await evictions.begin(ADMIN, parse_duration("P1D"), justification=None)
        await evictions.close()
        try:
            await run.wait()
        except Unavailable as error:
            return error
        return None

    assert isinstance(storage.run(stop_early()), Unavailable)
    assert left(storage)
    evict(storage, service(storage))
    assert left(storage) == set()
