"""The SQLite engine: one writer thread with group commit, and a few reader threads.

The event loop hands transactions over by queues, once in a turn of the loop. The writer takes all
that wait and commits them together (`writer.py`). Readers take one at a time.
"""

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

import apsw
from sqlalchemy import Dialect

from recollect.db.engines.base import (
    QUEUE_MAX,
    PendingTransaction,
    TurnBatcher,
    WordIndex,
    deliver_results,
)
from recollect.db.engines.sqlite.connection import (
    DIALECT,
    FAILURES,
    SqliteTx,
    check_file,
    connect,
    connect_to_read,
    translate_error,
)
from recollect.db.engines.sqlite.row_copy import (
    SqliteRows,
    SqliteRowWriter,
    open_restore,
    open_snapshot,
)
from recollect.db.engines.sqlite.secure_delete import count_bytes, vacuum_file
from recollect.db.engines.sqlite.server_lock import ServerLock
from recollect.db.engines.sqlite.words import Fts5WordIndex
from recollect.db.engines.sqlite.writer import ExclusiveWork, SqliteWriter
from recollect.db.transaction import Tx
from recollect.kernel.errors import Unavailable
from recollect.observability.metrics import Metrics
from recollect.observability.tracing import span

BATCH_MAX = 64
_MAPPED_BYTES = 1024 * 1024 * 1024

T = TypeVar("T")
_Queue = queue.SimpleQueue[list[PendingTransaction] | None]


class SqliteEngine:
    """Runs transactions of the `Database` protocol on one SQLite file."""

    name = "sqlite"
    dialect: Dialect = DIALECT
    words: WordIndex = Fts5WordIndex("entry_words")
    memory_words: WordIndex = Fts5WordIndex("memory_words")

    def __init__(self, path: Path, *, readers: int, metrics: Metrics) -> None:
        """Raises InvalidInput if there is something else at the path."""
        with _translated_errors():
            check_file(path)
        self._path = path
        self._metrics = metrics
        self._writes: _Queue = queue.SimpleQueue()
        self._reads: _Queue = queue.SimpleQueue()
        self._to_write = TurnBatcher("write", self._put_writes)
        self._to_read = TurnBatcher("read", self._put_reads)
        self._waiting = 0
        self._reader_count = readers
        self._servers = ServerLock(path)
        self._threads: list[threading.Thread] = []
        self._closed = False

    def start(self) -> None:
        """Start the threads. Scripts run before this."""
        self._spawn("recollect-writer", self._write_loop)
        for number in range(self._reader_count):
            self._spawn(f"recollect-reader-{number}", self._read_loop)

    def register_server(self) -> None:
        self._servers.enter()

    def has_unexpected_servers(self) -> bool:
        return self._servers.has_others()

    def is_only_server(self) -> bool:
        return self._servers.is_taken and not self._servers.has_others()

    def run_script(self, sql: str, *, unless: str | None = None) -> None:
        """Run several statements in one transaction, unless the query `unless` finds a row there.

        BEGIN IMMEDIATE takes the write lock first, so of two processes that start at once the
        second one sees what the first one did.
        """
        with self._own_connection() as connection:
            connection.execute("BEGIN IMMEDIATE").fetchall()
            if unless is None or not connection.execute(unless).fetchall():
                connection.execute(sql).fetchall()
            connection.execute("COMMIT").fetchall()

    def query_script(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of one query, on a connection of its own."""
        with self._own_connection() as connection:
            return connection.execute(sql).fetchall()

    def has_table(self, name: str) -> bool:
        """Is there a table of this name?"""
        if not self._path.exists():
            return False
        with self._reading_connection() as connection:
            return connection.table_exists(None, name)

    @contextmanager
    def open_snapshot(self) -> Iterator[SqliteRows]:
        with _translated_errors(), open_snapshot(self._path) as rows:
            yield rows

    @contextmanager
    def open_restore(self) -> Iterator[SqliteRowWriter]:
        with _translated_errors(), open_restore(self._path) as writer:
            yield writer

    async def read(self, work: Callable[[Tx], T]) -> T:
        with span("transaction", kind="read"):
            return await self._submit(self._to_read, work)

    async def write(self, work: Callable[[Tx], T]) -> T:
        with span("transaction", kind="write"):
            return await self._submit(self._to_write, work)

    async def scan(self, work: Callable[[Tx], T]) -> T:
        """The same as `read`: every read runs on a reader thread here."""
        return await self.read(work)

    async def inspect(self, work: Callable[[Tx], T]) -> T:
        def act() -> T:
            with self._reading_connection() as connection:
                connection.execute("BEGIN").fetchall()
                return work(SqliteTx(connection))

        return await asyncio.to_thread(act)

    async def run_outside_transaction(self, statements: Sequence[Any]) -> None:
        """Run the statements on the writer's connection. All writes wait for them meanwhile."""

        def act(connection: apsw.Connection) -> None:
            for statement in statements:
                SqliteTx(connection).run(statement, {})

        if statements:
            await self._submit(self._to_write, ExclusiveWork(act))

    async def scrub(self, tables: Sequence[str]) -> None:
        """Rewrite the whole file, whichever tables are named; without tables only cut the WAL."""
        act = partial(vacuum_file, whole=bool(tables))
        await self._submit(self._to_write, ExclusiveWork(act))

    async def count_bytes(self, needles: Sequence[bytes]) -> Sequence[int]:
        return await asyncio.to_thread(count_bytes, self._path, needles)

    async def close(self) -> None:
        """Finish every accepted transaction, then stop every thread."""
        if self._closed:
            return
        self._closed = True
        self._to_write.flush()
        self._to_read.flush()
        self._writes.put(None)
        for _ in range(self._reader_count):
            self._reads.put(None)
        try:
            await asyncio.gather(*(asyncio.to_thread(t.join) for t in self._threads))
        except RuntimeError:
            # When a process ends its executors do first, and there is nobody else to wait for.
            for thread in self._threads:
                thread.join()
        self._servers.leave()

    async def _submit(self, batcher: TurnBatcher, work: Callable[[Any], T]) -> T:
        if self._closed:
            raise Unavailable("the server is shutting down")
        if self._waiting >= QUEUE_MAX:
            raise Unavailable("too many requests wait for the database")
        self._waiting += 1
        try:
            return cast(T, await batcher.submit(work))
        finally:
            self._waiting -= 1

    def _put_writes(self, requests: list[PendingTransaction]) -> None:
        for start in range(0, len(requests), BATCH_MAX):
            self._writes.put(requests[start : start + BATCH_MAX])

    def _put_reads(self, requests: list[PendingTransaction]) -> None:
        """Queue one by one, so that every reader thread gets its share."""
        for request in requests:
            self._reads.put([request])

    @contextmanager
    def _own_connection(self) -> Iterator[apsw.Connection]:
        """A connection that is closed afterwards; an open transaction is rolled back."""
        with _translated_errors(), closing(connect(self._path)) as connection:
            yield connection

    @contextmanager
    def _reading_connection(self) -> Iterator[apsw.Connection]:
        """A connection that can't change the file: any other one may write the WAL back into it
        when it is closed."""
        with _translated_errors(), closing(connect_to_read(self._path)) as connection:
            yield connection

    def _spawn(self, name: str, target: Callable[[], None]) -> None:
        thread = threading.Thread(target=target, name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _write_loop(self) -> None:
        writer: SqliteWriter | None = None
        last = False
        while not last:
            batch, last = _take_batch(self._writes)
            try:
                writer = writer or SqliteWriter(connect(self._path), self._metrics)
                writer.run_batch(batch)
            # `run_batch` gives each request its own error. What it raises is a failure of the
            # connection itself, so all of the batch get it and the next batch gets a new one.
            except FAILURES as error:
                writer = None
                for request in batch:
                    request.error = translate_error(error)
            deliver_results(batch)
        if writer is not None:
            writer.close()

    def _read_loop(self) -> None:
        connection: apsw.Connection | None = None
        while (requests := self._reads.get()) is not None:
            for request in requests:
                connection = self._run_read(connection, request)
            deliver_results(requests)
        if connection is not None:
            connection.close()

    def _run_read(
        self, connection: apsw.Connection | None, request: PendingTransaction
    ) -> apsw.Connection | None:
        """Run one read in a transaction, so that it sees one snapshot, and roll back.

        Returns the connection to go on with; None if this one failed.
        """
        try:
            connection = connection or _connect_reader(self._path)
            connection.execute("BEGIN").fetchall()
            try:
                request.result = request.work(SqliteTx(connection))
            finally:
                connection.execute("ROLLBACK").fetchall()
        except FAILURES as error:
            request.error = translate_error(error)
            connection = None
        except Exception as error:  # noqa: BLE001 - outermost frame of a thread: the waiter gets it
            request.error = error
        self._metrics.record_transaction("read", time.perf_counter() - request.queued_at)
        return connection


@contextmanager
def _translated_errors() -> Iterator[None]:
    try:
        yield
    except FAILURES as error:
        raise translate_error(error) from error


def _connect_reader(path: Path) -> apsw.Connection:
    connection = connect(path)
    connection.execute("PRAGMA query_only = ON").fetchall()
    # Memory-mapped, pages of a large file come from the page cache without a system call for each.
    # That is safe because the file never shrinks under a reader: a checkpoint truncates it only
    # when no older snapshot is read.
    connection.execute(f"PRAGMA mmap_size = {_MAPPED_BYTES}").fetchall()
    return connection


def _take_batch(waiting: _Queue) -> tuple[list[PendingTransaction], bool]:
    """Wait for one list of transactions, then take the lists that wait behind it.

    It stops once the batch has BATCH_MAX transactions or more; the last list is taken whole.
    Returns the batch, and True if the end mark (None) was among what was taken.
    """
    batch: list[PendingTransaction] = []
    requests = waiting.get()
    while requests is not None:
        batch += requests
        if len(batch) >= BATCH_MAX:
            return batch, False
        try:
            requests = waiting.get_nowait()
        except queue.Empty:
            return batch, False
    return batch, True
