"""Nearest vectors in large scopes: by a scan on every engine, by an index on PostgreSQL."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import text

from recollect.conversations.model import Conversation
from recollect.db.statements import Query
from recollect.db.transaction import Tx
from recollect.embedding.port import Vector
from recollect.identity.scope import TreeScope
from recollect.kernel.access_level import Level
from recollect.kernel.ids import EntryId, UserId
from recollect.search.model import index_words
from recollect.search.ports import NewVectors, SearchScope
from recollect.search.store import nearest
from recollect.search.store import nearest_postgres as indexed
from tests.support.builders import NOON, an_entry, plant
from tests.support.engines import a_postgres_database, a_sqlite_database
from tests.support.job_queue import wait_until
from tests.support.storage import Storage, a_storage

DIMENSIONS = 16
MODEL = "model"
INDEX = f"entry_embeddings_hnsw_{DIMENSIONS}"
NO_SCAN = [Query(text(f"SET LOCAL enable_{way} = off")) for way in ("seqscan", "sort")]


@pytest.fixture
def postgres(postgres_url: str) -> Iterator[Storage]:
    """PostgreSQL alone: no other engine has an index of vectors."""
    with a_postgres_database(postgres_url) as database, a_storage(database) as running:
        yield running


@pytest.fixture
def always_indexed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The index is taken however few rows are permitted."""
    monkeypatch.setattr(indexed, "INDEX_COST", 0)


def scope_of(user: str) -> SearchScope:
    return SearchScope(TreeScope.member(UserId(user), Level.READER))


def vectors(count: int, *, near: Vector | None = None, seed: int = 1) -> Vector:
    """Random ones, or some that are all near a given one."""
    chance = np.random.default_rng(seed)
    found = chance.standard_normal((count, DIMENSIONS)).astype(np.float32)
    if near is not None:
        found = near + 0.05 * found
    unit: Vector = found / np.linalg.norm(found, axis=1, keepdims=True)
    return unit


def hold(
    storage: Storage, owner: str, found: Vector, *, model: str = MODEL
) -> tuple[Conversation, list[EntryId]]:
    """A tree whose entries have these vectors; each vector is written with a revision of its own
    group of three."""
    root = plant(storage, {owner: Level.OWNER}, owner_user_id=UserId(owner))
    made = [an_entry(storage, root, seq + 1, indexed_content="words") for seq in range(len(found))]

    def work(tx: Tx) -> None:
        for entry in made:
            storage.stores.entries.insert(tx, entry)
            storage.stores.search.replace(tx, entry, index_words("words"), pending=True)
        for first in range(0, len(made), 3):
            rows = zip(made[first : first + 3], found[first : first + 3], strict=True)
            new = [NewVectors(e.id, e.conversation_id, v, window=v) for e, v in rows]
            put = storage.stores.search.put_vectors
            put(tx, root.tree_id, new, [], model=model, at=NOON)

    storage.write(work)
    return root, [entry.id for entry in made]


def find(
    storage: Storage,
    user: str,
    vector: Vector,
    limit: int,
    *,
    first: Sequence[Query] = (),
    model: str = MODEL,
) -> list[EntryId]:
    def work(tx: Tx) -> list[EntryId]:
        for statement in first:
            tx.run(statement, {})
        search = storage.stores.search
        return search.nearest_entries(tx, scope_of(user), vector, model=model, limit=limit)

    return storage.run(storage.engine.scan(work))


@pytest.mark.parametrize("batch", [1, 2, 7, 4_000])
def test_the_nearest_permitted_ones_are_found(
    storage: Storage, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    monkeypatch.setattr(nearest, "_BATCH_ROWS", batch)
    own, wanted = vectors(40), vectors(1, seed=2)[0]
    user = f"ann{batch}"
    ids: list[EntryId] = []
    for first, last in ((0, 1), (1, 3), (3, 30), (30, 40)):
        ids += hold(storage, user, own[first:last])[1]
    hold(storage, "eve", vectors(60, near=wanted))
    order = np.argsort(-(own @ wanted), kind="stable")
    for limit in (1, 12, 40, 100):
        found = find(storage, user, wanted, limit)
        assert len(found) == len(set(found))
        assert set(found) == {ids[row] for row in order[:limit]}


def test_vectors_of_another_model_are_not_looked_at(storage: Storage) -> None:
    wanted = vectors(1)[0]
    _, ids = hold(storage, "old", vectors(5, near=wanted), model="before")
    assert find(storage, "old", wanted, 10) == []
    assert set(find(storage, "old", wanted, 10, model="before")) == set(ids)


def test_nobody_finds_nothing(storage: Storage) -> None:
    assert find(storage, "nobody", vectors(1)[0], 10) == []


def missing(storage: Storage, *, dimensions: int = DIMENSIONS, from_entries: int = 0) -> Any:
    return storage.ask(
        storage.stores.search.index_build_statements,
        dimensions=dimensions,
        from_entries=from_entries,
    )


def build(storage: Storage) -> None:
    storage.run(storage.engine.run_outside_transaction(missing(storage)))


def indexes(storage: Storage) -> list[tuple[Any, ...]]:
    return storage.database.rows(
        "SELECT relname, pg_class.oid, indisvalid FROM pg_class JOIN pg_index ON indexrelid = "
        "pg_class.oid WHERE relname = :name",
        name=INDEX,
    )


def times_used(storage: Storage) -> int:
    statement = "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = :name"
    return int(storage.database.rows(statement, name=INDEX)[0][0])


@pytest.mark.usefixtures("always_indexed")
def test_a_filtered_query_through_the_index_is_full(postgres: Storage) -> None:
    wanted = vectors(1)[0]
    hold(postgres, "eve", vectors(600, near=wanted))
    _, own = hold(postgres, "ann", vectors(50, seed=3))
    build(postgres)
    found = find(postgres, "ann", wanted, 50, first=NO_SCAN)
    assert set(found) == set(own)
    assert len(find(postgres, "ann", wanted, 10, first=NO_SCAN)) == 10
    wait_until(lambda: times_used(postgres) >= 2)


def test_a_small_scope_is_scanned_although_there_is_an_index(postgres: Storage) -> None:
    wanted = vectors(1)[0]
    hold(postgres, "eve", vectors(300, near=wanted))
    own = vectors(50, seed=3)
    _, ids = hold(postgres, "ann", own)
    build(postgres)
    best = np.argsort(-(own @ wanted))[:7]
    assert set(find(postgres, "ann", wanted, 7, first=NO_SCAN)) == {ids[row] for row in best}
    assert times_used(postgres) == 0


def test_the_index_is_built_once_and_only_when_it_pays(postgres: Storage) -> None:
    hold(postgres, "ann", vectors(20))
    assert missing(postgres, from_entries=21) == ()
    build(postgres)
    [(name, oid, valid)] = indexes(postgres)
    assert (name, valid) == (INDEX, True)
    assert missing(postgres) == ()
    hold(postgres, "bob", vectors(20, seed=2))
    assert indexes(postgres) == [(name, oid, True)]


def test_longer_vectors_than_an_index_takes_have_none(postgres: Storage) -> None:
    hold(postgres, "ann", vectors(3))
    assert missing(postgres, dimensions=2_000) != ()
    assert missing(postgres, dimensions=2_001) == ()


def test_a_build_that_was_broken_off_is_made_good(postgres: Storage) -> None:
    _, ids = hold(postgres, "ann", vectors(20))
    build(postgres)
    postgres.database.rows(
        "UPDATE pg_index SET indisvalid = false WHERE indexrelid = to_regclass(:name) RETURNING 1",
        name=INDEX,
    )
    build(postgres)
    assert [valid for *_, valid in indexes(postgres)] == [True]
    assert set(find(postgres, "ann", vectors(1)[0], 20)) == set(ids)


def test_what_runs_apart_ends_when_nobody_waits_for_it(postgres: Storage) -> None:
    def sleeping() -> bool:
        statement = "SELECT 1 FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(600)'"
        return bool(postgres.database.rows(statement))

    nap = Query(text("SELECT pg_sleep(600)"))
    running = postgres.begin(postgres.engine.run_outside_transaction([nap]))
    wait_until(sleeping)
    running.cancel()
    wait_until(lambda: not sleeping())


def test_there_is_nothing_to_build_on_another_engine(tmp_path: Path) -> None:
    with a_storage(a_sqlite_database(tmp_path)) as sqlite:
        assert missing(sqlite) == ()
        sqlite.run(sqlite.engine.run_outside_transaction(()))
