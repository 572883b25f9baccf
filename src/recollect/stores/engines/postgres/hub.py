"""Runs many transactions at once on the event loop's own thread, each on its own connection.

A transaction is a plain function in a greenlet: where it waits for PostgreSQL, the loop goes on
with other work. A thread for each connection was slower (decision 0004): the threads and the
loop passed the interpreter's lock around.
"""

import asyncio
import select
import socket
import threading
from collections import deque
from collections.abc import Callable
from enum import Enum
from functools import partial
from typing import Any, TypeVar

from greenlet import getcurrent, greenlet

from recollect.ports.metrics import TransactionKind
from recollect.stores.engines.base import Request, new_request
from recollect.stores.engines.postgres.session import Session

T = TypeVar("T")


class Hub:
    """Belongs to the event loop that first asks it for something."""

    def __init__(self, sessions: list[Session], serve: Callable[[Session, Request], None]) -> None:
        self._idle = sessions
        self._count = len(sessions)
        self._serve = serve
        self._queue: deque[Request] = deque()
        self._all_idle: asyncio.Future[None] | None = None

    @property
    def depth(self) -> int:
        """How many wait for a connection."""
        return len(self._queue)

    def submit(self, kind: TransactionKind, work: Callable[[Any], T]) -> "asyncio.Future[T]":
        """Begin now if a connection is free, else in turn. The outcome comes by the future."""
        request = new_request(kind, work)
        if self._idle:
            run(greenlet(self._work), self._idle.pop(), request)
        else:
            self._queue.append(request)
        return request.future

    async def close(self) -> None:
        """Finish what was accepted, then close every connection."""
        if len(self._idle) < self._count:
            self._all_idle = asyncio.get_running_loop().create_future()
            await self._all_idle
        for session in self._idle:
            session.close()

    def _work(self, session: Session, request: Request | None) -> None:
        while request is not None:
            self._serve(session, request)
            in_loop(request.settle)
            request = self._queue.popleft() if self._queue else None
        self._idle.append(session)
        waiting = self._all_idle
        if waiting is not None and not waiting.done() and len(self._idle) == self._count:
            in_loop(partial(waiting.set_result, None))


class _Parked(Enum):
    """What a call for the loop answers when its greenlet is to wait."""

    PARKED = "parked"


def in_loop(call: Callable[[], T]) -> T:
    """Let the event loop's own greenlet make a call of the loop.

    libuv keeps pointers into the C stack while it tells of events. A greenlet has that part of the
    stack for itself, so a call of the loop from there would write into it.
    """
    parent = getcurrent().parent
    if parent is None:
        return call()
    answer: T = parent.switch(call)
    return answer


def run(task: greenlet, *values: object) -> None:
    """Go on with a greenlet, in the loop's own, and make the calls it asks for until it waits."""
    call = task.switch(*values)
    while not task.dead:
        answer = call()
        if answer is _Parked.PARKED:
            return
        call = task.switch(answer)


class LoopWaiter:
    """How a connection in a greenlet waits: it parks, and the event loop wakes it."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._loop = asyncio.get_running_loop()
        self._parked: greenlet | None = None
        self._ended = select.poll()
        self._ended.register(fd, 0)
        self._listening = False
        self._resuming = False

    def wait(self, events: int) -> int:
        """Let the loop go on until one of the events happens; which one did."""
        here = getcurrent()
        if here.parent is None:
            raise RuntimeError("only a transaction in a greenlet can be parked")
        happened: int = here.parent.switch(partial(self._park, here, events))
        self._resuming = False
        if events & select.POLLOUT:
            in_loop(partial(self._loop.remove_writer, self._fd))
        return happened

    def close(self) -> None:
        """Before the descriptor is closed: its number may be another's soon."""
        in_loop(self._stop_listening)

    def _park(self, task: greenlet, events: int) -> "int | _Parked":
        # uvloop tells of a descriptor's error or end once and never again. From then on reading
        # does not block, so there is nothing to wait for.
        if self._ended.poll(0):
            return select.POLLIN
        if not self._listening:
            self._listening = True
            self._loop.add_reader(self._fd, self._wake, select.POLLIN)
        if events & select.POLLOUT:
            self._loop.add_writer(self._fd, self._wake, select.POLLOUT)
        self._parked = task
        return _Parked.PARKED

    def _wake(self, event: int) -> None:
        parked, self._parked = self._parked, None
        if parked is not None:
            self._resuming = True
            self._loop.call_soon(run, parked, event)
        elif not self._resuming:
            # The server said something to a connection that nobody uses, most likely goodbye. Its
            # next user will find out; until then the loop must not be told again and again.
            self._stop_listening()

    def _stop_listening(self) -> None:
        self._listening = False
        self._loop.remove_reader(self._fd)


def in_thread(work: Callable[[], T]) -> T:
    """Run something that blocks on a thread, while the loop goes on."""
    result: list[T] = []
    errors: list[Exception] = []
    ours, theirs = socket.socketpair()

    def run() -> None:
        try:
            result.append(work())
        except Exception as error:  # noqa: BLE001 - handed to the caller
            errors.append(error)
        finally:
            theirs.close()

    with ours:
        waiter = LoopWaiter(ours.fileno())
        threading.Thread(target=run, name="recollect-connect", daemon=True).start()
        waiter.wait(select.POLLIN)
        waiter.close()
    if errors:
        raise errors[0]
    return result[0]
