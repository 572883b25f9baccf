"""What an engine gives: transactions, a dialect to compile for, and its migrations."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from recollect.ports.database import Database
from recollect.ports.erasures import Storage
from recollect.ports.metrics import TransactionKind
from recollect.stores.migrations import Scriptable
from recollect.stores.nearest import Nearest
from recollect.stores.word_index import WordIndex

ATTEMPTS_MAX = 20
QUEUE_MAX = 20_000


class Engine(Database, Scriptable, Storage, Protocol):
    """A database that can be migrated and then started."""

    nearest: Nearest
    words: WordIndex
    memory_words: WordIndex

    def start(self) -> None:
        """Start what it needs to run transactions. Scripts run before this."""
        ...


@dataclass(slots=True)
class Request:
    """A transaction somebody waits for, and the loop they wait on."""

    kind: TransactionKind
    work: Callable[[Any], Any]
    loop: asyncio.AbstractEventLoop
    future: "asyncio.Future[Any]"
    queued_at: float
    result: Any = None
    error: BaseException | None = None

    def settle(self) -> None:
        """Hand the outcome to the waiter. Runs on the waiter's loop."""
        if self.future.cancelled():
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)


def new_request(kind: TransactionKind, work: Callable[[Any], Any]) -> Request:
    """Asked for now, on the running loop."""
    loop = asyncio.get_running_loop()
    return Request(kind, work, loop, loop.create_future(), time.perf_counter())


class Gatherer:
    """Collects what one turn of an event loop asks for and hands it over in one go.

    Waking a thread for each request would make it fight with the loop for the interpreter while
    the loop still has requests of the same turn to read.
    """

    def __init__(self, kind: TransactionKind, hand_over: Callable[[list[Request]], None]) -> None:
        self._kind = kind
        self._hand_over = hand_over
        self._gathered: dict[asyncio.AbstractEventLoop, list[Request]] = {}

    def submit(self, work: Callable[[Any], Any]) -> "asyncio.Future[Any]":
        """The outcome comes through the future."""
        request = new_request(self._kind, work)
        loop = request.loop
        gathered = self._gathered.get(loop)
        if gathered is None:
            self._gathered[loop] = [request]
            loop.call_soon(self._flush, loop)
        else:
            gathered.append(request)
        return request.future

    def flush(self) -> None:
        """Hand over what is still held back."""
        for loop in list(self._gathered):
            self._flush(loop)

    def _flush(self, loop: asyncio.AbstractEventLoop) -> None:
        requests = self._gathered.pop(loop, None)
        if requests:
            self._hand_over(requests)


def deliver(requests: list[Request]) -> None:
    """Wake every waiter, with one call into each loop."""
    by_loop: dict[asyncio.AbstractEventLoop, list[Request]] = {}
    for request in requests:
        by_loop.setdefault(request.loop, []).append(request)
    for loop, waiting in by_loop.items():
        try:
            loop.call_soon_threadsafe(_settle_all, waiting)
        except RuntimeError:  # the loop is closed: nobody waits any more
            continue


def _settle_all(requests: list[Request]) -> None:
    for request in requests:
        request.settle()
