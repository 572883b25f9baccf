"""A PostgreSQL connection as we want it, and a transaction on it.

Statements travel in libpq's pipeline: `run` only queues, `fetch` flushes and waits. An append thus
costs two round trips (begin, lock and read; write and commit), with every decision in Python.
"""

from collections.abc import Sequence

import psycopg
from psycopg import errors as pg_errors
from psycopg.adapt import Buffer, Loader
from sqlalchemy import Dialect
from sqlalchemy.dialects.postgresql.psycopg import dialect as psycopg_dialect

from recollect.errors import Internal, RecollectError, Unavailable
from recollect.stores.statements import Params, Row, Statement

DIALECT: Dialect = psycopg_dialect()  # type: ignore[no-untyped-call]

Connection = psycopg.Connection[Row]

_CONNECT_SECONDS = 5

_LOST_RACE = (
    pg_errors.SerializationFailure,
    pg_errors.DeadlockDetected,
    pg_errors.UniqueViolation,
    pg_errors.ForeignKeyViolation,
)


class _UuidText(Loader):
    """Ids are text inside; a UUID object for each would be made only to be turned back."""

    def load(self, data: Buffer) -> str:
        return bytes(data).decode()


def connect(url: str) -> Connection:
    """Open a connection that prepares what it repeats and speaks UTC."""
    connection: Connection = psycopg.connect(
        url,
        autocommit=True,
        prepare_threshold=2,
        connect_timeout=_CONNECT_SECONDS,
        options="-c timezone=UTC",
    )
    connection.prepared_max = 200
    connection.adapters.register_loader("uuid", _UuidText)
    return connection


class PostgresTx:
    """Runs statements on one connection that is in pipeline mode."""

    def __init__(self, connection: Connection, pipeline: psycopg.Pipeline) -> None:
        self._connection = connection
        self._pipeline = pipeline

    def fetch(self, statement: Statement, params: Params) -> Sequence[Row]:
        return self._execute(statement, params).fetchall()

    def first(self, statement: Statement, params: Params) -> Row | None:
        return self._execute(statement, params).fetchone()

    def run(self, statement: Statement, params: Params) -> None:
        self._execute(statement, params)

    def change(self, statement: Statement, params: Params) -> int:
        cursor = self._execute(statement, params)
        self._pipeline.sync()
        return cursor.rowcount

    def _execute(self, statement: Statement, params: Params) -> "psycopg.Cursor[Row]":
        compiled = statement.on(DIALECT)
        return self._connection.execute(compiled.sql, compiled.bind(params))


def lost_race(error: BaseException) -> bool:
    """Did two transactions meet? Then running ours again from the start is right."""
    return isinstance(error, _LOST_RACE)


def translate(error: psycopg.Error) -> RecollectError:
    """A driver's error as ours: what passes by itself is Unavailable, the rest is a fault."""
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return Unavailable("the database does not answer; try again")
    return Internal(f"PostgreSQL: {type(error).__name__} {error.sqlstate}")
