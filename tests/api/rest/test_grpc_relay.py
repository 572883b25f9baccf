"""A connection that is handed on: every byte, both ways, and no faster than the slower side."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from recollect.api.rest.connection_limit import REFUSED_MAX, ConnectionLimit
from recollect.api.rest.grpc_relay import GrpcRelay

FIRST = b"first bytes"
SECONDS_MAX = 30
MIB = 1024 * 1024
ENDLESS = 64 * MIB
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Sides:
    """A caller on one side of a relay, a server on the other."""

    def __init__(self, caller: Streams, server: Streams) -> None:
        self.from_server, self.to_server = caller
        self.from_caller, self.to_caller = server


class _Accepting(asyncio.Protocol):
    """Hands each connection on, as the HTTP port does after the preface."""

    def __init__(self, path: str) -> None:
        self._path = path

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        GrpcRelay(transport, self._path, FIRST, ended=lambda: None)


@asynccontextmanager
async def relayed() -> AsyncIterator[Sides]:
    """Both sides of one connection."""
    loop = asyncio.get_running_loop()
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "server")
        accepted: asyncio.Queue[Streams] = asyncio.Queue()
        behind = await asyncio.start_unix_server(lambda r, w: accepted.put_nowait((r, w)), path)
        front = await loop.create_server(lambda: _Accepting(path), "127.0.0.1", 0)
        caller = await asyncio.open_connection(*front.sockets[0].getsockname())
        sides = Sides(caller, await accepted.get())
        yield sides
        for writer in (sides.to_server, sides.to_caller):
            writer.close()
        for server in (front, behind):
            server.close()


def run(test: Callable[[Sides], Awaitable[None]]) -> None:
    """Run a test on a fresh pair of sides."""

    async def on_fresh_sides() -> None:
        async with relayed() as sides:
            await test(sides)

    asyncio.run(asyncio.wait_for(on_fresh_sides(), SECONDS_MAX))


async def flood(writer: asyncio.StreamWriter) -> int:
    """How many bytes can be sent to a side that reads none."""
    sent = 0
    while sent < ENDLESS:
        writer.write(b"x" * MIB)
        try:
            await asyncio.wait_for(writer.drain(), 0.3)
        except TimeoutError:
            break
        sent += MIB
    return sent


def test_what_came_first_and_what_follows_arrive_in_order() -> None:
    async def test(sides: Sides) -> None:
        sides.to_server.write(b", then more")
        assert await sides.from_caller.readexactly(22) == FIRST + b", then more"
        sides.to_caller.write(b"an answer")
        assert await sides.from_server.readexactly(9) == b"an answer"

    run(test)


def test_much_passes_both_ways_at_once() -> None:
    async def test(sides: Sides) -> None:
        there, back = b"there" * MIB, b"back" * MIB
        sides.to_server.write(there)
        sides.to_caller.write(back)
        received = await asyncio.gather(
            sides.from_caller.readexactly(len(FIRST) + len(there)),
            sides.from_server.readexactly(len(back)),
        )
        assert list(received) == [FIRST + there, back]

    run(test)


def test_a_caller_that_takes_nothing_stops_the_server_from_sending() -> None:
    async def test(sides: Sides) -> None:
        assert await flood(sides.to_caller) < ENDLESS

    run(test)


def test_a_server_that_takes_nothing_stops_the_caller_from_sending() -> None:
    async def test(sides: Sides) -> None:
        assert await flood(sides.to_server) < ENDLESS

    run(test)


def test_when_one_side_leaves_the_other_is_told() -> None:
    async def caller_leaves(sides: Sides) -> None:
        sides.to_server.write(b"bye")
        sides.to_server.close()
        assert await sides.from_caller.read() == FIRST + b"bye"

    async def server_leaves(sides: Sides) -> None:
        sides.to_caller.write(b"bye")
        sides.to_caller.close()
        assert await sides.from_server.read() == b"bye"

    run(caller_leaves)
    run(server_leaves)


def test_without_a_server_the_caller_is_let_go() -> None:
    async def test() -> None:
        loop = asyncio.get_running_loop()
        front = await loop.create_server(lambda: _Accepting("/nowhere/at/all"), "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*front.sockets[0].getsockname())
        assert await asyncio.wait_for(reader.read(), SECONDS_MAX) == b""
        writer.close()
        front.close()

    asyncio.run(test())


def test_a_connection_that_is_handed_on_counts_three_times() -> None:
    counted = ConnectionLimit(descriptors_max=7, relayed_max=9)
    assert [counted.acquire() for _ in range(3)] == [True] * 3
    assert [counted.acquire_relay() for _ in range(3)] == [True, True, False]
    assert not counted.acquire()
    counted.release()
    assert counted.acquire()
    counted.release_relay()
    assert [counted.acquire() for _ in range(4)] == [True, True, True, False]


def test_so_many_connections_are_handed_on_and_more_are_not() -> None:
    counted = ConnectionLimit(descriptors_max=100, relayed_max=2)
    assert [counted.acquire() and counted.acquire_relay() for _ in range(3)] == [True, True, False]
    counted.release_relay()
    assert counted.acquire()
    assert counted.acquire_relay()


def test_only_some_of_many_are_told_why_they_are_refused() -> None:
    counted = ConnectionLimit(descriptors_max=0, relayed_max=0)
    assert [counted.acquire_refusal() for _ in range(REFUSED_MAX + 1)] == [True] * REFUSED_MAX + [
        False
    ]
    counted.release_refusal()
    assert counted.acquire_refusal()
