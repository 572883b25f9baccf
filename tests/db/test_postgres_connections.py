"""How PostgreSQL connections are made, how long they wait, and what a broken one has done."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from sqlalchemy import text

from recollect.app.application import build
from recollect.db.engines.postgres import PostgresEngine
from recollect.db.statements import Query
from recollect.db.transaction import Tx
from recollect.doctor.health import StatusService
from recollect.kernel.errors import InvalidInput, Unavailable
from recollect.kernel.ids import TreeId
from recollect.settings.load import load
from tests.db.cutting_proxy import COMMITTED, a_cutting_proxy
from tests.support.builders import NOON, plant
from tests.support.engines import TestDatabase, a_postgres_database
from tests.support.storage import Storage, a_storage, an_engine


@pytest.fixture
def postgres(postgres_url: str) -> Iterator[Storage]:
    with a_postgres_database(postgres_url) as database, a_storage(database) as running:
        yield running


@contextmanager
def another(storage: Storage, url: str, **settings: Any) -> Iterator[Storage]:
    """A second engine on the same database, with one connection."""
    engine = PostgresEngine(url, connections=1, metrics=storage.metrics, **settings)
    other = Storage(storage.database, engine, storage.metrics, storage.runtime)
    try:
        yield other
    finally:
        other.stop()


def insert_tree(storage: Storage, tree_id: str) -> Callable[[Tx], bool]:
    return lambda tx: storage.stores.conversations.insert_tree(tx, TreeId(tree_id), NOON)


def tree_ids(storage: Storage) -> list[str]:
    return [str(id_) for (id_,) in storage.database.rows("SELECT id FROM conversation_groups")]


def setting(storage: Storage, name: str) -> object:
    return storage.read(lambda tx: tx.fetch(Query(text(f"SHOW {name}")), {}))[0][0]


def test_a_commit_that_was_confirmed_is_done_though_the_connection_ends(postgres: Storage) -> None:
    first, second = postgres.new_id(), postgres.new_id()
    with (
        a_cutting_proxy(postgres.database.url) as proxy,
        another(postgres, proxy.url) as through,
    ):
        through.read(lambda tx: tx.fetch(Query(text("SELECT 1")), {}))
        proxy.cut_behind = COMMITTED
        assert through.write(insert_tree(through, first))
        proxy.cut_behind = None
        assert through.write(insert_tree(through, second))
    assert sorted(tree_ids(postgres)) == sorted([first, second])


def test_who_waits_too_long_for_a_tree_is_told_to_come_back(postgres: Storage) -> None:
    root = plant(postgres)

    def lock(tx: Tx) -> None:
        postgres.stores.conversations.lock(tx, root.id)

    with another(postgres, postgres.database.url, lock_wait_ms=50) as impatient:
        with psycopg.connect(postgres.database.url) as somebody:
            somebody.execute("SELECT * FROM conversation_groups FOR UPDATE")
            with pytest.raises(Unavailable):
                impatient.write(lock)
        impatient.write(lock)


def test_options_of_the_url_hold_beside_our_own(postgres: Storage) -> None:
    url = postgres.database.url
    joint = "&" if "?" in url else "?"
    options = "options=-c%20search_path%3Delsewhere%20-c%20timezone%3DAsia/Tokyo"
    with another(postgres, f"{url}{joint}{options}") as chosen:
        assert setting(chosen, "search_path") == "elsewhere"
        assert setting(chosen, "timezone") == "UTC"


@pytest.mark.parametrize("url", ["postgresql://u:hidden@[::1]x/db", "postgresql://u:hid%zzen@h/db"])
def test_a_url_that_can_t_be_read_is_not_repeated(url: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        an_engine(TestDatabase("postgres", url)).has_table("tasks")
    assert "hid" not in str(refused.value)
    assert refused.value.__cause__ is None


def test_the_application_ends_though_the_database_hangs(
    postgres: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.app.application.CLOSE_SECONDS_MIN", 0.2)
    with a_cutting_proxy(postgres.database.url) as proxy:
        flags = {
            "auth.jwt_secret": "not a secret at all, but long enough",
            "auth.mode": "jwt",
            "database.url": proxy.url,
            "jobs.embedded_worker": False,
            "log.level": "error",
            "server.shutdown_grace_seconds": 0,
        }
        app = build(load(flags=flags, environ={}).settings)

        async def hang_and_close() -> bool:
            await app.start()
            proxy.silent.set()
            hanging = asyncio.ensure_future(app.services[StatusService].ping())
            await asyncio.sleep(0)
            await app.close()
            return hanging.cancel()

        assert postgres.run(hang_and_close())
