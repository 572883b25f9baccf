"""Opens SQLite connections with our settings, and runs the statements of a transaction on one."""

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
from sqlalchemy import Dialect
from sqlalchemy.dialects.sqlite import dialect as sqlite_dialect

from recollect.db.statements import CompiledQuery, Params, Query, Row
from recollect.kernel.clock import from_text, to_text
from recollect.kernel.errors import Internal, InvalidInput, RecollectError, Unavailable

DIALECT: Dialect = sqlite_dialect(paramstyle="qmark")
BUSY_MS = 10_000
# Errors of the driver, and of creating the folder and the file before the driver opens them.
FAILURES = (apsw.Error, OSError)

_BUSY_PAUSE_SECONDS = 0.01
# How every SQLite file begins.
_MAGIC = b"SQLite format 3\x00"

_PRAGMAS = """
PRAGMA synchronous = FULL;
PRAGMA foreign_keys = ON;
PRAGMA secure_delete = ON;
PRAGMA cache_size = -16000;
"""

_CONVERTERS: dict[str, Callable[[Any], Any]] = {"DateTime": from_text, "Boolean": bool}


def connect(path: Path) -> apsw.Connection:
    """Open the database file. A new one is readable by its owner alone, and so is its WAL."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch(mode=0o600, exist_ok=True)
    connection = apsw.Connection(str(path), statementcachesize=300)
    connection.set_busy_timeout(BUSY_MS)
    # Query plans must not depend on the values of parameters. Without this setting SQLite prepares
    # a statement again whenever a value might matter to the planner: lookups get six times slower.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    _enable_wal(connection)
    connection.execute(_PRAGMAS).fetchall()
    return connection


def connect_to_read(path: Path) -> apsw.Connection:
    """Open an existing file so that no byte of it can change."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    connection.set_busy_timeout(BUSY_MS)
    return connection


def check_file(path: Path) -> None:
    """Raise InvalidInput if no database can be at this path: it is a folder, or a file of another
    kind. A file that is empty or absent becomes one. Nothing is written."""
    if path.is_dir():
        raise InvalidInput(
            f"database.url: {path} is a folder; name a file, such as"
            f" sqlite:///{path / 'recollect.db'}",
            field="database.url",
        )
    if not path.is_file() or path.stat().st_size == 0:
        return
    message = f"database.url: {path} is no SQLite database; name another file, or an absent one"
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise InvalidInput(message, field="database.url")
    try:
        with closing(connect_to_read(path)) as connection:
            connection.execute("PRAGMA schema_version").fetchall()
    except (apsw.NotADBError, apsw.CorruptError):
        raise InvalidInput(message, field="database.url") from None


def _enable_wal(connection: apsw.Connection) -> None:
    """Switch to WAL mode. The busy timeout does not apply here, so we wait by ourselves.

    Several processes that open a new file at once would otherwise fail with "database is locked".
    """
    end = time.monotonic() + BUSY_MS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
        except apsw.BusyError:
            if time.monotonic() > end:
                raise
            time.sleep(_BUSY_PAUSE_SECONDS)
        else:
            return


class SqliteTx:
    """The `Tx` of one transaction. Converts the texts and integers SQLite returns to types."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def fetch(self, statement: Query, params: Params) -> Sequence[Row]:
        compiled = statement.compile_for(DIALECT)
        rows = self._execute(compiled, params).fetchall()
        convert = _row_converter(compiled)
        return [convert(row) for row in rows] if convert else rows

    def fetch_first(self, statement: Query, params: Params) -> Row | None:
        rows = self.fetch(statement, params)
        return rows[0] if rows else None

    def run(self, statement: Query, params: Params) -> None:
        self._execute(statement.compile_for(DIALECT), params).fetchall()

    def lock(self, statement: Query, params: Params) -> None:
        """Nothing to do: there is one writer, so a write transaction locks everything already."""

    def run_and_count(self, statement: Query, params: Params) -> int:
        self.run(statement, params)
        return self._connection.changes()

    def _execute(self, compiled: CompiledQuery, params: Params) -> apsw.Cursor:
        values = compiled.bind(params)
        for index in compiled.instants:
            if values[index] is not None:
                values[index] = to_text(values[index])
        return self._connection.execute(compiled.sql, values)


_row_converters: dict[int, tuple[CompiledQuery, Callable[[Row], Row] | None]] = {}


def _row_converter(compiled: CompiledQuery) -> Callable[[Row], Row] | None:
    """The converter of a statement's rows, None if no column needs one.

    Cached by `id()`, the cheapest key. The cache keeps the statement alive, so that no other
    object can get the same id.
    """
    known = _row_converters.get(id(compiled))
    if known is None:
        known = _row_converters[id(compiled)] = (compiled, _make_converter(compiled.types))
    return known[1]


def _make_converter(types: Sequence[str]) -> Callable[[Row], Row] | None:
    at = [(i, _CONVERTERS[name]) for i, name in enumerate(types) if name in _CONVERTERS]
    if not at:
        return None

    def convert(row: Row) -> Row:
        values = list(row)
        for index, restore in at:
            if values[index] is not None:
                values[index] = restore(values[index])
        return tuple(values)

    return convert


def translate_error(error: apsw.Error | OSError) -> RecollectError:
    """Map a driver's error: what may pass by itself is Unavailable, everything else Internal."""
    if isinstance(error, apsw.CantOpenError | OSError):
        return Unavailable("the database file can't be opened")
    if isinstance(error, apsw.BusyError | apsw.LockedError | apsw.FullError | apsw.IOError):
        return Unavailable("the database can't be written now; try again")
    return Internal(f"SQLite: {type(error).__name__}: {error}")
