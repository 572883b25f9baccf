"""Reads and writes all rows of a database by COPY, each in one transaction."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any

import psycopg
from psycopg import errors as pg_errors

from recollect.db import migrations
from recollect.db.engines.postgres.copy_format import CopiedType, CopyEncoder, copied_type
from recollect.db.migrations import HOUSEKEEPING, migrate, table_names
from recollect.db.row_copy import (
    LOCAL_COLUMNS,
    Row,
    StoredTable,
    in_order_of_references,
    order_clause,
    select_list,
)
from recollect.db.statements import Row as FetchedRow
from recollect.kernel.errors import Conflict, InvalidInput

Connection = psycopg.Connection[FetchedRow]

_SNAPSHOT = b"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"
_BUILD_MEMORY = b"SET LOCAL maintenance_work_mem = '256MB'"
_WRITE_BYTES = 256 * 1024
# Columns that the server computes (generated ones) are made anew from the others.
_COLUMNS = """
SELECT c.relname, a.attname, a.atttypid::regtype::text, a.attidentity <> ''
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relnamespace = to_regnamespace(current_schema()) AND c.relkind = 'r'
  AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
ORDER BY c.relname, a.attnum
"""
_REFERENCES = """
SELECT conrelid::regclass::text, confrelid::regclass::text FROM pg_constraint
WHERE contype = 'f' AND connamespace = to_regnamespace(current_schema())
"""
_INDEXES = """
SELECT i.tablename, i.indexname, i.indexdef FROM pg_indexes i
WHERE i.schemaname = current_schema() AND NOT EXISTS (
  SELECT 1 FROM pg_constraint c WHERE c.conindid = to_regclass(quote_ident(i.indexname)))
"""


@contextmanager
def open_snapshot(connection: Connection) -> Iterator["PostgresRows"]:
    """All reads see the state of the first one, and block no writer."""
    with closing(connection), connection.transaction():
        connection.execute(_SNAPSHOT)
        yield PostgresRows(connection)


@contextmanager
def open_restore(
    connection: Connection, *, migration_lock: int, server_lock: int
) -> Iterator["PostgresRowWriter"]:
    """Fill the database in one transaction. Migrations and servers that start wait for its end."""
    with closing(connection), connection.transaction():
        connection.execute(f"SELECT pg_advisory_xact_lock({migration_lock})".encode())
        taking = f"SELECT pg_try_advisory_xact_lock({server_lock})".encode()
        if connection.execute(taking).fetchone() != (True,):
            raise Conflict("a server works on this database: stop it, then restore")
        connection.execute(_BUILD_MEMORY)
        writer = PostgresRowWriter(connection)
        writer.remove_empty_tables()
        yield writer


class PostgresRows:
    """The rows of the database in the open transaction of one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @property
    def schema_version(self) -> int:
        return migrations.read_version(PostgresScripts(self._connection))

    @property
    def tables(self) -> Sequence[StoredTable]:
        numbered = self._numbered_columns()
        tables = [
            StoredTable(
                name,
                tuple(columns),
                _blobs(columns),
                self._count(name),
                self._last_number(name, numbered[name]) if name in numbered else None,
            )
            for name, columns in self._columns().items()
        ]
        return in_order_of_references(tables, self._all(_REFERENCES))

    def read(self, table: StoredTable) -> Iterator[Row]:
        types = self._columns()[table.name]
        values = ", ".join(types[name].to_value(f'"{name}"') for name in table.columns)
        query = f'SELECT {values} FROM "{table.name}"{order_clause(table)}'  # noqa: S608
        copying = f"COPY ({query}) TO STDOUT (FORMAT binary)".encode()
        with self._connection.cursor() as cursor, cursor.copy(copying) as copy:
            copy.set_types([types[name].value_type for name in table.columns])
            yield from copy.rows()

    def _columns(self) -> dict[str, dict[str, CopiedType]]:
        known, found = table_names(PostgresScripts.name), dict[str, dict[str, CopiedType]]()
        for table, column, type_, _ in self._all(_COLUMNS):
            if table in known and column != LOCAL_COLUMNS.get(table):
                found.setdefault(table, {})[column] = copied_type(type_)
        return found

    def _numbered_columns(self) -> dict[str, str]:
        """Of each table that counts its rows the column with the number."""
        known = table_names(PostgresScripts.name)
        return {
            table: column for table, column, _, yes in self._all(_COLUMNS) if yes and table in known
        }

    def _sequence(self, table: str, column: str) -> str:
        return str(self._all(f"SELECT pg_get_serial_sequence('\"{table}\"', '{column}')")[0][0])

    def _last_number(self, table: str, column: str) -> int | None:
        sequence = self._sequence(table, column)
        [(number, given)] = self._all(f"SELECT last_value, is_called FROM {sequence}")  # noqa: S608
        return int(number) if given else None

    def _count(self, table: str) -> int:
        return int(self._all(f'SELECT count(*) FROM "{table}"')[0][0])  # noqa: S608

    def _all(self, query: str) -> list[FetchedRow]:
        return self._connection.execute(query.encode()).fetchall()


class PostgresRowWriter(PostgresRows):
    """Fills the database of one connection."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self._indexes: list[str] = []

    def remove_empty_tables(self) -> None:
        """Make room for the tables of the backup. Raises Conflict if there are rows."""
        found = self._columns()
        for name in found:
            self._run(f'LOCK TABLE "{name}" IN ACCESS EXCLUSIVE MODE')
            if name not in HOUSEKEEPING and self._count(name):
                raise Conflict(
                    "the database is not empty: restore into a new one (CREATE DATABASE)"
                )
        if found:
            self._run(f"DROP TABLE {select_list([*found, 'schema_versions'])} CASCADE")

    def create(self, schema_version: int) -> Mapping[str, StoredTable]:
        migrate(PostgresScripts(self._connection), to=schema_version)
        tables = self._columns()
        # What migrations put into the tables is among the rows to come.
        self._run(f"TRUNCATE {select_list(tables)}")
        # Rows that come in one go are sorted once for each index, instead of one by one.
        for table, name, definition in self._all(_INDEXES):
            if table in tables:
                self._indexes.append(definition)
                self._run(f'DROP INDEX "{name}"')
        return {
            name: StoredTable(name, tuple(columns), _blobs(columns))
            for name, columns in tables.items()
        }

    def write(self, table: StoredTable, rows: Iterable[Row]) -> None:
        types = self._columns()[table.name]
        encoder = CopyEncoder([types[name] for name in table.columns])
        copying = f'COPY "{table.name}" ({select_list(table.columns)}) FROM STDIN (FORMAT binary)'
        try:
            with self._connection.cursor() as cursor, cursor.copy(copying.encode()) as copy:
                for chunk in encoder.chunks(rows, _WRITE_BYTES):
                    copy.write(chunk)
        except pg_errors.DataError as error:
            raise InvalidInput(
                f"PostgreSQL can't store a value of {table.name}, such as a text with U+0000"
            ) from error
        except pg_errors.IntegrityError as error:
            raise InvalidInput(f"the rows of {table.name} break a rule of the schema") from error
        column = self._numbered_columns().get(table.name)
        if column is not None:
            self._set_number(table, column)

    def finish(self) -> None:
        for definition in self._indexes:
            self._run(definition)
        migrate(PostgresScripts(self._connection))
        self._run(f"ANALYZE {select_list(self._columns())}")

    def _set_number(self, table: StoredTable, column: str) -> None:
        [(highest,)] = self._all(f'SELECT max("{column}") FROM "{table.name}"')  # noqa: S608
        number = max(highest or 0, table.last_number or 0)
        if number:
            self._run(f"SELECT setval('{self._sequence(table.name, column)}', {number})")

    def _run(self, statement: str) -> None:
        self._connection.execute(statement.encode())


class PostgresScripts:
    """Runs migrations inside the open transaction of one connection."""

    name = "postgres"

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def run_script(self, sql: str, *, unless: str | None = None) -> None:
        if unless is None or not self.query_script(unless):
            self._connection.execute(sql.encode())

    def query_script(self, sql: str) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql.encode()).fetchall()

    def has_table(self, name: str) -> bool:
        found = self._connection.execute("SELECT to_regclass(%s) IS NOT NULL", (name,)).fetchone()
        return found == (True,)


def _blobs(columns: Mapping[str, CopiedType]) -> tuple[int, ...]:
    return tuple(at for at, type_ in enumerate(columns.values()) if type_.value_type == "bytea")
