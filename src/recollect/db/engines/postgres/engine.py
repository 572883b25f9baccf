"""The PostgreSQL engine: transactions in greenlets on the event loop, long reads on threads."""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar, cast

import psycopg
from psycopg import errors as pg_errors
from sqlalchemy import Dialect, text

from recollect.db.engines.base import (
    QUEUE_MAX,
    PendingTransaction,
    WordIndex,
    new_transaction,
)
from recollect.db.engines.postgres.connection import (
    DIALECT,
    PipelinedConnection,
    ThreadWaiter,
    connect,
    connect_async,
    translate_error,
)
from recollect.db.engines.postgres.hub import (
    GreenletPool,
    LoopWaiter,
    run_in_thread,
)
from recollect.db.engines.postgres.row_copy import (
    PostgresRows,
    PostgresRowWriter,
    open_restore,
    open_snapshot,
)
from recollect.db.engines.postgres.session import PostgresSession
from recollect.db.statements import Query, Row
from recollect.db.transaction import Tx
from recollect.kernel.errors import Conflict, InvalidInput, Unavailable
from recollect.observability.metrics import Metrics, TransactionKind
from recollect.observability.tracing import span

T = TypeVar("T")
_MIGRATION_LOCK = 0x5245434F
_SERVER_LOCK = 0x52454350
# A forgotten transaction of somebody else must not block every connection and the shutdown.
LOCK_WAIT_MS = 10_000
IDLE_SCANS_MAX = 2
_NEEDS_PGVECTOR = (
    "the schema can't be changed: it needs the extension pgvector, installed on the server and "
    "created once by a superuser (CREATE EXTENSION vector), and a role that may create tables"
)


class GeneratedWordIndex:
    """The index is a generated column of the row."""

    def add(self, tx: Tx, words: str) -> None:
        """Nothing to do."""


class PostgresEngine:
    """Runs transactions of the `Database` protocol on one PostgreSQL database."""

    name = "postgres"
    dialect: Dialect = DIALECT
    words: WordIndex = GeneratedWordIndex()
    memory_words: WordIndex = GeneratedWordIndex()

    def __init__(
        self, url: str, *, connections: int, metrics: Metrics, lock_wait_ms: int = LOCK_WAIT_MS
    ) -> None:
        self._url = url
        self._lock_wait_ms = lock_wait_ms
        self._metrics = metrics
        self._hub = GreenletPool(
            [PostgresSession(self._connect) for _ in range(connections)], self._run_transaction
        )
        self._idle_scans: list[PostgresSession] = []
        self._presence: psycopg.Connection[Row] | None = None
        self._closed = False

    def start(self) -> None:
        """Nothing to do: a connection is opened at its first use."""

    def register_server(self) -> None:
        """Take a shared lock that PostgreSQL releases when this process is gone. Any number of
        servers may work on one database, and one that starts alone takes over from the dead."""
        if self._presence is None:
            self._presence = self._own_connection()
            self._presence.execute(f"SELECT pg_advisory_lock_shared({_SERVER_LOCK})".encode())

    def has_unexpected_servers(self) -> bool:
        return False

    def is_only_server(self) -> bool:
        if self._presence is None:
            return False
        # Locks of one session don't conflict, so only another server's can be in the way.
        try:
            taken = self._presence.execute(
                f"SELECT pg_try_advisory_lock({_SERVER_LOCK})".encode()
            ).fetchone()
            if taken == (True,):
                self._presence.execute(f"SELECT pg_advisory_unlock({_SERVER_LOCK})".encode())
        except psycopg.Error:
            return False
        return taken == (True,)

    def run_script(self, sql: str, *, unless: str | None = None) -> None:
        """Run several statements in one transaction, unless the query `unless` finds a row there.

        The advisory lock makes processes that start at once take turns, so the second one sees
        what the first one did.
        """
        with (
            _translated_errors(),
            self._own_connection() as connection,
            connection.transaction(),
        ):
            connection.execute(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})".encode())
            if unless is None or not connection.execute(unless.encode()).fetchall():
                connection.execute(sql.encode())

    @contextmanager
    def open_snapshot(self) -> Iterator[PostgresRows]:
        with _translated_errors(), open_snapshot(self._own_connection()) as rows:
            yield rows

    @contextmanager
    def open_restore(self) -> Iterator[PostgresRowWriter]:
        connection = self._own_connection()
        locks = {"migration_lock": _MIGRATION_LOCK, "server_lock": _SERVER_LOCK}
        with _translated_errors(), open_restore(connection, **locks) as writer:
            yield writer

    def query_script(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of one query, on a connection of its own."""
        with self._own_connection() as connection:
            return connection.execute(sql.encode()).fetchall()

    def has_table(self, name: str) -> bool:
        """Is there a table of this name?"""
        with self._own_connection() as connection:
            found = connection.execute("SELECT to_regclass(%s) IS NOT NULL", (name,)).fetchone()
        return found == (True,)

    async def read(self, work: Callable[[Tx], T]) -> T:
        with span("transaction", kind="read"):
            return await self._submit("read", work)

    async def write(self, work: Callable[[Tx], T]) -> T:
        with span("transaction", kind="write"):
            return await self._submit("write", work)

    async def scan(self, work: Callable[[Tx], T]) -> T:
        """Run a read that computes for long, on a thread and a connection of its own.

        On the event loop such a function would stop every other request.
        """
        if self._closed:
            raise Unavailable("the server is shutting down")
        request = new_transaction("read", work)
        with span("transaction", kind="read"):
            await asyncio.to_thread(self._run_scan, request)
        request.resolve_future()
        return cast(T, await request.future)

    async def inspect(self, work: Callable[[Tx], T]) -> T:
        """The same as `scan`: a connection is opened at its first use."""
        return await self.scan(work)

    async def run_outside_transaction(self, statements: Sequence[Any]) -> None:
        if not statements:
            return
        try:
            async with await connect_async(self._url) as connection:
                for statement in statements:
                    await connection.execute(statement.compile_for(DIALECT).sql.encode())
        except psycopg.Error as error:
            raise translate_error(error) from error

    async def scrub(self, tables: Sequence[str]) -> None:
        """VACUUM each table, so that the server drops its dead rows."""
        await self.run_outside_transaction([Query(text(f'VACUUM "{name}"')) for name in tables])

    async def count_bytes(self, needles: Sequence[bytes]) -> None:
        """Not possible: the database's files belong to the PostgreSQL server."""

    async def close(self) -> None:
        """Finish what was accepted, then close every connection."""
        if self._closed:
            return
        self._closed = True
        try:
            await self._hub.close()
        finally:
            self._close_idle_scans()
            if self._presence is not None:
                self._presence.close()

    def _own_connection(self) -> "psycopg.Connection[Row]":
        try:
            return connect(self._url)
        except psycopg.ProgrammingError:  # its text quotes the URL, password included
            raise InvalidInput("database.url: libpq can't read this PostgreSQL URL") from None
        except psycopg.Error as error:
            reason = str(error).partition("\n")[0]
            raise Unavailable(f"can't connect to PostgreSQL: {reason}") from error

    def _submit(self, kind: TransactionKind, work: Callable[[Tx], T]) -> "asyncio.Future[T]":
        if self._closed:
            raise Unavailable("the server is shutting down")
        if self._hub.queue_depth >= QUEUE_MAX:
            raise Unavailable("too many requests wait for the database")
        return self._hub.submit(kind, work)

    def _run_transaction(self, session: PostgresSession, request: PendingTransaction) -> None:
        session.run(request)
        self._metrics.record_transaction(request.kind, time.perf_counter() - request.queued_at)

    def _connect(self) -> PipelinedConnection:
        connection = run_in_thread(lambda: connect(self._url, lock_wait_ms=self._lock_wait_ms))
        return PipelinedConnection(connection, LoopWaiter(connection.fileno()))

    def _run_scan(self, request: PendingTransaction) -> None:
        """Run the read and block this thread. A few connections are kept for later scans."""
        # `pop` and `append` of a list are atomic, so the threads need no lock. The bound may be
        # exceeded by a thread or two, which does no harm.
        try:
            session = self._idle_scans.pop()
        except IndexError:
            session = PostgresSession(self._connect_blocking)
        self._run_transaction(session, request)
        if len(self._idle_scans) >= IDLE_SCANS_MAX:
            session.close()
            return
        self._idle_scans.append(session)
        # Looked at after the append: `close` may have emptied the list just before it.
        if self._closed:
            self._close_idle_scans()

    def _close_idle_scans(self) -> None:
        with suppress(IndexError):  # another thread may take the last one
            while True:
                self._idle_scans.pop().close()

    def _connect_blocking(self) -> PipelinedConnection:
        connection = connect(self._url)
        return PipelinedConnection(connection, ThreadWaiter(connection.fileno()))


@contextmanager
def _translated_errors() -> Iterator[None]:
    try:
        yield
    except (pg_errors.InsufficientPrivilege, pg_errors.UndefinedFile) as error:
        raise Conflict(_NEEDS_PGVECTOR) from error
    except psycopg.Error as error:
        raise translate_error(error) from error
