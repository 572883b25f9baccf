"""Where the server listens: on the port of REST, told apart by HTTP/2's preface, and on a port of
its own."""

import asyncio
import http.client
import socket
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from urllib.parse import urlsplit

import grpc
import pytest

from recollect.app.application import build
from recollect.kernel.errors import Unavailable
from recollect.settings.load import load
from tests.api.grpc.client import SECONDS_MAX, Client
from tests.conftest import Serve
from tests.support.engines import TestDatabase
from tests.support.hosting import DEFAULT_FLAGS
from tests.support.world import World, at_once

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS = b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"
HEALTH = b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
LIST = "ConversationsService/ListConversations"


@contextmanager
def connection(world: World) -> Iterator[socket.socket]:
    """A bare connection to the server's port."""
    url = urlsplit(str(world.api.http.base_url))
    with closing(socket.create_connection((url.hostname, url.port), SECONDS_MAX)) as opened:
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield opened


def all_of(opened: socket.socket) -> bytes:
    """What comes until the other side closes."""
    received = b""
    while part := opened.recv(65536):
        received += part
    return received


def test_a_preface_that_comes_byte_by_byte_is_understood(world: World) -> None:
    with connection(world) as opened:
        for number in range(len(PREFACE)):
            opened.sendall(PREFACE[number : number + 1])
        opened.sendall(SETTINGS)
        frame = opened.recv(9)
    assert frame[3] == 4, "the first frame of an HTTP/2 server is SETTINGS"


def test_what_follows_the_preface_at_once_is_not_lost(world: World) -> None:
    ping = b"\x00\x00\x08\x06\x00\x00\x00\x00\x00" + b"12345678"
    with connection(world) as opened:
        opened.sendall(PREFACE + SETTINGS + ping)
        received = b""
        while b"12345678" not in received:
            received += opened.recv(65536)
    assert received[3] == 4


def test_rest_byte_by_byte_is_rest(world: World) -> None:
    with connection(world) as opened:
        for number in range(len(HEALTH)):
            opened.sendall(HEALTH[number : number + 1])
        assert all_of(opened).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    "request_line",
    [b"PRI * HTTP/1.1", b"PRI * HTTP/2.0", b"PRI /v1/health HTTP/1.1", b"PUT /v1/health HTTP/1.1"],
)
def test_what_only_begins_like_the_preface_is_answered_by_rest(
    world: World, request_line: bytes
) -> None:
    with connection(world) as opened:
        opened.sendall(request_line + b"\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert all_of(opened).startswith(b"HTTP/1.1 4")


def test_garbage_after_the_preface_ends_that_connection_alone(world: World, client: Client) -> None:
    with connection(world) as opened:
        opened.sendall(PREFACE + b"\xff" * 1000)
        all_of(opened)
    assert client.ask(world.user("ann"), LIST).code is grpc.StatusCode.OK
    assert world.api.http.get("/health").status_code == 200


def test_a_caller_that_leaves_after_the_preface_harms_nobody(world: World, client: Client) -> None:
    for _ in range(20):
        with connection(world) as opened:
            opened.sendall(PREFACE)
    assert client.ask(world.user("ann"), LIST).code is grpc.StatusCode.OK


def test_both_are_answered_at_once_on_one_port(world: World, client: Client) -> None:
    ann = world.user("ann")
    ann.starts()

    def by_grpc() -> bool:
        return len(client.ask(ann, LIST).expect().conversations) == 1

    def by_rest() -> bool:
        return bool(world.api.http.get("/health").json() == {"status": "ok"})

    calls: list[Callable[[], bool]] = [by_grpc, by_rest]
    assert all(at_once(calls * 10))


def test_large_messages_pass_both_ways(world: World, client: Client) -> None:
    ann = world.user("ann").with_key("k1")
    conversation = ann.starts()
    texts = [str(number) * 1_000_000 for number in range(8)]
    at_once([partial(ann.notes, conversation, text) for text in texts])
    page = ann.call("list_entries", conversation).expect(200)
    assert sorted(entry["content"][0] for entry in page["data"]) == texts


def test_a_port_of_its_own_is_answered_too(serve: Serve) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    world = serve(grpc__port=port)
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        ann = world.user("ann")
        made = ann.starts("here")
        [found] = Client(channel).ask(ann, LIST).expect().conversations
        assert found.title == made["title"]


def test_a_port_of_grpc_alone_speaks_no_rest(serve: Serve) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    serve(grpc__port=port)
    rest = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS_MAX)
    with closing(rest):
        rest.request("GET", "/v1/health")
        with pytest.raises((http.client.HTTPException, OSError)):
            rest.getresponse()


async def _start(database: TestDatabase, port: int) -> None:
    flags = DEFAULT_FLAGS | {"database.url": database.url, "grpc.port": port}
    app = build(load(flags=flags, environ={}).settings)
    try:
        await app.start()
    finally:
        await app.close()


def test_a_port_that_is_taken_is_told_at_the_start(
    new_database: Callable[[], TestDatabase],
) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(Unavailable, match=f"grpc.port {port}"):
            asyncio.run(_start(new_database(), port))
