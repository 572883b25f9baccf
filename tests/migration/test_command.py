"""`recollect migrate` as operators run it."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from recollect.db import migrations
from tests.migration.schemas import versions
from tests.support.engines import TestDatabase, a_sqlite_database
from tests.support.processes import on_database, run_command
from tests.support.storage import an_engine


@pytest.fixture
def database(new_database: Callable[[], TestDatabase]) -> TestDatabase:
    return new_database()


def newest(database: TestDatabase) -> int:
    return migrations.newest_version(an_engine(database))


def test_it_says_what_it_did_and_the_second_time_does_nothing(
    database: TestDatabase, tmp_path: Path
) -> None:
    first = run_command(tmp_path, "migrate", **on_database(database))
    assert first.stdout == f"The schema went from version 0 to {newest(database)}.\n"
    second = run_command(tmp_path, "migrate", **on_database(database))
    assert second.stdout == f"The schema is up to date: version {newest(database)}.\n"
    assert (first.returncode, second.returncode) == (0, 0)


def test_two_processes_at_once_both_succeed(database: TestDatabase, tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        running = [
            pool.submit(run_command, tmp_path, "migrate", **on_database(database)) for _ in range(2)
        ]
        results = [future.result() for future in running]
    assert [result.returncode for result in results] == [0, 0], results
    assert versions(database)[0] == newest(database)


def test_a_server_that_may_not_migrate_names_the_command(tmp_path: Path) -> None:
    database = a_sqlite_database(tmp_path)
    database.path.touch()
    settings = on_database(database) | {"DATABASE__MIGRATE_AT_START": False}
    result = run_command(tmp_path, "doctor", **settings)
    assert result.returncode == 5
    assert "run `recollect migrate`" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_database_of_a_newer_server_is_refused_with_a_reason(tmp_path: Path) -> None:
    database = a_sqlite_database(tmp_path)
    migrations.migrate(an_engine(database))
    database.rows("UPDATE schema_versions SET schema_version = 90, compat_version = 80")
    result = run_command(tmp_path, "migrate", **on_database(database))
    assert result.returncode == 5
    assert "needs a server of schema version 80 or newer" in result.stderr
