"""The engine protocol, and how both engines hand transactions over and deliver their results."""

import asyncio
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from recollect.db.migrations import ScriptRunner
from recollect.db.row_copy import RowReader, RowWriter
from recollect.db.transaction import Database, DatabaseStorage, Tx
from recollect.observability.metrics import TransactionKind

T = TypeVar("T")

ATTEMPTS_MAX = 20
QUEUE_MAX = 20_000


class WordIndex(Protocol):
    """An engine's full-text index. It follows updates and deletes of rows by itself."""

    def add(self, tx: Tx, words: str) -> None:
        """Index the row that was inserted last in this transaction."""
        ...


class Engine(Database, ScriptRunner, DatabaseStorage, Protocol):
    """A database that can be migrated and then started. SQLite and PostgreSQL implement it."""

    words: WordIndex
    memory_words: WordIndex

    async def inspect(self, work: Callable[[Tx], T]) -> T:
        """Like `scan`, before `start`: on a schema of any version. Changes no stored byte."""
        ...

    def open_snapshot(self) -> AbstractContextManager[RowReader]:
        """All rows, as they are now. Writers go on. Needs no `start`; blocks the thread."""
        ...

    def open_restore(self) -> AbstractContextManager[RowWriter]:
        """Fill an empty database. It stays empty if the `with` block raises. Needs no `start`;
        blocks the thread. Raises Conflict if there are rows, or a server that can be seen."""
        ...

    def start(self) -> None:
        """Start threads, if it needs any. Migration scripts run before this."""
        ...

    def register_server(self) -> None:
        """Let other servers on this database know of this one, until it is closed."""
        ...

    def has_unexpected_servers(self) -> bool:
        """Is another server registered on a database that is made for one?"""
        ...

    def is_only_server(self) -> bool:
        """Is it certain that no other server is registered on this database now?"""
        ...


@dataclass(slots=True)
class PendingTransaction:
    """A submitted transaction: its function, the future of its waiter and that future's loop.

    The engine's thread fills in `result` or `error`. Only `resolve_future`, on the waiter's loop,
    touches the future: asyncio's futures are not thread-safe.
    """

    kind: TransactionKind
    work: Callable[[Any], Any]
    loop: asyncio.AbstractEventLoop
    future: "asyncio.Future[Any]"
    queued_at: float
    result: Any = None
    error: BaseException | None = None

    def resolve_future(self) -> None:
        """Resolve the future with the result or the error. Must run on the waiter's loop."""
        # A waiter that was cancelled has gone; its transaction may be committed all the same.
        if self.future.cancelled():
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)


def new_transaction(kind: TransactionKind, work: Callable[[Any], Any]) -> PendingTransaction:
    """A transaction submitted now, on the running event loop."""
    loop = asyncio.get_running_loop()
    return PendingTransaction(kind, work, loop, loop.create_future(), time.perf_counter())


class TurnBatcher:
    """Collects the transactions submitted in one turn of the event loop; hands them over together.

    Waking a thread for the first of them would make it compete with the loop for the GIL while the
    loop still has requests of the same turn to read. So the first submit schedules the hand-over
    with `call_soon`, behind the callbacks that are ready in this turn.
    """

    def __init__(
        self, kind: TransactionKind, hand_over: Callable[[list[PendingTransaction]], None]
    ) -> None:
        self._kind = kind
        self._hand_over = hand_over
        self._gathered: dict[asyncio.AbstractEventLoop, list[PendingTransaction]] = {}

    def submit(self, work: Callable[[Any], Any]) -> "asyncio.Future[Any]":
        """Add a transaction to this turn's batch; its outcome comes through the future."""
        request = new_transaction(self._kind, work)
        loop = request.loop
        gathered = self._gathered.get(loop)
        if gathered is None:
            self._gathered[loop] = [request]
            loop.call_soon(self._flush_loop, loop)
        else:
            gathered.append(request)
        return request.future

    def flush(self) -> None:
        """Hand over at once what was collected so far."""
        for loop in list(self._gathered):
            self._flush_loop(loop)

    def _flush_loop(self, loop: asyncio.AbstractEventLoop) -> None:
        requests = self._gathered.pop(loop, None)
        if requests:
            self._hand_over(requests)


def deliver_results(requests: list[PendingTransaction]) -> None:
    """Resolve the futures of all transactions, with one wake-up per event loop."""
    by_loop: dict[asyncio.AbstractEventLoop, list[PendingTransaction]] = {}
    for request in requests:
        by_loop.setdefault(request.loop, []).append(request)
    for loop, waiting in by_loop.items():
        try:
            loop.call_soon_threadsafe(_resolve_all, waiting)
        except RuntimeError:  # the loop is closed: nobody waits any more
            continue


def _resolve_all(requests: list[PendingTransaction]) -> None:
    for request in requests:
        request.resolve_future()
