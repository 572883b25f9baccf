"""What only PostgreSQL can get wrong: pipelines, broken connections, deadlocks, lock waits."""

import threading
from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import text

from recollect.db.statements import Query
from recollect.db.transaction import Tx
from recollect.jobs.model import NewJob
from recollect.kernel.errors import Internal, Unavailable
from recollect.kernel.ids import TreeId
from tests.support.builders import NOON, plant
from tests.support.engines import TestDatabase, a_postgres_database
from tests.support.storage import WAIT_SECONDS, Storage, a_storage, an_engine

CONNECTIONS = 2
END_ALL = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


@pytest.fixture
def postgres(postgres_url: str) -> Iterator[Storage]:
    with (
        a_postgres_database(postgres_url) as database,
        a_storage(database, connections=CONNECTIONS) as running,
    ):
        yield running


def insert_tree(storage: Storage, tree_id: str) -> Callable[[Tx], bool]:
    return lambda tx: storage.stores.conversations.insert_tree(tx, TreeId(tree_id), NOON)


def fail_with(state: str) -> Query:
    return Query(text(f"DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '{state}'; END $$"))


def on_all_connections(storage: Storage) -> None:
    """A connection is opened at its first use."""
    inside: list[int] = []
    together = threading.Event()

    def work(tx: Tx) -> None:
        tx.fetch(Query(text("SELECT 1")), {})
        inside.append(1)
        if len(inside) == CONNECTIONS:
            together.set()
        storage.stay(tx, together)

    for future in [storage.begin(storage.engine.read(work)) for _ in range(CONNECTIONS)]:
        future.result(WAIT_SECONDS)


def outcome(storage: Storage, work: Callable[[Tx], object]) -> str:
    try:
        storage.write(work)
    except Unavailable:
        return "unavailable"
    return "done"


def test_a_connection_that_ended_while_idle_is_replaced_unseen(postgres: Storage) -> None:
    on_all_connections(postgres)
    postgres.database.rows(END_ALL)
    ids = [postgres.new_id() for _ in range(10)]
    outcomes = [outcome(postgres, insert_tree(postgres, id_)) for id_ in ids]
    assert outcomes == ["done"] * len(ids)
    stored = {str(i) for (i,) in postgres.database.rows("SELECT id FROM conversation_groups")}
    assert stored == set(ids)


def test_a_connection_that_breaks_in_a_transaction_leaves_nothing(postgres: Storage) -> None:
    id_ = postgres.new_id()
    inside, broken = threading.Event(), threading.Event()

    def work(tx: Tx) -> None:
        insert_tree(postgres, id_)(tx)
        inside.set()
        postgres.stay(tx, broken)
        insert_tree(postgres, postgres.new_id())(tx)

    writing = postgres.begin(postgres.engine.write(work))
    assert inside.wait(WAIT_SECONDS)
    postgres.database.rows(END_ALL)
    broken.set()
    assert isinstance(writing.exception(WAIT_SECONDS), Unavailable)
    assert postgres.database.rows("SELECT id FROM conversation_groups") == []
    assert outcome(postgres, insert_tree(postgres, id_)) in ("done", "unavailable")
    on_all_connections(postgres)


def test_a_server_that_is_not_there_is_unavailable(postgres: Storage) -> None:
    nowhere = TestDatabase("postgres", "postgresql://nobody@127.0.0.1:9/nowhere")
    with pytest.raises(Unavailable):
        an_engine(nowhere).has_table("tasks")
    other = Storage(nowhere, an_engine(nowhere), postgres.metrics, postgres.runtime)
    other.engine.start()
    try:
        with pytest.raises(Unavailable):
            other.read(lambda tx: tx.fetch(Query(text("SELECT 1")), {}))
    finally:
        other.stop()


def test_a_deadlock_ends_with_both_done(postgres: Storage) -> None:
    trees = [plant(postgres), plant(postgres)]
    both_locked = threading.Event()
    runs: list[int] = []
    holders: list[int] = []

    def work(order: list[int]) -> Callable[[Tx], None]:
        def lock_both(tx: Tx) -> None:
            runs.append(1)
            postgres.stores.conversations.lock(tx, trees[order[0]].id)
            postgres.stores.conversations.fetch(tx, trees[order[0]].id)
            holders.append(1)
            if len(holders) == 2:
                both_locked.set()
            postgres.stay(tx, both_locked)
            postgres.stores.conversations.lock(tx, trees[order[1]].id)

        return lock_both

    racing = [postgres.begin(postgres.engine.write(work(o))) for o in ([0, 1], [1, 0])]
    for future in racing:
        future.result(WAIT_SECONDS)
    assert len(runs) >= 3


@pytest.mark.parametrize("state", ["40001", "40P01", "23505", "23503"])
def test_a_lost_race_is_run_again(postgres: Storage, state: str) -> None:
    id_ = postgres.new_id()
    runs: list[int] = []

    def work(tx: Tx) -> bool:
        runs.append(1)
        inserted = insert_tree(postgres, id_)(tx)
        if len(runs) == 1:
            tx.run(fail_with(state), {})
        return inserted

    assert postgres.write(work)
    assert len(runs) == 2


@pytest.mark.parametrize("state", ["22001", "42601", "53100", "57014", "ZZ999"])
def test_another_error_is_not_run_again(postgres: Storage, state: str) -> None:
    runs: list[int] = []

    def work(tx: Tx) -> None:
        runs.append(1)
        tx.run(fail_with(state), {})

    with pytest.raises((Internal, Unavailable)):
        postgres.write(work)
    assert runs == [1]


def test_a_failed_statement_is_prepared_again_later(postgres: Storage) -> None:
    """A statement first met behind a failed one was never prepared on that connection."""
    root = plant(postgres)

    def work(tx: Tx) -> None:
        tx.run(fail_with("22001"), {})
        postgres.stores.conversations.fetch(tx, root.id)

    for _ in range(3 * CONNECTIONS):
        with pytest.raises((Internal, Unavailable)):
            postgres.write(work)
    on_all_connections(postgres)
    for _ in range(3 * CONNECTIONS):
        assert postgres.ask(postgres.stores.conversations.fetch, root.id) == root


@pytest.mark.parametrize("reads_on", [False, True])
def test_a_failed_transaction_keeps_its_connection(postgres: Storage, reads_on: bool) -> None:
    root = plant(postgres)

    def work(tx: Tx) -> None:
        tx.run(fail_with("22001"), {})
        if reads_on:
            postgres.stores.conversations.fetch(tx, root.id)

    before = backends(postgres)
    for _ in range(3 * CONNECTIONS):
        with pytest.raises(Internal):
            postgres.write(work)
    assert backends(postgres) == before


def backends(storage: Storage) -> set[int]:
    """The server processes behind our connections."""
    on_all_connections(storage)
    rows = storage.database.rows(
        "SELECT pid FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    assert len(rows) == CONNECTIONS
    return {pid for (pid,) in rows}


def test_a_claim_passes_over_what_another_holds(postgres: Storage) -> None:
    due = {"types": ["kind"], "lease_seconds": 60}
    for _ in range(4):
        postgres.do(postgres.stores.jobs.insert, NewJob("kind", {}, NOON))
    claimed, go_on = threading.Event(), threading.Event()

    def hold(tx: Tx) -> list[str]:
        jobs = postgres.stores.jobs.claim(tx, **due, claim_id=postgres.new_id(), limit=3)  # type: ignore[arg-type]
        claimed.set()
        postgres.stay(tx, go_on)
        return [job.id for job in jobs]

    holding = postgres.begin(postgres.engine.write(hold))
    assert claimed.wait(WAIT_SECONDS)
    rest = postgres.do(postgres.stores.jobs.claim, **due, claim_id=postgres.new_id(), limit=3)
    go_on.set()
    assert len(rest) == 1
    assert rest[0].id not in holding.result(WAIT_SECONDS)


def test_an_eviction_passes_over_a_tree_that_is_in_use(postgres: Storage) -> None:
    trees = sorted((plant(postgres, {}) for _ in range(3)), key=lambda tree: tree.id)
    for tree in trees:
        postgres.do(postgres.stores.conversations.update_deleted, tree.tree_id, NOON)
    locked, go_on = threading.Event(), threading.Event()

    def hold(tx: Tx) -> None:
        postgres.stores.conversations.lock(tx, trees[1].id)
        postgres.stores.conversations.fetch(tx, trees[1].id)
        locked.set()
        postgres.stay(tx, go_on)

    holding = postgres.begin(postgres.engine.write(hold))
    assert locked.wait(WAIT_SECONDS)
    claim = postgres.stores.conversations.claim_deleted_before
    later = NOON.replace(year=2025)
    free = postgres.do(claim, later, after=None, limit=10)
    go_on.set()
    holding.result(WAIT_SECONDS)
    assert free == [trees[0].tree_id, trees[2].tree_id]
    assert postgres.do(claim, later, after=None, limit=10) == [tree.tree_id for tree in trees]
