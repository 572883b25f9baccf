"""What every engine promises of a transaction."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from recollect.conversations.sharing.membership import Membership
from recollect.db.engines.base import ATTEMPTS_MAX
from recollect.db.transaction import RetryTransaction, Tx
from recollect.kernel.access_level import Level
from recollect.kernel.errors import Internal, RecollectError, Unavailable
from recollect.kernel.ids import ConversationId, TreeId, UserId
from tests.support.builders import NOON, an_entry, plant, put
from tests.support.engines import TestDatabase
from tests.support.storage import WAIT_SECONDS, Storage, a_storage, blocked

NewDatabase = Callable[[], TestDatabase]


@pytest.fixture
def fresh(new_database: NewDatabase) -> Iterator[Storage]:
    with a_storage(new_database()) as running:
        yield running


def insert_tree(storage: Storage, tree_id: str) -> Callable[[Tx], bool]:
    return lambda tx: storage.stores.conversations.insert_tree(tx, TreeId(tree_id), NOON)


def has_tree(storage: Storage, tree_id: str) -> bool:
    found = "SELECT 1 FROM conversation_groups WHERE id = :id"
    return storage.database.rows(found, id=tree_id) == [(1,)]


def test_a_transaction_that_raises_leaves_nothing(storage: Storage) -> None:
    id_ = storage.new_id()

    def work(tx: Tx) -> None:
        insert_tree(storage, id_)(tx)
        raise KeyError("on purpose")

    with pytest.raises(KeyError, match="on purpose"):
        storage.write(work)
    assert not has_tree(storage, id_)


def test_a_lost_race_runs_again_on_a_clean_state(storage: Storage) -> None:
    id_ = storage.new_id()
    inserted: list[bool] = []

    def work(tx: Tx) -> str:
        inserted.append(insert_tree(storage, id_)(tx))
        if len(inserted) < 3:
            raise RetryTransaction
        return "done"

    assert storage.write(work) == "done"
    assert inserted == [True, True, True]
    assert has_tree(storage, id_)


def test_a_race_that_is_always_lost_ends_in_unavailable(storage: Storage) -> None:
    runs: list[int] = []

    def work(_: Tx) -> None:
        runs.append(1)
        raise RetryTransaction

    with pytest.raises(Unavailable):
        storage.write(work)
    assert ATTEMPTS_MAX <= len(runs) <= ATTEMPTS_MAX + 1


def test_a_statement_that_fails_unread_fails_the_transaction(storage: Storage) -> None:
    root = plant(storage)
    put(storage, an_entry(storage, root, 1))
    id_ = storage.new_id()

    def work(tx: Tx) -> None:
        insert_tree(storage, id_)(tx)
        storage.stores.entries.insert(tx, an_entry(storage, root, 1))

    with pytest.raises(Internal):
        storage.write(work)
    assert not has_tree(storage, id_)


def test_a_statement_that_failed_is_told_of_by_the_next_read(storage: Storage) -> None:
    root = plant(storage)
    put(storage, an_entry(storage, root, 1))
    reached: list[str] = []

    def work(tx: Tx) -> None:
        storage.stores.entries.insert(tx, an_entry(storage, root, 1))
        storage.stores.conversations.fetch(tx, root.id)
        reached.append("behind the failed statement")

    with pytest.raises(Internal):
        storage.write(work)
    assert reached == []


def test_every_connection_works_on_after_a_failed_transaction(fresh: Storage) -> None:
    root = plant(fresh)
    put(fresh, an_entry(fresh, root, 1))

    def fails(tx: Tx) -> None:
        fresh.stores.entries.insert(tx, an_entry(fresh, root, 1))
        fresh.stores.conversations.fetch(tx, root.id)

    failing = [fresh.begin(fresh.engine.write(fails)) for _ in range(12)]
    assert {type(f.exception(WAIT_SECONDS)) for f in failing} == {Internal}
    reads = [
        fresh.begin(fresh.engine.read(lambda tx: fresh.stores.conversations.fetch(tx, root.id)))
        for _ in range(12)
    ]
    assert all(f.result(WAIT_SECONDS) == root for f in reads)


def test_a_driver_error_holds_no_stored_value(storage: Storage) -> None:
    root = plant(storage, owner_user_id=UserId("somebody-private"))

    again = Membership(root.tree_id, root.owner_user_id, Level.READER, NOON)
    with pytest.raises(RecollectError) as caught:
        storage.do(storage.stores.memberships.insert, again, confirmed=True)
    assert "somebody-private" not in repr(caught.value)


def test_a_row_that_names_no_parent_is_refused(storage: Storage) -> None:
    root = plant(storage)
    lost = replace(an_entry(storage, root, 1), conversation_id=ConversationId(storage.new_id()))
    with pytest.raises(Internal):
        put(storage, lost)
    assert storage.ask(storage.stores.entries.fetch, lost.id) is None


def test_a_read_can_not_write(storage: Storage) -> None:
    id_ = storage.new_id()
    with pytest.raises(Internal):
        storage.read(insert_tree(storage, id_))
    assert not has_tree(storage, id_)
    assert storage.write(insert_tree(storage, id_))


def test_a_read_sees_one_snapshot_while_others_commit(storage: Storage) -> None:
    root = plant(storage)
    put(storage, an_entry(storage, root, 1))
    started, committed = threading.Event(), threading.Event()

    def work(tx: Tx) -> tuple[object, object]:
        before = storage.stores.entries.fetch_before(tx, root.id, 100)
        started.set()
        storage.stay(tx, committed)
        return before, storage.stores.entries.fetch_before(tx, root.id, 100)

    reading = storage.begin(storage.engine.read(work))
    assert started.wait(WAIT_SECONDS)
    put(storage, an_entry(storage, root, 2))
    committed.set()
    before, after = reading.result(WAIT_SECONDS)
    assert before == after
    newest = storage.ask(storage.stores.entries.fetch_before, root.id, 100)
    assert newest is not None
    assert newest.seq == 2


def test_under_the_tree_lock_no_update_is_lost(storage: Storage) -> None:
    root = plant(storage)

    def append(tx: Tx) -> int:
        storage.stores.conversations.lock(tx, root.id)
        branch = storage.stores.conversations.locate(tx, root.id, UserId("ann"))
        assert branch is not None
        entry = an_entry(storage, root, branch.last_seq + 1)
        storage.stores.conversations.record_append(tx, branch, entry, None)
        storage.stores.entries.insert(tx, entry)
        return entry.seq

    writing = [storage.begin(storage.engine.write(append)) for _ in range(100)]
    assert sorted(f.result(WAIT_SECONDS) for f in writing) == list(range(1, 101))


def test_of_many_that_insert_one_tree_one_does(storage: Storage) -> None:
    id_ = storage.new_id()
    work = insert_tree(storage, id_)
    racing = [storage.begin(storage.engine.write(work)) for _ in range(20)]
    assert sorted(f.result(WAIT_SECONDS) for f in racing) == [False] * 19 + [True]


def test_a_waiter_that_gave_up_disturbs_nobody(fresh: Storage) -> None:
    ids = [fresh.new_id() for _ in range(6)]
    with blocked(fresh):
        waiting = [fresh.begin(fresh.engine.write(insert_tree(fresh, id_))) for id_ in ids]
        fresh.settle()
        waiting[2].cancel()
        waiting[4].cancel()
    assert all(waiting[i].result(WAIT_SECONDS) for i in (0, 1, 3, 5))


def test_close_finishes_what_was_accepted(new_database: NewDatabase) -> None:
    with a_storage(new_database()) as storage:
        ids = [storage.new_id() for _ in range(300)]

        async def all_then_close() -> list[bool]:
            works = [insert_tree(storage, id_) for id_ in ids]
            tasks = [asyncio.ensure_future(storage.engine.write(work)) for work in works]
            await asyncio.sleep(0)
            await storage.engine.close()
            return list(await asyncio.gather(*tasks))

        assert storage.run(all_then_close()) == [True] * 300
        with pytest.raises(Unavailable):
            storage.write(insert_tree(storage, storage.new_id()))
        with pytest.raises(Unavailable):
            storage.read(insert_tree(storage, storage.new_id()))
        count = storage.database.rows("SELECT count(*) FROM conversation_groups")
        assert count == [(300,)]


def test_too_many_waiting_requests_are_turned_away(
    fresh: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"recollect.db.engines.{fresh.engine.name}.engine.QUEUE_MAX"
    monkeypatch.setattr(name, 5)
    ids = [fresh.new_id() for _ in range(20)]
    with blocked(fresh):
        waiting = [fresh.begin(fresh.engine.write(insert_tree(fresh, id_))) for id_ in ids]
        fresh.settle()
        refused = [f for f in waiting if f.done()]
        # On SQLite the one at work counts as well: what was accepted is one queue.
        assert len(refused) == (16 if fresh.engine.name == "sqlite" else 15)
        assert {type(f.exception()) for f in refused} == {Unavailable}
    accepted = [f for f in waiting if f not in refused]
    assert all(f.result(WAIT_SECONDS) for f in accepted)
