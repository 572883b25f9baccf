"""How a transaction on the event loop waits for its connection, on the loops that may run it."""

import asyncio
import select
import socket
from collections.abc import Callable

import pytest
import uvloop
from greenlet import getcurrent, greenlet

from recollect.db.engines.postgres.hub import (
    LoopWaiter,
    call_in_loop,
    resume_greenlet,
)

WAIT_SECONDS = 10


@pytest.fixture(params=[asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def new_loop(request: pytest.FixtureRequest) -> Callable[[], asyncio.AbstractEventLoop]:
    factory: Callable[[], asyncio.AbstractEventLoop] = request.param
    return factory


def read_to_the_end(ours: socket.socket, done: "asyncio.Future[bytes]") -> None:
    """A few bytes at each wake-up, as a driver that looks for the end of a message."""
    waiter, got = LoopWaiter(ours.fileno()), b""
    try:
        while True:
            waiter.wait(select.POLLIN)
            part = ours.recv(2)
            if not part:
                break
            got += part
    except ConnectionResetError:
        got += b"!"
    waiter.close()
    call_in_loop(lambda: done.set_result(got))


@pytest.mark.parametrize(("unread", "end"), [(b"", b""), (b"unread", b"!")])
def test_who_waits_is_woken_up_to_the_end_of_a_connection_that_breaks(
    new_loop: Callable[[], asyncio.AbstractEventLoop], unread: bytes, end: bytes
) -> None:
    """A peer that closes with something unread resets the connection, behind what it sent."""

    async def exchange() -> bytes:
        ours, theirs = socket.socketpair()
        with ours:
            done: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
            resume_greenlet(greenlet(read_to_the_end), ours, done)
            ours.sendall(unread)
            theirs.sendall(b"goodbye")
            theirs.close()
            return await asyncio.wait_for(done, WAIT_SECONDS)

    with asyncio.Runner(loop_factory=new_loop) as runner:
        assert runner.run(exchange()) == b"goodbye" + end


def test_who_waits_is_not_resumed_inside_the_callback_of_the_loop(
    new_loop: Callable[[], asyncio.AbstractEventLoop],
) -> None:
    """Of two that are ready in one turn the loop calls both before a transaction goes on."""
    order: list[str] = []

    def wait(ours: socket.socket, done: "asyncio.Future[None]") -> None:
        waiter = LoopWaiter(ours.fileno())
        waiter.wait(select.POLLIN)
        order.append("transaction")
        waiter.close()
        call_in_loop(lambda: done.set_result(None))

    async def exchange() -> None:
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        (first, to_first), (second, to_second) = socket.socketpair(), socket.socketpair()

        def read() -> None:
            order.append("another")
            loop.remove_reader(second.fileno())

        with first, to_first, second, to_second:
            resume_greenlet(greenlet(wait), first, done)
            loop.add_reader(second.fileno(), read)
            to_first.sendall(b"x")
            to_second.sendall(b"x")
            await asyncio.wait_for(done, WAIT_SECONDS)

    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(exchange())
    assert order == ["another", "transaction"]


def test_calls_of_the_loop_are_made_by_its_own_greenlet() -> None:
    made_by: list[bool] = []

    def is_root() -> bool:
        return getcurrent().parent is None

    def transaction() -> None:
        made_by.append(is_root())
        made_by.append(call_in_loop(is_root))

    resume_greenlet(greenlet(transaction))
    assert made_by == [False, True]
