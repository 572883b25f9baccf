"""A PostgreSQL connection in libpq's pipeline mode, and transactions on it.

Statements are prepared once per connection and queued without waiting. `fetch` flushes the queue
and reads answers up to its own. So an append costs two round trips (begin, lock and read; write and
commit), while every decision is made in Python. This uses psycopg's libpq layer: its cursors cost
twice as much CPU for the same statements (decision 0004).
"""

import select
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Protocol

import psycopg
from psycopg import errors as pg_errors
from psycopg import pq
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import Dialect
from sqlalchemy.dialects.postgresql.psycopg import dialect as psycopg_dialect

from recollect.db.engines.postgres.values import (
    Decoder,
    decoder_for,
    encode_param,
)
from recollect.db.statements import Params, Query, Row
from recollect.kernel.errors import Internal, RecollectError, Unavailable

DIALECT: Dialect = psycopg_dialect(paramstyle="numeric_dollar")  # type: ignore[no-untyped-call]

_CONNECT_SECONDS = 5
# A peer that acknowledges nothing for this long is gone: a lost network must not block for ever.
_PEER_TIMEOUT_MS = 30_000
# At most this many answers stay unread. With more, both socket buffers could fill up: the server
# stops reading our statements until we read its answers, and we stop sending: a deadlock.
_UNREAD_MAX = 100
_OK_STATUSES = frozenset({pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK})
_RACE_ERRORS = (
    pg_errors.SerializationFailure,
    pg_errors.DeadlockDetected,
    pg_errors.UniqueViolation,
    pg_errors.ForeignKeyViolation,
)


@dataclass(slots=True)
class _PreparedStatement:
    """A statement prepared on one connection: its name there, and the decoders of its columns."""

    name: bytes
    sql: str
    decoders: tuple[Decoder, ...] | None = None


@dataclass(slots=True)
class PendingResult:
    """The result of a queued statement, empty until it was read. `preparing` marks a PREPARE."""

    prepared: _PreparedStatement
    preparing: bool = False
    result: "pq.abc.PGresult | None" = None

    def rows(self) -> list[Row]:
        return [] if self.result is None else _rows(self.result, self.prepared)

    def row_count(self) -> int:
        """How many rows the statement changed."""
        return 0 if self.result is None else self.result.command_tuples or 0


class Waiter(Protocol):
    """How a connection waits for the server."""

    def wait(self, events: int) -> int:
        """Wait until one of the events (of `select.poll`) happens; return that event."""
        ...

    def close(self) -> None:
        """Forget the descriptor, which is about to be closed."""
        ...


class ThreadWaiter:
    """Waits by blocking the thread."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._poll = select.poll()

    def wait(self, events: int) -> int:
        self._poll.register(self._fd, events)
        return self._poll.poll()[0][1]

    def close(self) -> None:
        """Nothing to do: the poll object belongs to this waiter alone."""


def connect(url: str, *, lock_wait_ms: int = 0) -> "psycopg.Connection[Row]":
    """Open a blocking connection. A statement that waits longer for a lock fails; 0: no limit."""
    return psycopg.connect(url, autocommit=True, **_connect_arguments(url, lock_wait_ms))


async def connect_async(url: str) -> "psycopg.AsyncConnection[Row]":
    """Open a connection for the event loop. Cancelling the task cancels its statement."""
    return await psycopg.AsyncConnection.connect(url, autocommit=True, **_connect_arguments(url, 0))


def _connect_arguments(url: str, lock_wait_ms: int) -> dict[str, Any]:
    return {
        "connect_timeout": _CONNECT_SECONDS,
        "keepalives_idle": 30,
        "keepalives_interval": 10,
        "keepalives_count": 3,
        "tcp_user_timeout": _PEER_TIMEOUT_MS,
        "options": _connect_options(url, lock_wait_ms),
    }


def _connect_options(url: str, lock_wait_ms: int) -> str:
    """Ours come last, so they win; options of the URL, such as a `search_path`, are kept."""
    from_url = conninfo_to_dict(url).get("options")
    options = f"-c timezone=UTC -c datestyle=ISO -c lock_timeout={lock_wait_ms}"
    return f"{from_url} {options}" if from_url else options


class PipelinedConnection:
    """A connection that is always in pipeline mode. One transaction uses it at a time.

    The protocol: each queued statement gets exactly one answer, in order, so `_unread` is a queue
    of the answers to come. After an error the server skips every statement until the next sync
    point, and answers the skipped ones with "pipeline aborted"; only `recover` gets past that.
    """

    def __init__(self, connection: "psycopg.Connection[Row]", waiter: Waiter) -> None:
        self._connection = connection
        self._waiter = waiter
        self._pgconn = self._connection.pgconn
        self._pgconn.nonblocking = 1
        self._pgconn.enter_pipeline_mode()
        self._prepared: dict[str, _PreparedStatement] = {}
        self._names = count()
        self._unread: deque[PendingResult] = deque()
        self._syncing = False

    def close(self) -> None:
        """Close the connection; an open transaction is lost."""
        self._waiter.close()
        self._connection.close()

    def queue(self, sql: str, values: Sequence[bytes | None] = ()) -> PendingResult:
        """Queue one statement, preparing it first where it is new. `read_until` gets its answer."""
        prepared = self._prepared.get(sql)
        if prepared is None:
            prepared = self._prepare(sql)
        self._pgconn.send_query_prepared(prepared.name, values)
        answer = PendingResult(prepared)
        self._unread.append(answer)
        if len(self._unread) > _UNREAD_MAX:
            self.read_until(answer)
        return answer

    def read_until(self, wanted: PendingResult) -> PendingResult:
        """Send what is queued and read answers up to the wanted one. Raises the first error.

        The error may be that of an earlier statement, which nobody waited for.
        """
        # A flush request, not a sync: a sync point has an answer of its own to read, and it would
        # end the skipping of statements behind a failed one.
        if wanted.result is None:
            self._pgconn.send_flush_request()
            self._flush()
            while wanted.result is None:
                self._read_into(self._unread.popleft())
        return wanted

    def sync(self) -> None:
        """Send what is queued and read every answer. Raises the first error."""
        self._send_sync()
        while self._unread:
            self._read_into(self._unread.popleft())
        self._read_to_sync()

    def recover(self) -> None:
        """Make the connection usable after an error: skip to the sync point, then roll back.

        Raises if the connection itself is broken.
        """
        for answer in self._unread:
            if answer.preparing:  # the server skipped the PREPARE: its name does not exist there
                self._prepared.pop(answer.prepared.sql, None)
        self._unread.clear()
        if not self._syncing:  # an error inside `sync` left its end unread
            self._send_sync()
        self._read_to_sync()
        self.queue("ROLLBACK")
        self.sync()

    def _send_sync(self) -> None:
        self._pgconn.pipeline_sync()
        self._syncing = True
        self._flush()

    def _prepare(self, sql: str) -> _PreparedStatement:
        prepared = self._prepared[sql] = _PreparedStatement(b"s%d" % next(self._names), sql)
        self._pgconn.send_prepare(prepared.name, sql.encode())
        self._unread.append(PendingResult(prepared, preparing=True))
        return prepared

    def _read_into(self, answer: PendingResult) -> None:
        result = self._await_result()
        if result is None:
            raise psycopg.OperationalError("the connection ended in the middle of an answer")
        if result.status not in _OK_STATUSES:
            # Back into the queue, so that `recover` sees it if it was a PREPARE.
            self._unread.appendleft(answer)
            raise _server_error(result)
        answer.result = result
        # In pipeline mode a NULL ends the results of each statement. It arrives together with the
        # result, so this loop never blocks.
        while self._pgconn.get_result() is not None:
            pass

    def _read_to_sync(self) -> None:
        while True:
            result = self._await_result()
            if result is not None and result.status == pq.ExecStatus.PIPELINE_SYNC:
                self._syncing = False
                return
            if self._pgconn.status == pq.ConnStatus.BAD:
                raise psycopg.OperationalError("the connection is lost")

    def _await_result(self) -> pq.abc.PGresult | None:
        while self._pgconn.is_busy():
            self._waiter.wait(select.POLLIN)
            self._pgconn.consume_input()
        return self._pgconn.get_result()

    def _flush(self) -> None:
        # Reads while it writes: a server whose send buffer is full would not take our statements.
        while self._pgconn.flush():
            if self._waiter.wait(select.POLLIN | select.POLLOUT) & select.POLLIN:
                self._pgconn.consume_input()


class PostgresTx:
    """The `Tx` of one transaction. `run` and `lock` only queue; the others wait for an answer."""

    def __init__(self, connection: PipelinedConnection) -> None:
        self._connection = connection

    def fetch(self, statement: Query, params: Params) -> Sequence[Row]:
        return self._connection.read_until(self._queue(statement, params)).rows()

    def fetch_first(self, statement: Query, params: Params) -> Row | None:
        rows = self.fetch(statement, params)
        return rows[0] if rows else None

    def run(self, statement: Query, params: Params) -> None:
        self._queue(statement, params)

    def lock(self, statement: Query, params: Params) -> None:
        self._queue(statement, params)

    def run_and_count(self, statement: Query, params: Params) -> int:
        return self._connection.read_until(self._queue(statement, params)).row_count()

    def _queue(self, statement: Query, params: Params) -> PendingResult:
        compiled = statement.compile_for(DIALECT)
        values = [encode_param(value) for value in compiled.bind(params)]
        return self._connection.queue(compiled.sql, values)


def is_lost_race(error: BaseException) -> bool:
    """Did two transactions collide, so that running ours again from the start is right?

    Unique and foreign key violations count: services check first, so at the time of the write only
    a concurrent transaction can have made the check's answer wrong.
    """
    return isinstance(error, _RACE_ERRORS)


def translate_error(error: psycopg.Error) -> RecollectError:
    """Map a driver's error: what may pass by itself is Unavailable, everything else Internal."""
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return Unavailable("the database does not answer; try again")
    return Internal(f"PostgreSQL: {type(error).__name__} {error.sqlstate}")


def _server_error(result: pq.abc.PGresult) -> psycopg.Error:
    """The exception for the server's SQLSTATE. Its text may hold stored values, so we drop it."""
    state = result.error_field(pq.DiagnosticField.SQLSTATE)
    if state is None:
        return psycopg.OperationalError("the connection is lost")
    try:
        kind = pg_errors.lookup(state.decode())
    except KeyError:  # a code of an extension, or of a newer server
        kind = psycopg.DatabaseError
    return kind("refused by the server")


def _rows(result: pq.abc.PGresult, prepared: _PreparedStatement) -> list[Row]:
    if not result.ntuples:
        return []
    if prepared.decoders is None:
        prepared.decoders = tuple(decoder_for(result.ftype(i)) for i in range(result.nfields))
    decoders = list(enumerate(prepared.decoders))
    get = result.get_value
    return [
        tuple(
            None if (raw := get(row, column)) is None else decode(raw)
            for column, decode in decoders
        )
        for row in range(result.ntuples)
    ]
