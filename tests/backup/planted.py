"""A database with rows in every table, with values that are hard to copy; and all of its rows."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import UUID

from recollect.backup.read import restore_backup
from recollect.backup.write import write_backup
from recollect.db import columns as declared
from recollect.db import migrations
from recollect.db.migrations import newest_version
from recollect.db.row_copy import StoredTable
from recollect.db.tables import conversations, memories, people
from tests.migration.schemas import columns
from tests.support.clock import TestClock
from tests.support.engines import TestDatabase, a_sqlite_database
from tests.support.storage import an_engine

ROWS = 7
LAST_NUMBER = 4_000_000_000
# Every module of tables declares into one collection, once it is imported.
DECLARED = {table.name: table for table in declared.metadata.tables.values()}
MODULES = (conversations, people, memories)

TEXTS = (
    "plain",
    "ünï\u2028\U0001f600\ufeff",
    "tab\t line\n return\r back\\slash \\N \\. \"quotes' ,;",
    "\x01\x02\x1f\x7f",
    "x" * 2_000_000,
    "",
)
SHORT = tuple(text[:200] for text in TEXTS)
NUMBERS = (0, -1, 2**63 - 1, -(2**63), 2**53 + 1, 7)
REALS = (0.1, -0.0, 1.7976931348623157e308, 5e-324, 1 / 3, 2.0)
INSTANTS = (
    "0001-01-01T00:00:00.000000Z",
    "9999-12-31T23:59:59.999999Z",
    "2026-03-29T01:59:59.123456Z",
    "1969-12-31T23:59:59.999999Z",
)
VECTORS = (b"\x3f\x80\x00\x00" * 384, b"\x00\x00\x00\x01\x80\x00\x00\x00", b"\x7f\x7f\xff\xff" * 2)
LONG = {("entries", "content"), ("memories", "content"), ("memory_versions", "snapshot")}
# A row of the history has no epoch, and each table of these counts rows by itself.
FIXED: Mapping[str, Any] = {"channel": "history", "epoch": None}


def silent(done: int, total: int) -> None:
    """Shows no progress. A test that kills the process puts another in its place."""


def plant_all(database: TestDatabase, *, schema_version: int | None = None) -> None:
    """Rows in every table."""
    engine = an_engine(database)
    with engine.open_restore() as target:
        tables = target.create(schema_version or newest_version(engine))
        nullable = _nullable(tables)
        for name in sorted(tables, key=_behind_what_it_refers_to):
            target.write(_numbered(tables[name]), _rows(tables[name], nullable))
        target.finish()


def back_up(database: TestDatabase, path: Path, passphrase: str | None = None) -> None:
    """Write a backup, in this process."""
    write_backup(
        an_engine(database),
        path,
        passphrase=passphrase,
        overwrite=False,
        clock=TestClock(),
        progress=silent,
    )


def restore(database: TestDatabase, path: Path, passphrase: str | None = None) -> None:
    """Restore a backup, in this process."""
    restore_backup(
        an_engine(database),
        path,
        passphrase=passphrase,
        progress=silent,
    )


def all_rows(database: TestDatabase) -> dict[str, list[str]]:
    """The rows of all tables, in no order, as they are in every engine."""
    with an_engine(database).open_snapshot() as rows:
        return {
            table.name: sorted(
                repr(sorted(zip(table.columns, map(_plain, row), strict=True)))
                for row in rows.read(table)
            )
            for table in rows.tables
        }


def _plain(value: Any) -> Any:
    return bytes(value) if isinstance(value, bytes | memoryview) else value


def _rows(table: StoredTable, nullable: Mapping[str, set[str]]) -> Iterator[list[Any]]:
    for number in range(ROWS):
        yield [
            None
            if name in nullable[table.name] and number % 2
            else _value(table.name, name, number)
            for name in table.columns
        ]


def _value(table: str, column: str, number: int) -> Any:
    if column in FIXED:
        return FIXED[column]
    if column in _CHOICES[table]:
        return _CHOICES[table][column]
    kind = type(DECLARED[table].c[column].type).__name__
    if column == "doc":
        return number + 1
    if kind == "Text":
        texts = TEXTS if (table, column) in LONG else SHORT
        return f"{texts[number % len(texts)]} {column} {number}"
    return {
        "Uuid": str(UUID(int=0x7000_8000 << 64 | number)),
        "BigInteger": NUMBERS[number % len(NUMBERS)],
        "Boolean": number % 2,
        "DateTime": INSTANTS[number % len(INSTANTS)],
        "Double": REALS[number % len(REALS)],
        "VectorType": VECTORS[number % len(VECTORS)],
    }[kind]


def _numbered(table: StoredTable) -> StoredTable:
    last = LAST_NUMBER if table.name == "memories" else None
    return StoredTable(table.name, table.columns, table.blobs, last_number=last)


def _behind_what_it_refers_to(name: str) -> tuple[int, str]:
    first = ("conversation_groups", "conversations")
    return (first.index(name) if name in first else len(first), name)


def _nullable(tables: Mapping[str, StoredTable]) -> dict[str, set[str]]:
    """The columns that may be empty. Those of one engine are those of the other."""
    found: dict[str, set[str]] = defaultdict(set)
    for table, listed in _schema().items():
        found[table] = {name for name, column in listed.items() if column.nullable}
    return {name: found[name] - {"user_id", "doc"} for name in tables}


def _schema() -> Any:
    with TemporaryDirectory() as folder:
        database = a_sqlite_database(Path(folder))
        migrations.migrate(an_engine(database))
        return columns(database)


def _choices() -> dict[str, dict[str, str]]:
    """For each column with a list of words one of them."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for file in migrations._migration_files("sqlite"):
        for table, body in re.findall(r"CREATE TABLE (\w+) \((.*?)\n\)", file.sql, re.DOTALL):
            for column, word in re.findall(r"CHECK \((\w+) IN \('(\w+)'", body):
                found[table][column] = word
    return found


_CHOICES = _choices()
