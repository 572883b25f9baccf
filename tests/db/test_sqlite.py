"""What only SQLite can get wrong: settings of a connection, group commit, several processes."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest
from sqlalchemy import text

from recollect.db import migrations
from recollect.db.engines.sqlite.engine import BATCH_MAX
from recollect.db.statements import Query
from recollect.db.transaction import Tx
from recollect.kernel.errors import Internal, Unavailable
from recollect.kernel.ids import TreeId
from recollect.kernel.strict_json import JsonText
from tests.support.builders import NOON, an_entry, plant, put
from tests.support.engines import a_sqlite_database
from tests.support.storage import WAIT_SECONDS, Storage, a_storage, an_engine, blocked

PRAGMAS = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "secure_delete": 1}
READERS = 2


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[Storage]:
    with a_storage(a_sqlite_database(tmp_path)) as running:
        yield running


def pragma(tx: Tx, words: str) -> object:
    rows = tx.fetch(Query(text(f"PRAGMA {words}")), {})
    return rows[0][0] if rows else None


def insert_tree(storage: Storage, tree_id: str) -> Callable[[Tx], bool]:
    return lambda tx: storage.stores.conversations.insert_tree(tx, TreeId(tree_id), NOON)


def tree_ids(storage: Storage) -> set[str]:
    return {id_ for (id_,) in storage.database.rows("SELECT id FROM conversation_groups")}


def test_the_writer_has_every_setting(sqlite: Storage) -> None:
    found = sqlite.write(lambda tx: {name: pragma(tx, name) for name in PRAGMAS})
    assert found == PRAGMAS


def test_every_reader_has_every_setting(sqlite: Storage) -> None:
    together = threading.Barrier(READERS)

    def work(tx: Tx) -> dict[str, object]:
        together.wait(WAIT_SECONDS)
        return {name: pragma(tx, name) for name in PRAGMAS}

    reading = [sqlite.begin(sqlite.engine.read(work)) for _ in range(READERS)]
    assert [f.result(WAIT_SECONDS) for f in reading] == [PRAGMAS] * READERS


def test_deleted_text_is_gone_from_the_files(sqlite: Storage) -> None:
    root = plant(sqlite, title="a-title-to-forget")
    assert "a-title-to-forget" in sqlite.database.stored_text()
    sqlite.do(sqlite.stores.conversations.delete_trees, [root.tree_id])
    sqlite.stop_engine()
    assert "a-title-to-forget" not in sqlite.database.stored_text()


def test_every_table_of_ours_is_strict(sqlite: Storage) -> None:
    loose = sqlite.database.rows(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' "
        "AND NOT strict AND name NOT LIKE 'sqlite_%'"
    )
    assert loose == [("schema_versions",)]


def test_a_value_of_the_wrong_type_is_refused(sqlite: Storage) -> None:
    with pytest.raises(apsw.ConstraintError):
        sqlite.database.rows(
            "INSERT INTO conversation_groups (id, created_at, last_at, last_seq) "
            "VALUES ('t', 'now', 'now', 'many')"
        )


def test_writes_that_wait_share_one_commit(sqlite: Storage) -> None:
    ids = [sqlite.new_id() for _ in range(BATCH_MAX + 6)]
    with blocked(sqlite):
        waiting = [sqlite.begin(sqlite.engine.write(insert_tree(sqlite, id_))) for id_ in ids]
        sqlite.settle()
    assert all(f.result(WAIT_SECONDS) for f in waiting)
    first, *others = sqlite.metrics.batches
    assert (first, sum(others)) == (1, len(ids))
    assert len(others) <= 2
    assert max(others) < 2 * BATCH_MAX
    assert tree_ids(sqlite) == set(ids)


def test_a_failure_before_any_change_keeps_the_commit_shared(sqlite: Storage) -> None:
    def refuse(_: Tx) -> bool:
        raise KeyError("refused")

    ids = [sqlite.new_id() for _ in range(4)]
    works = [insert_tree(sqlite, id_) for id_ in ids]
    works.insert(2, refuse)
    with blocked(sqlite):
        waiting = [sqlite.begin(sqlite.engine.write(work)) for work in works]
        sqlite.settle()
    assert isinstance(waiting[2].exception(WAIT_SECONDS), KeyError)
    assert [f.result(WAIT_SECONDS) for i, f in enumerate(waiting) if i != 2] == [True] * 4
    assert sqlite.metrics.batches == [1, 5]


def test_a_failure_after_a_change_hurts_no_neighbour(sqlite: Storage) -> None:
    bad = sqlite.new_id()

    def fail_late(tx: Tx) -> bool:
        insert_tree(sqlite, bad)(tx)
        raise KeyError("late")

    ids = [sqlite.new_id() for _ in range(6)]
    works = [insert_tree(sqlite, id_) for id_ in ids]
    works.insert(3, fail_late)
    with blocked(sqlite):
        waiting = [sqlite.begin(sqlite.engine.write(work)) for work in works]
        sqlite.settle()
    assert isinstance(waiting[3].exception(WAIT_SECONDS), KeyError)
    assert [f.result(WAIT_SECONDS) for i, f in enumerate(waiting) if i != 3] == [True] * 6
    assert tree_ids(sqlite) == set(ids)
    assert sqlite.metrics.batches == [1] * 7


def test_a_commit_that_fails_is_told_to_every_caller(sqlite: Storage) -> None:
    root = plant(sqlite)

    def break_the_commit(tx: Tx) -> bool:
        pragma(tx, "defer_foreign_keys = ON")
        tx.run(Query(text("DELETE FROM conversation_groups")), {})
        return True

    ids = [sqlite.new_id() for _ in range(2)]
    works = [insert_tree(sqlite, ids[0]), break_the_commit, insert_tree(sqlite, ids[1])]
    with blocked(sqlite):
        waiting = [sqlite.begin(sqlite.engine.write(work)) for work in works]
        sqlite.settle()
    assert {type(f.exception(WAIT_SECONDS)) for f in waiting} == {Internal}
    assert tree_ids(sqlite) == {root.id}
    assert sqlite.write(insert_tree(sqlite, ids[0]))


def test_a_full_disk_fails_only_what_needs_room(sqlite: Storage) -> None:
    root = plant(sqlite)
    pages = sqlite.write(lambda tx: pragma(tx, "page_count"))
    sqlite.write(lambda tx: pragma(tx, f"max_page_count = {pages}"))
    large = an_entry(sqlite, root, 1, content=JsonText('["' + "x" * 100_000 + '"]'))
    ids = [sqlite.new_id() for _ in range(2)]

    def insert_large(tx: Tx) -> bool:
        sqlite.stores.entries.insert(tx, large)
        return True

    works = [insert_tree(sqlite, ids[0]), insert_large, insert_tree(sqlite, ids[1])]
    with blocked(sqlite):
        waiting = [sqlite.begin(sqlite.engine.write(work)) for work in works]
        sqlite.settle()
    assert isinstance(waiting[1].exception(WAIT_SECONDS), Unavailable)
    assert waiting[0].result(WAIT_SECONDS)
    assert waiting[2].result(WAIT_SECONDS)
    sqlite.write(lambda tx: pragma(tx, "max_page_count = 1000000"))
    put(sqlite, large)
    assert tree_ids(sqlite) == {root.id, *ids}


def test_two_processes_that_read_and_then_write_lose_nothing(sqlite: Storage) -> None:
    """Each engine has a writer of its own, as two processes on one file do."""
    root = plant(sqlite)
    count = Query(text("SELECT last_seq FROM conversation_groups WHERE id = :id"))
    put_count = Query(text("UPDATE conversation_groups SET last_seq = :n WHERE id = :id"))

    def increment(tx: Tx) -> None:
        row = tx.fetch_first(count, {"id": root.id})
        assert row is not None
        tx.run(put_count, {"id": root.id, "n": row[0] + 1})

    with a_storage(sqlite.database) as other:
        both = [s.begin(s.engine.write(increment)) for _ in range(50) for s in (sqlite, other)]
        for future in both:
            future.result(WAIT_SECONDS)
    assert sqlite.database.rows("SELECT last_seq FROM conversation_groups") == [(100,)]


def test_opening_a_new_file_waits_for_one_who_writes_it(tmp_path: Path) -> None:
    """Switching to the write-ahead log does not wait by itself: two first starts would race."""
    database = a_sqlite_database(tmp_path)
    first = apsw.Connection(str(database.path))
    first.execute("BEGIN IMMEDIATE")
    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(migrations.migrate, an_engine(database))
        with pytest.raises(TimeoutError):
            second.result(0.3)
        first.execute("ROLLBACK")
        assert second.result(WAIT_SECONDS).from_version == 0
    first.close()
