"""The HTTP protocol itself: slow heads, late bodies, one write an answer."""

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from recollect.api.rest import protocol
from tests.support.servers.thread import RunningServer

WAIT_SECONDS = 20


async def late_body(scope: Any, receive: Any, send: Any) -> None:
    """An application whose head comes long before its body: the client must ask for the body."""
    if scope["type"] == "lifespan":
        while (message := await receive())["type"] != "lifespan.shutdown":
            await send({"type": f"{message['type']}.complete"})
        await send({"type": "lifespan.shutdown.complete"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": [(b"x-head", b"1")]})
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.body", "body": b"late"})


@pytest.fixture
def address() -> Iterator[tuple[str, int]]:
    server = RunningServer(late_body).start()
    host, port = server.url.removeprefix("http://").split(":")
    yield host, int(port)
    server.stop()


def received(connection: socket.socket, until: bytes) -> bytes:
    got = b""
    while until not in got:
        part = connection.recv(65536)
        assert part, got
        got += part
    return got


def test_a_head_that_does_not_end_in_time_is_hung_up_on(
    address: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "HEAD_SECONDS_MAX", 0.1)
    with socket.create_connection(address, timeout=WAIT_SECONDS) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        assert connection.recv(100) == b""


def test_a_connection_that_says_nothing_is_hung_up_on(
    address: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "HEAD_SECONDS_MAX", 0.1)
    with socket.create_connection(address, timeout=WAIT_SECONDS) as connection:
        assert connection.recv(100) == b""


def test_a_head_is_not_held_back_for_a_body_that_comes_late(address: tuple[str, int]) -> None:
    with socket.create_connection(address, timeout=WAIT_SECONDS) as connection:
        head = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\n"
        connection.sendall(head)
        assert b"x-head: 1" in received(connection, b"\r\n\r\n")
        connection.sendall(b"body")
        assert b"late" in received(connection, b"late")
