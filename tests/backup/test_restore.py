"""What a backup holds is what comes back, on either engine."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from recollect.db import migrations
from recollect.kernel.errors import Conflict, InvalidInput
from tests.backup.conftest import NewTarget
from tests.backup.planted import INSTANTS, LAST_NUMBER, ROWS, all_rows, back_up, plant_all, restore
from tests.migration.schemas import definition, versions
from tests.support.builders import plant
from tests.support.engines import ENGINES, TestDatabase
from tests.support.storage import a_storage, an_engine

NewDatabase = Callable[[], TestDatabase]
HOUSEKEEPING_ROW = "INSERT INTO server_state (name, value) VALUES ('a', 'b')"


@pytest.fixture(scope="module")
def planted(new_database: NewDatabase) -> TestDatabase:
    """Rows in every table."""
    database = new_database()
    plant_all(database)
    return database


@pytest.fixture(scope="module")
def backup(planted: TestDatabase, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("backup") / "file"
    back_up(planted, path)
    return path


@pytest.mark.parametrize("engine", ENGINES)
def test_every_row_of_every_table_comes_back_on_either_engine(
    planted: TestDatabase, backup: Path, new_target: NewTarget, engine: str
) -> None:
    target = new_target(engine)
    restore(target, backup)
    before, after = all_rows(planted), all_rows(target)
    assert {len(rows) for rows in before.values()} == {ROWS}
    assert len(before) >= 40
    for table, rows in before.items():
        assert rows == after[table], table


def test_the_drivers_see_the_same_values(
    planted: TestDatabase, backup: Path, new_target: NewTarget
) -> None:
    """Not by the code that copies rows, which could be wrong both ways."""
    target = new_target(planted.engine)
    restore(target, backup)
    tables = [name for name in all_rows(planted) if name != "audit_events"]
    before, after = planted.contents(tables), target.contents(tables)
    for table in tables:
        assert _as_text(before[table]) == _as_text(after[table]), table
    events = "SELECT id FROM audit_events ORDER BY position, id"
    assert planted.rows(events) == target.rows(events)


def _as_text(rows: list[tuple[Any, ...]]) -> list[str]:
    # Zero has one form in a backup: SQLite has no negative one.
    return sorted(repr(row).replace("-0.0", "0.0") for row in rows)


def test_a_copy_to_the_other_engine_and_back_is_the_same(
    planted: TestDatabase, backup: Path, new_target: NewTarget, tmp_path: Path
) -> None:
    [other] = set(ENGINES) - {planted.engine}
    away, home = new_target(other), new_target(planted.engine)
    restore(away, backup)
    back_up(away, tmp_path / "away")
    restore(home, tmp_path / "away")
    assert all_rows(home) == all_rows(planted)


def test_instants_are_instants_of_the_engine(planted: TestDatabase) -> None:
    rows = planted.rows("SELECT created_at FROM people ORDER BY created_at LIMIT 1")
    first = "0001-01-01T00:00:00.000000Z"
    assert first in INSTANTS
    wanted = first if planted.engine == "sqlite" else datetime.fromisoformat(first)
    assert rows == [(wanted,)]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_restored_database_has_the_schema_of_a_new_one(
    backup: Path, new_target: NewTarget, engine: str
) -> None:
    restored, fresh = new_target(engine), new_target(engine)
    restore(restored, backup)
    migrations.migrate(an_engine(fresh))
    assert definition(restored) == definition(fresh)
    assert versions(restored) == versions(fresh)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_number_that_was_given_is_not_given_again(
    backup: Path, new_target: NewTarget, engine: str
) -> None:
    target = new_target(engine)
    restore(target, backup)
    names = [name for (name,) in target.rows("SELECT id FROM memories LIMIT 1")]
    listed = [column for column in _columns(target, "memories") if column not in {"doc", "id"}]
    copied = ", ".join(listed)
    target.rows(
        f"INSERT INTO memories (id, {copied}) SELECT 'new', {copied} FROM memories WHERE id = :id",
        id=names[0],
    )
    assert target.rows("SELECT doc FROM memories WHERE id = 'new'") == [(LAST_NUMBER + 1,)]


def _columns(database: TestDatabase, table: str) -> list[str]:
    with an_engine(database).open_snapshot() as rows:
        return list(next(one for one in rows.tables if one.name == table).columns)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_backup_of_an_older_schema_is_brought_up_to_date(
    new_database: NewDatabase, new_target: NewTarget, tmp_path: Path, engine: str
) -> None:
    old = new_database()
    an_older_schema(old)
    back_up(old, tmp_path / "old")
    target = new_target(engine)
    restore(target, tmp_path / "old")
    assert versions(target)[0] == migrations.newest_version(an_engine(target))
    assert target.rows("SELECT name, awaited_handle FROM people") == [("Ann", None)]
    with a_storage(target):
        pass


def an_older_schema(database: TestDatabase) -> None:
    """As a version of the past left it: without what came since."""
    with an_engine(database).open_restore() as target:
        shape = target.create(7)["people"]
        texts = {"name": "Ann", "metadata": "{}", "time_zone": None, "merged_into": None}
        texts |= {"created_at": INSTANTS[2], "updated_at": INSTANTS[2], "erasure_id": None}
        target.write(shape, [[texts.get(column, "x") for column in shape.columns]])
    # Leaving without `finish` keeps the old version.
    assert versions(database)[0] == 7


def test_a_backup_of_a_newer_schema_names_the_version_that_it_needs(
    new_database: NewDatabase, new_target: NewTarget, tmp_path: Path
) -> None:
    newer = new_database()
    with a_storage(newer):
        pass
    newer.rows("UPDATE schema_versions SET schema_version = 999")
    back_up(newer, tmp_path / "newer")
    target = new_target("sqlite")
    with pytest.raises(Conflict, match=r"schema version 999, this version of Recollect knows"):
        restore(target, tmp_path / "newer")
    assert not target.path.exists()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_database_with_rows_is_refused_and_kept(
    backup: Path, new_target: NewTarget, engine: str
) -> None:
    target = new_target(engine)
    with a_storage(target) as storage:
        plant(storage, title="kept")
    before = all_rows(target)
    with pytest.raises(Conflict, match="not empty"):
        restore(target, backup)
    assert all_rows(target) == before


@pytest.mark.parametrize("engine", ENGINES)
def test_a_database_that_a_server_only_prepared_is_empty(
    planted: TestDatabase, backup: Path, new_target: NewTarget, engine: str
) -> None:
    target = new_target(engine)
    with a_storage(target):
        pass
    target.rows(HOUSEKEEPING_ROW)
    restore(target, backup)
    assert all_rows(target) == all_rows(planted)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_damaged_backup_leaves_the_database_empty(
    planted: TestDatabase, backup: Path, new_target: NewTarget, tmp_path: Path, engine: str
) -> None:
    content = bytearray(backup.read_bytes())
    content[-30] ^= 1
    damaged = tmp_path / "damaged"
    damaged.write_bytes(content)
    target = new_target(engine)
    with pytest.raises(InvalidInput, match="damaged"):
        restore(target, damaged)
    if engine == "sqlite":
        assert not target.path.exists()
        assert not list(target.path.parent.glob("*-restoring*"))
    else:
        assert target.rows("SELECT tablename FROM pg_tables WHERE schemaname = 'public'") == []
    restore(target, backup)
    assert all_rows(target) == all_rows(planted)


def test_a_text_that_postgresql_can_not_store_is_named(
    new_target: NewTarget, tmp_path: Path
) -> None:
    origin, target = new_target("sqlite"), new_target("postgres")
    with a_storage(origin):
        pass
    origin.rows("INSERT INTO server_state (name, value) VALUES ('a', 'nul' || char(0))")
    back_up(origin, tmp_path / "file")
    with pytest.raises(InvalidInput, match=r"server_state.*U\+0000"):
        restore(target, tmp_path / "file")
    again = new_target("sqlite")
    restore(again, tmp_path / "file")
    assert all_rows(again) == all_rows(origin)
