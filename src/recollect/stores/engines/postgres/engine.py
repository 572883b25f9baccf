"""Threads around PostgreSQL, each with a connection of its own.

Writes run at READ COMMITTED and take the tree's row lock first, so what they read after it is
current. Reads run at REPEATABLE READ: each request sees one snapshot.
"""

import asyncio
import queue
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar, cast

import psycopg
from psycopg import errors as pg_errors
from sqlalchemy import Dialect

from recollect.errors import Conflict, Unavailable
from recollect.ports.database import Retry, Tx
from recollect.ports.metrics import Metrics, TransactionKind
from recollect.stores.engines.base import ATTEMPTS_MAX, QUEUE_MAX, Request, deliver
from recollect.stores.engines.postgres.connection import (
    DIALECT,
    PipelinedConnection,
    PostgresTx,
    connect,
    lost_race,
    translate,
)
from recollect.stores.statements import Row

T = TypeVar("T")
_Queue = queue.SimpleQueue[tuple[TransactionKind, Request] | None]

_BEGIN: dict[TransactionKind, str] = {
    "read": "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    "write": "BEGIN",
}
_MIGRATION_LOCK = 0x5245434F
_NEEDS_PGVECTOR = (
    "the schema can't be changed: it needs the extension pgvector, installed on the server and "
    "created once by a superuser (CREATE EXTENSION vector), and a role that may create tables"
)


class PostgresEngine:
    """A pool of threads; a transaction is a plain function here too."""

    name = "postgres"
    dialect: Dialect = DIALECT

    def __init__(self, url: str, *, connections: int, metrics: Metrics) -> None:
        self._url = url
        self._metrics = metrics
        self._count = connections
        self._waiting: queue.SimpleQueue[tuple[TransactionKind, Request] | None] = (
            queue.SimpleQueue()
        )
        self._threads: list[threading.Thread] = []
        self._closed = False

    def start(self) -> None:
        """Start the threads; each connects at its first request."""
        for number in range(self._count):
            name = f"recollect-postgres-{number}"
            thread = threading.Thread(target=self._loop, name=name, daemon=True)
            self._threads.append(thread)
            thread.start()

    def run_script(self, sql: str, *, unless: str | None = None) -> None:
        """Run several statements in one transaction, unless the query has a row inside it."""
        try:
            with self._own_connection() as connection, connection.transaction():
                connection.execute(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})".encode())
                if unless is None or not connection.execute(unless.encode()).fetchall():
                    connection.execute(sql.encode())
        except (pg_errors.InsufficientPrivilege, pg_errors.UndefinedFile) as error:
            raise Conflict(_NEEDS_PGVECTOR) from error
        except psycopg.Error as error:
            raise translate(error) from error

    def query_script(self, sql: str) -> list[tuple[Any, ...]]:
        """Rows of one query, before the engine starts."""
        with self._own_connection() as connection:
            return connection.execute(sql.encode()).fetchall()

    def has_table(self, name: str) -> bool:
        """Is there a table of this name?"""
        with self._own_connection() as connection:
            found = connection.execute("SELECT to_regclass(%s) IS NOT NULL", (name,)).fetchone()
        return found == (True,)

    async def read(self, work: Callable[[Tx], T]) -> T:
        """See the port."""
        return await self._submit("read", work)

    async def write(self, work: Callable[[Tx], T]) -> T:
        """See the port."""
        return await self._submit("write", work)

    async def close(self) -> None:
        """Finish what was accepted, then close every connection."""
        if self._closed:
            return
        self._closed = True
        for _ in range(self._count):
            self._waiting.put(None)
        await asyncio.gather(*(asyncio.to_thread(t.join) for t in self._threads))

    def _own_connection(self) -> "psycopg.Connection[Row]":
        try:
            return connect(self._url)
        except psycopg.Error as error:
            reason = str(error).partition("\n")[0]
            raise Unavailable(f"can't connect to PostgreSQL: {reason}") from error

    async def _submit(self, kind: TransactionKind, work: Callable[[Tx], T]) -> T:
        if self._closed:
            raise Unavailable("the server is shutting down")
        if self._waiting.qsize() > QUEUE_MAX:
            raise Unavailable("too many requests wait for the database")
        loop = asyncio.get_running_loop()
        request = Request(work, loop, loop.create_future(), time.perf_counter())
        self._waiting.put((kind, request))
        return cast(T, await request.future)

    def _loop(self) -> None:
        session = _Session(self._url)
        while (item := self._waiting.get()) is not None:
            kind, request = item
            session.serve(kind, request)
            self._metrics.transaction(kind, time.perf_counter() - request.queued_at)
            deliver([request])
        session.close()


class _Session:
    """One thread's connection; it is opened anew after it broke."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._connection: PipelinedConnection | None = None
        self._committing = False

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def serve(self, kind: TransactionKind, request: Request) -> None:
        """Run the transaction; afterwards the request holds its result or its error."""
        for _ in range(ATTEMPTS_MAX):
            request.result = request.error = None
            used_before = self._connection is not None
            try:
                request.result = self._transaction(kind, request.work)
                return
            except Retry:
                request.error = Unavailable("too many requests race for one conversation")
            except psycopg.Error as error:
                request.error = translate(error)
                if not (lost_race(error) or (used_before and self._lost_uncommitted)):
                    return
            except Exception as error:  # noqa: BLE001 - outermost frame of a thread
                request.error = error
                return

    @property
    def _lost_uncommitted(self) -> bool:
        """An idle connection may have ended unseen. What did not come to its commit left nothing,
        so it may run again on a new one."""
        return self._connection is None and not self._committing

    def _transaction(self, kind: TransactionKind, work: Callable[[Any], T]) -> T:
        if self._connection is None:
            self._connection = PipelinedConnection(self._url)
        connection = self._connection
        self._committing = False
        try:
            connection.queue(_BEGIN[kind])
            result = work(PostgresTx(connection))
            self._committing = True
            connection.queue("COMMIT")
            connection.sync()
        except BaseException:
            self._abandon(connection)
            raise
        return result

    def _abandon(self, connection: PipelinedConnection) -> None:
        try:
            connection.recover()
        except psycopg.Error:  # the connection itself is gone, and the transaction with it
            self.close()
