"""Reads all rows of a database file from a copy, and writes a new file."""

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import apsw

from recollect.db import migrations
from recollect.db.engines.sqlite.connection import connect, connect_to_read
from recollect.db.engines.sqlite.server_lock import ServerLock
from recollect.db.engines.sqlite.words import REBUILD
from recollect.db.migrations import HOUSEKEEPING, migrate, table_names
from recollect.db.row_copy import (
    LOCAL_COLUMNS,
    Row,
    StoredTable,
    in_order_of_references,
    order_clause,
    select_list,
)
from recollect.kernel.errors import Conflict, InvalidInput, Unavailable

_COPY_PAGES = 4_096
_SPARE_BYTES = 64 * 1024 * 1024
_PART_SUFFIX = "-restoring"
# The file is thrown away if anything fails before it is complete.
_LOAD = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA foreign_keys = OFF;
PRAGMA locking_mode = EXCLUSIVE;
PRAGMA cache_size = -64000;
BEGIN;
"""
_COLUMNS = """
SELECT t.name, c.name, c.type FROM sqlite_schema t, pragma_table_xinfo(t.name) c
WHERE t.type = 'table' AND c.hidden = 0 ORDER BY t.name, c.cid
"""
_REFERENCES = """
SELECT t.name, f."table" FROM sqlite_schema t, pragma_foreign_key_list(t.name) f
WHERE t.type = 'table'
"""
_SIZE = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
_INDEXES = "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL"


@contextmanager
def open_snapshot(path: Path) -> Iterator["SqliteRows"]:
    """A copy by SQLite's backup API, in a file without a name that ends with this process.

    Reading the database itself for minutes would keep its log from being cut: it would grow with
    every write, and an erasure could not scrub it.
    """
    with closing(connect_to_read(path)) as source, closing(apsw.Connection("")) as copy:
        _require_space(source, path.parent)
        with _temporary_files_in(copy, path.parent):
            copy.execute("PRAGMA journal_mode = OFF").fetchall()
            # One transaction over all steps: else a write in between would begin the copy anew.
            source.execute("BEGIN").fetchall()
            source.execute("SELECT count(*) FROM sqlite_schema").fetchall()
            with copy.backup("main", source, "main") as backup:
                while not backup.done:
                    backup.step(_COPY_PAGES)
            source.execute("ROLLBACK").fetchall()
            yield SqliteRows(copy)


@contextmanager
def open_restore(path: Path) -> Iterator["SqliteRowWriter"]:
    """Fill a new file beside `path`. At the end it takes that name, if all went well."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = path.with_name(path.name + _PART_SUFFIX)
    servers = ServerLock(path)
    servers.enter()
    try:
        _require_replaceable(path, servers)
        part.unlink(missing_ok=True)
        part.touch(mode=0o600)
        with (
            closing(apsw.Connection(str(part))) as connection,
            _temporary_files_in(connection, path.parent),
        ):
            connection.execute(_LOAD).fetchall()
            yield SqliteRowWriter(connection)
            connection.execute("COMMIT").fetchall()
        _sync(part)
        _require_replaceable(path, servers)
        _remove_database(path)
        part.rename(path)
        _sync(path.parent)
    finally:
        part.unlink(missing_ok=True)
        servers.leave()


class SqliteRows:
    """The rows of the database of one connection."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    @property
    def schema_version(self) -> int:
        return migrations.read_version(SqliteScripts(self._connection))

    @property
    def tables(self) -> Sequence[StoredTable]:
        numbers = dict(self._all("SELECT name, seq FROM sqlite_sequence"))
        shapes = (_shape(name, columns) for name, columns in self._columns().items())
        tables = [
            StoredTable(
                shape.name,
                shape.columns,
                shape.blobs,
                self._all(f'SELECT count(*) FROM "{shape.name}"')[0][0],  # noqa: S608
                None if shape.name in LOCAL_COLUMNS else numbers.get(shape.name),
            )
            for shape in shapes
        ]
        return in_order_of_references(tables, self._all(_REFERENCES))

    def read(self, table: StoredTable) -> Iterator[Row]:
        query = f'SELECT {select_list(table.columns)} FROM "{table.name}"'  # noqa: S608
        return self._connection.execute(query + order_clause(table))

    def _columns(self) -> dict[str, list[tuple[str, str]]]:
        known, found = table_names(SqliteScripts.name), dict[str, list[tuple[str, str]]]()
        for table, column, type_ in self._all(_COLUMNS):
            if table in known and column != LOCAL_COLUMNS.get(table):
                found.setdefault(table, []).append((column, type_))
        return found

    def _all(self, query: str) -> list[tuple[Any, ...]]:
        return self._connection.execute(query).fetchall()


class SqliteRowWriter(SqliteRows):
    """Fills the file of one connection."""

    def __init__(self, connection: apsw.Connection) -> None:
        super().__init__(connection)
        self._indexes: list[str] = []

    def create(self, schema_version: int) -> Mapping[str, StoredTable]:
        migrate(SqliteScripts(self._connection), to=schema_version)
        # What migrations put into the tables is among the rows to come.
        for name in self._columns():
            self._connection.execute(f'DELETE FROM "{name}"').fetchall()  # noqa: S608
        # Rows that come in one go are sorted once for each index, instead of one by one.
        for name, sql in self._all(_INDEXES):
            self._indexes.append(sql)
            self._connection.execute(f'DROP INDEX "{name}"').fetchall()
        return {name: _shape(name, columns) for name, columns in self._columns().items()}

    def write(self, table: StoredTable, rows: Iterable[Row]) -> None:
        places = ", ".join("?" * len(table.columns))
        insert = f'INSERT INTO "{table.name}" ({select_list(table.columns)}) VALUES ({places})'  # noqa: S608
        try:
            self._connection.executemany(insert, rows).fetchall()
        except (apsw.ConstraintError, apsw.MismatchError) as error:
            raise InvalidInput(f"the rows of {table.name} break a rule of the schema") from error
        if table.last_number is not None:
            self._raise_number(table.name, table.last_number)

    def finish(self) -> None:
        for sql in self._indexes:
            self._connection.execute(sql).fetchall()
        migrate(SqliteScripts(self._connection))
        self._connection.execute(REBUILD).fetchall()
        broken = self._all("PRAGMA foreign_key_check")
        if broken:
            raise InvalidInput(f"a row of {broken[0][0]} refers to one that is not there")

    def _raise_number(self, table: str, number: int) -> None:
        """Numbers of rows that are gone are not given again, if the table counts them."""
        has_sequence = "SELECT 1 FROM sqlite_schema WHERE name = ? AND sql LIKE '%AUTOINCREMENT%'"
        if self._connection.execute(has_sequence, (table,)).fetchall():
            self._connection.execute("DELETE FROM sqlite_sequence WHERE name = ?", (table,))
            self._connection.execute("INSERT INTO sqlite_sequence VALUES (?, ?)", (table, number))


class SqliteScripts:
    """Runs migrations inside the open transaction of one connection."""

    name = "sqlite"

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def run_script(self, sql: str, *, unless: str | None = None) -> None:
        if unless is None or not self.query_script(unless):
            self._connection.execute(sql).fetchall()

    def query_script(self, sql: str) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql).fetchall()

    def has_table(self, name: str) -> bool:
        return self._connection.table_exists(None, name)


def _shape(name: str, columns: Sequence[tuple[str, str]]) -> StoredTable:
    blobs = tuple(at for at, (_, type_) in enumerate(columns) if type_.upper() == "BLOB")
    return StoredTable(name, tuple(column for column, _ in columns), blobs)


def _require_space(source: apsw.Connection, folder: Path) -> None:
    """The copy must not fill the disk on which the server writes."""
    [(copied,)] = source.execute(_SIZE).fetchall()
    needed, free = int(copied or 0) + _SPARE_BYTES, shutil.disk_usage(folder).free
    if free < needed:
        raise Unavailable(
            f"a backup copies the database first, beside it: that takes {needed // 2**20} MB, "
            f"and {free // 2**20} MB are free"
        )


@contextmanager
def _temporary_files_in(connection: apsw.Connection, folder: Path) -> Iterator[None]:
    """Have SQLite put its nameless files beside the database: elsewhere there may be no room for
    them, or its contents must not be there."""
    quoted = str(folder.absolute()).replace("'", "''")
    connection.execute(f"PRAGMA temp_store_directory = '{quoted}'").fetchall()
    try:
        yield
    finally:
        connection.execute("PRAGMA temp_store_directory = ''").fetchall()


def _require_replaceable(path: Path, servers: ServerLock) -> None:
    if servers.has_others():
        raise Conflict("a server works on this database: stop it, then restore")
    if not path.exists() or path.stat().st_size == 0:
        return
    with closing(connect_to_read(path)) as connection:
        known = table_names(SqliteScripts.name) - HOUSEKEEPING
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema")]
        for name in known.intersection(names):
            if connection.execute(f'SELECT 1 FROM "{name}" LIMIT 1').fetchall():  # noqa: S608
                raise Conflict(
                    f"the database at {path} is not empty: restore into one that does not exist"
                )


def _remove_database(path: Path) -> None:
    """Remove an empty database. Its log goes first: of a new file it would be a wrong part."""
    if path.exists():
        with closing(connect(path)) as connection:
            connection.execute("PRAGMA journal_mode = DELETE").fetchall()
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)


def _sync(path: Path) -> None:
    opened = os.open(path, os.O_RDONLY)
    try:
        # Some file systems can't sync a folder.
        with suppress(OSError):
            os.fsync(opened)
    finally:
        os.close(opened)
