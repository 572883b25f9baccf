"""Going up the chain of files: alone, at once with others, from one version back, and refused."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from recollect.db import migrations
from recollect.kernel.errors import Conflict, RecollectError
from tests.migration.schemas import columns, definition, versions
from tests.support.builders import an_entry, plant, put
from tests.support.engines import TestDatabase
from tests.support.storage import Storage, a_storage, an_engine

NewDatabase = Callable[[], TestDatabase]
File = migrations._MigrationFile
NEXT_SQL = "ALTER TABLE conversations ADD COLUMN of_a_later_version text;"
KNOWN = migrations._migration_files
# What `fill` writes, in the order in which rows may refer to each other.
WRITTEN = (
    "conversation_groups",
    "conversations",
    "conversation_memberships",
    "participations",
    "entries",
)


@pytest.fixture
def database(new_database: NewDatabase) -> TestDatabase:
    return new_database()


def files(engine_name: str) -> list[File]:
    return list(KNOWN(engine_name))


def numbers(database: TestDatabase) -> list[int]:
    return [file.number for file in files(database.engine)]


def with_files(monkeypatch: pytest.MonkeyPatch, change: Callable[[list[File]], list[File]]) -> None:
    """Let the code have other files than it has."""

    def changed(engine_name: str) -> Iterator[File]:
        return iter(change(files(engine_name)))

    monkeypatch.setattr(migrations, "_migration_files", changed)


def fill(storage: Storage) -> list[object]:
    """Some rows, and what is read of them."""
    root = plant(storage, title="kept", metadata={"a": 1})
    put(storage, *(an_entry(storage, root, seq) for seq in (1, 2, 3)))
    return content(storage)


def content(storage: Storage) -> list[object]:
    tables = ("conversations", "entries", "conversation_memberships")
    wanted = {
        "conversations": "id, title, metadata",
        "entries": "id, seq, content",
        "conversation_memberships": "conversation_group_id, user_id, access_level",
    }
    return [sorted(storage.database.rows(f"SELECT {wanted[t]} FROM {t}")) for t in tables]


def test_the_files_are_numbered_without_gap(database: TestDatabase) -> None:
    assert numbers(database) == list(range(1, len(numbers(database)) + 1))


def test_both_engines_have_the_same_files() -> None:
    assert [f.number for f in files("sqlite")] == [f.number for f in files("postgres")]


def test_fresh_equals_migrated_step_by_step(
    new_database: NewDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh, stepwise = new_database(), new_database()
    migrations.migrate(an_engine(fresh))
    for last in numbers(stepwise):
        with_files(monkeypatch, lambda known, last=last: known[:last])  # type: ignore[misc]
        report = migrations.migrate(an_engine(stepwise))
        assert (report.from_version, report.to_version) == (last - 1, last)
    assert definition(stepwise) == definition(fresh)
    assert versions(stepwise) == versions(fresh)


def test_a_database_one_version_back_opens_and_keeps_its_rows(
    new_database: NewDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled, older = new_database(), new_database()
    newest = numbers(older)[-1]
    with a_storage(filled) as storage:
        before = fill(storage)
    with_files(monkeypatch, lambda known: known[: newest - 1])
    migrations.migrate(an_engine(older))
    monkeypatch.undo()
    copy(filled, older)
    with a_storage(older) as storage:
        assert content(storage) == before
        plant(storage)
    assert versions(older)[0] == newest


def copy(filled: TestDatabase, older: TestDatabase) -> None:
    """The rows of a database, as an older schema has them: today's code can't write those."""
    known = columns(older)
    for table in WRITTEN:
        names = [name for name in known[table] if name != "indexed_content_tsv"]
        listed, values = ", ".join(names), ", ".join(f":{name}" for name in names)
        for row in filled.rows(f"SELECT {listed} FROM {table}"):
            older.rows(
                f"INSERT INTO {table} ({listed}) VALUES ({values})",
                **dict(zip(names, row, strict=True)),
            )


def test_rows_survive_a_file_that_is_still_to_come(
    database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    newest = numbers(database)[-1]
    with a_storage(database) as storage:
        before = fill(storage)
    with_files(monkeypatch, lambda known: [*known, File(newest + 1, NEXT_SQL)])
    report = migrations.migrate(an_engine(database))
    assert (report.from_version, report.to_version) == (newest, newest + 1)
    monkeypatch.undo()
    with a_storage(database) as storage:
        assert content(storage) == before
    assert database.rows("SELECT of_a_later_version FROM conversations") == [(None,)]


def test_an_older_server_opens_a_newer_database_that_allows_it(database: TestDatabase) -> None:
    newest = numbers(database)[-1]
    migrations.migrate(an_engine(database))
    database.rows("UPDATE schema_versions SET schema_version = 90")
    report = migrations.migrate(an_engine(database))
    assert (report.from_version, report.to_version) == (90, 90)
    migrations.require_current(an_engine(database))
    assert versions(database) == (90, migrations.COMPAT_VERSION)
    assert newest < 90


def test_a_database_that_needs_a_newer_server_is_refused(database: TestDatabase) -> None:
    migrations.migrate(an_engine(database))
    database.rows("UPDATE schema_versions SET schema_version = 90, compat_version = 80")
    for opening in (migrations.migrate, migrations.require_current):
        with pytest.raises(Conflict, match="needs a server of schema version 80 or newer"):
            opening(an_engine(database))
    assert versions(database) == (90, 80)


def test_an_old_database_is_refused_where_nothing_may_be_migrated(
    database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    newest = numbers(database)[-1]
    migrations.migrate(an_engine(database))
    with_files(monkeypatch, lambda known: [*known, File(newest + 1, NEXT_SQL)])
    with pytest.raises(Conflict, match=rf"version {newest}, .* needs {newest + 1}.*`recollect mi"):
        migrations.require_current(an_engine(database))
    assert versions(database)[0] == newest


def test_an_empty_database_is_refused_and_left_empty(database: TestDatabase) -> None:
    empty = definition(database)
    with pytest.raises(Conflict, match="`recollect migrate`"):
        migrations.require_current(an_engine(database))
    assert definition(database) == empty


def test_a_file_that_fails_leaves_nothing_of_itself(
    database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    newest = numbers(database)[-1]
    migrations.migrate(an_engine(database))
    before = definition(database)
    broken = NEXT_SQL + "CREATE TABLE half (id text); SELECT * FROM nowhere;"
    with_files(monkeypatch, lambda known: [*known, File(newest + 1, broken)])
    with pytest.raises(RecollectError):
        migrations.migrate(an_engine(database))
    assert definition(database) == before
    assert versions(database)[0] == newest


def test_many_that_migrate_at_once_all_succeed(new_database: NewDatabase) -> None:
    together = 6
    for _ in range(3):
        database, start = new_database(), threading.Barrier(together)

        def one(
            database: TestDatabase = database, start: threading.Barrier = start
        ) -> migrations.MigrationReport:
            start.wait(30)
            return migrations.migrate(an_engine(database))

        with ThreadPoolExecutor(together) as pool:
            reports = [f.result(60) for f in [pool.submit(one) for _ in range(together)]]
        assert {report.to_version for report in reports} == {numbers(database)[-1]}
        assert versions(database)[0] == numbers(database)[-1]
