"""Runs many PostgreSQL transactions at once on the event loop's own thread.

A transaction is a plain function that runs in a greenlet with a connection of its own. Where it
would wait for PostgreSQL, it switches back to the event loop, which goes on with other work. A
thread for each connection was slower (decision 0004): threads and loop passed the GIL around.
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

from recollect.db.engines.base import PendingTransaction, new_transaction
from recollect.db.engines.postgres.session import PostgresSession
from recollect.observability.metrics import TransactionKind

# How control moves. There are two kinds of greenlets on the loop's thread: the root greenlet, in
# which the event loop itself runs, and one task greenlet for each connection in use.
#
#   loop callback                          task greenlet (a transaction)
#   resume_greenlet ── task.switch(value) ──▶ runs Python until it must wait for the socket
#        ▲                                        │
#        └────────── parent.switch(call) ◀────────┘
#
# A task never calls the loop itself. It switches to its parent with a function, `call`, and the
# parent (always in `resume_greenlet`) makes the call in the root greenlet:
# - most calls return a value, which is switched straight back into the task;
# - `LoopWaiter._park` registers the descriptor and returns PARKED, and then `resume_greenlet`
#   returns to the loop. The task stays suspended until the loop sees the descriptor ready and
#   schedules `resume_greenlet` again.
# The reason for this detour is in `call_in_loop`. Calls made straight from a task crashed the
# process when backends were killed under load.
#
# Everything here runs on one thread, and a greenlet switches only at the points above. So the
# queue and the list of idle sessions need no locks: nothing else can run between two switches.


T = TypeVar("T")


class GreenletPool:
    """Runs queued transactions on a fixed number of sessions.

    It belongs to the event loop that first submits something; it is not thread-safe.
    """

    def __init__(
        self,
        sessions: list[PostgresSession],
        serve: Callable[[PostgresSession, PendingTransaction], None],
    ) -> None:
        self._idle = sessions
        self._count = len(sessions)
        self._serve = serve
        self._queue: deque[PendingTransaction] = deque()
        self._all_idle: asyncio.Future[None] | None = None
        self._closed = False

    @property
    def queue_depth(self) -> int:
        """How many transactions wait for a free connection."""
        return len(self._queue)

    def submit(self, kind: TransactionKind, work: Callable[[Any], T]) -> "asyncio.Future[T]":
        """Start the transaction now if a connection is free, else queue it in order of arrival.

        The future gets the result or the error.
        """
        request = new_transaction(kind, work)
        if self._idle:
            resume_greenlet(greenlet(self._run_queue), self._idle.pop(), request)
        else:
            self._queue.append(request)
        return request.future

    async def close(self) -> None:
        """Finish every accepted transaction, then close every connection. If this is cancelled, a
        connection that is still in use is closed by the transaction that uses it."""
        # The last task greenlet to become idle resolves the future. The caller has already stopped
        # accepting work, so the queue only shrinks.
        try:
            if len(self._idle) < self._count:
                self._all_idle = asyncio.get_running_loop().create_future()
                await self._all_idle
        finally:
            self._closed = True
            for session in self._idle:
                session.close()

    def _run_queue(self, session: PostgresSession, request: PendingTransaction | None) -> None:
        """The body of a task greenlet: run one transaction after the other until none waits.

        The session returns to the idle list only when the queue is empty. Handing a free session
        to the next request directly keeps the order of arrival: a new submit can't overtake.
        """
        while request is not None:
            self._serve(session, request)
            call_in_loop(request.resolve_future)
            request = self._queue.popleft() if self._queue else None
        if self._closed:
            session.close()
        self._idle.append(session)
        waiting = self._all_idle
        if waiting is not None and not waiting.done() and len(self._idle) == self._count:
            call_in_loop(partial(waiting.set_result, None))


class _ParkSignal(Enum):
    """Returned by a call made in the loop when its greenlet must stay suspended.

    An enum member, because no real result can be equal to it.
    """

    PARKED = "parked"


def call_in_loop(call: Callable[[], T]) -> T:
    """Make a call of the event loop in the loop's own greenlet, and return its result.

    uvloop (libuv) keeps pointers into the C stack while it reports events. Greenlets share one C
    stack and copy their parts of it in and out, so a loop call made from a task greenlet would
    write through those pointers into the task's own part of the stack.
    """
    parent = getcurrent().parent
    # Only the root greenlet has no parent: we are in the loop already.
    if parent is None:
        return call()
    answer: T = parent.switch(call)
    return answer


def resume_greenlet(task: greenlet, *values: object) -> None:
    """Resume a task greenlet and make the loop calls it asks for, until it waits or ends.

    Must run in the loop's own greenlet. `values` are what the task's pending `switch` returns.
    """
    # A switch returns either because the task asked for a call, or because it ended; then what it
    # returned is no call, and `dead` tells the difference.
    call = task.switch(*values)
    while not task.dead:
        answer = call()
        if answer is _ParkSignal.PARKED:
            return
        call = task.switch(answer)


class LoopWaiter:
    """Waits for a descriptor by parking the current greenlet; the event loop wakes it.

    The reader callback stays registered between two waits: adding and removing it for every
    statement would cost system calls. So the loop may report input while nobody is parked;
    `_wake_parked` tells the cases apart. A writer is needed rarely and is removed after use.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._loop = asyncio.get_running_loop()
        self._parked: greenlet | None = None
        # Polls for no events: poll(2) then still reports hang-up and error.
        self._ended = select.poll()
        self._ended.register(fd, 0)
        self._listening = False
        # True from the moment a wake-up is scheduled until the greenlet runs again.
        self._resuming = False

    def wait(self, events: int) -> int:
        """Park until one of the events (of `select.poll`) happens; return that event."""
        here = getcurrent()
        if here.parent is None:
            raise RuntimeError("only a transaction in a greenlet can be parked")
        happened: int = here.parent.switch(partial(self._park, here, events))
        self._resuming = False
        if events & select.POLLOUT:
            call_in_loop(partial(self._loop.remove_writer, self._fd))
        return happened

    def close(self) -> None:
        """Stop listening. Call it before the descriptor is closed: the number may be reused."""
        call_in_loop(self._stop_listening)

    def _park(self, task: greenlet, events: int) -> "int | _ParkSignal":
        # Runs in the loop's own greenlet. uvloop reports an error or the end of a descriptor once
        # and never again, so waiting for it after that would wait for ever. Reading such a
        # descriptor does not block, so we report it as readable at once.
        if self._ended.poll(0):
            return select.POLLIN
        if not self._listening:
            self._listening = True
            self._loop.add_reader(self._fd, self._wake_parked, select.POLLIN)
        if events & select.POLLOUT:
            self._loop.add_writer(self._fd, self._wake_parked, select.POLLOUT)
        self._parked = task
        return _ParkSignal.PARKED

    def _wake_parked(self, event: int) -> None:
        parked, self._parked = self._parked, None
        if parked is not None:
            # Not resumed right here but in the loop's next turn, so that no task runs inside
            # libuv's own loop over its events (see `call_in_loop`).
            self._resuming = True
            self._loop.call_soon(resume_greenlet, parked, event)
        elif not self._resuming:
            # The server sent something on a connection that nobody uses, most likely that it shuts
            # down. The next user of the connection will find out. Until then the descriptor stays
            # readable, and the loop would call us in every turn. While `_resuming` is set the
            # input belongs to the greenlet that is about to run, so we keep listening.
            self._stop_listening()

    def _stop_listening(self) -> None:
        self._listening = False
        self._loop.remove_reader(self._fd)


def run_in_thread(work: Callable[[], T]) -> T:
    """Run something that blocks on a thread, while the calling greenlet is parked.

    Only a descriptor can wake a parked greenlet. So the thread holds one end of a socket pair and
    closes it when it is done: that makes the other end readable.
    """
    result: list[T] = []
    errors: list[Exception] = []
    waiting_end, thread_end = socket.socketpair()

    def run() -> None:
        try:
            result.append(work())
        except Exception as error:  # noqa: BLE001 - handed to the caller
            errors.append(error)
        finally:
            thread_end.close()

    with waiting_end:
        waiter = LoopWaiter(waiting_end.fileno())
        threading.Thread(target=run, name="recollect-connect", daemon=True).start()
        waiter.wait(select.POLLIN)
        waiter.close()
    if errors:
        raise errors[0]
    return result[0]
