"""Schema migrations: numbered SQL files per engine, applied in order, each in one transaction.

`schema_version` says which files ran; `compat_version` is the oldest server that may still open
the database. A server refuses a database whose `compat_version` is above its own newest file.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Protocol

from recollect.kernel.errors import Conflict

COMPAT_VERSION = 2

_TABLE = "schema_versions"
# Tables that a server fills by itself at its first start.
HOUSEKEEPING = frozenset({"server_state", "tasks"})
_CREATE = """
CREATE TABLE IF NOT EXISTS schema_versions (
  only_row integer NOT NULL PRIMARY KEY CHECK (only_row = 1),
  schema_version integer NOT NULL,
  compat_version integer NOT NULL
);
INSERT INTO schema_versions VALUES (1, 0, 0) ON CONFLICT (only_row) DO NOTHING;
"""
_BUMP = """
UPDATE schema_versions SET schema_version = {number}, compat_version = {compat};
"""
_IS_APPLIED = "SELECT 1 FROM schema_versions WHERE schema_version >= {number}"


class ScriptRunner(Protocol):
    """The part of an engine that migrations need, before its threads start."""

    @property
    def name(self) -> str:
        """The engine's name, which is also the folder of its migration files."""
        ...

    def run_script(self, sql: str, *, unless: str | None = None) -> None:
        """Run several statements in one transaction, unless the query `unless` finds a row there.

        The check and the statements are under one lock, so two processes can't both run them.
        """
        ...

    def query_script(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of one query."""
        ...

    def has_table(self, name: str) -> bool:
        """Is there a table of this name?"""
        ...


@dataclass(frozen=True, slots=True)
class MigrationReport:
    """The schema version before and after a migration."""

    from_version: int
    to_version: int


ShowStep = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class _MigrationFile:
    number: int
    sql: str


def migrate(
    engine: ScriptRunner, show: ShowStep | None = None, *, to: int | None = None
) -> MigrationReport:
    """Bring the database to a version, by default the newest. Safe when several processes start at
    once.

    `show` is told after each step how many are done, and of how many.
    """
    engine.run_script(_CREATE)
    found = read_version(engine)
    wanted = newest_version(engine) if to is None else to
    due = [file for file in _migration_files(engine.name) if found < file.number <= wanted]
    for number, file in enumerate(due, 1):
        _apply_file(engine, file)
        if show is not None:
            show(number, len(due))
    return MigrationReport(found, max(found, wanted))


def require_current(engine: ScriptRunner) -> None:
    """Raise Conflict if the schema is older than the code. Writes nothing."""
    found = read_version(engine) if engine.has_table(_TABLE) else 0
    newest = newest_version(engine)
    if found < newest:
        raise Conflict(
            f"the database is at schema version {found}, this server needs {newest}: "
            "run `recollect migrate`"
        )


def newest_version(engine: ScriptRunner) -> int:
    """The number of the last migration file."""
    return max(file.number for file in _migration_files(engine.name))


@cache
def table_names(engine_name: str) -> frozenset[str]:
    """Every table that a version of the schema has or had, without the one of the versions."""
    texts = [file.sql for file in _migration_files(engine_name)]
    return frozenset(re.findall(r"^CREATE TABLE (\w+)", "\n".join(texts), re.MULTILINE))


def read_version(engine: ScriptRunner) -> int:
    """The schema version. Raises Conflict if the database needs a newer server."""
    schema, compat = engine.query_script(
        "SELECT schema_version, compat_version FROM schema_versions"
    )[0]
    newest = newest_version(engine)
    if compat > newest:
        raise Conflict(
            f"the database needs a server of schema version {compat} or newer, "
            f"this one has {newest}"
        )
    return int(schema)


def _apply_file(engine: ScriptRunner, file: _MigrationFile) -> None:
    """Run a file and set its number in one transaction.

    A second process that wanted to run it too finds the number there and skips the file.
    """
    bump = _BUMP.format(number=file.number, compat=COMPAT_VERSION)
    done = _IS_APPLIED.format(number=file.number)
    engine.run_script(bump + file.sql, unless=done)


def _migration_files(engine_name: str) -> Iterator[_MigrationFile]:
    folder = resources.files("recollect.db.engines") / engine_name / "migrations"
    names = sorted(item.name for item in folder.iterdir() if item.name.endswith(".sql"))
    for name in names:
        yield _MigrationFile(int(name.split("_", 1)[0]), (folder / name).read_text())
