"""How many connections a server takes, and how it refuses those that are too many."""

import os
import socket
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import grpc
import httpx2
import pytest

from tests.api.grpc.client import SECONDS_MAX
from tests.conftest import Serve
from tests.recordings.callers import Node, until
from tests.support.engines import a_sqlite_database
from tests.support.processes import Process, start_server
from tests.support.world import World

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS = b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"
DESCRIPTORS = 128
# Runs a command to which the system gives no more than that.
FEW_DESCRIPTORS = ("sh", "-c", f'ulimit -n {DESCRIPTORS} && exec "$@"', "sh")
MANY = 200
# What a process may open by the way, such as another reader of the database.
SPARE = 8


class Opened:
    """Connections that stay open."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._sockets: list[socket.socket] = []

    def grpc(self, count: int) -> int:
        """Open so many; how many of them are answered?"""
        return sum(self._is_answered(self._open(PREFACE + SETTINGS)) for _ in range(count))

    def silent(self, count: int) -> None:
        """Open so many, and say nothing."""
        for _ in range(count):
            self._open(b"")

    def close(self) -> None:
        for one in self._sockets:
            one.close()
        self._sockets.clear()

    def _open(self, first: bytes) -> socket.socket:
        one = socket.create_connection(("127.0.0.1", self._port), SECONDS_MAX)
        self._sockets.append(one)
        one.sendall(first)
        return one

    def _is_answered(self, one: socket.socket) -> bool:
        """An HTTP/2 server begins with SETTINGS."""
        try:
            return one.recv(9)[3:4] == b"\x04"
        except ConnectionError:
            return False


def port_of(world: World) -> int:
    return int(world.api.http.base_url.port or 0)


def health(port: int) -> httpx2.Response:
    url = f"http://127.0.0.1:{port}/v1/health"
    return httpx2.get(url, trust_env=False, timeout=SECONDS_MAX)


def is_well(port: int) -> bool:
    try:
        return health(port).status_code == 200
    except httpx2.TransportError:
        return False


def is_told_to_come_back(port: int) -> bool:
    """Of many at once only some are told; the others are just refused."""
    try:
        refused = health(port)
    except httpx2.TransportError:
        return False
    assert (refused.status_code, refused.json()["code"]) == (503, "unavailable")
    assert refused.headers["retry-after"] == "1"
    return True


def free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        return int(free.getsockname()[1])


@pytest.mark.parametrize("own_port", [False, True])
def test_grpc_has_so_many_connections_and_rest_does_not_mind(serve: Serve, own_port: bool) -> None:
    alone = free_port()
    world = serve(grpc__port=alone, grpc__max_connections=3)
    port = alone if own_port else port_of(world)
    with closing(Opened(port)) as opened:
        assert opened.grpc(5) == 3
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            check: Any = channel.unary_unary("/grpc.health.v1.Health/Check")
            assert check.future(b"", timeout=SECONDS_MAX).code() is grpc.StatusCode.UNAVAILABLE
        assert is_well(port_of(world))
        opened.close()
        until(lambda: opened.grpc(1) == 1)


def descriptors(process: Process) -> int:
    return len(os.listdir(f"/proc/{process.pid}/fd"))


def test_a_server_never_runs_out_of_descriptors(tmp_path: Path) -> None:
    """Whatever is too many is refused at once, and when it is gone all is as before."""
    with ExitStack() as stack:
        server = start_server(
            tmp_path,
            a_sqlite_database(tmp_path),
            wrapper=FEW_DESCRIPTORS,
            LOG__LEVEL="warning",
        )
        process, port = stack.enter_context(server)
        assert is_well(port)
        at_rest = descriptors(process)
        opened = stack.enter_context(closing(Opened(port)))
        assert 0 < opened.grpc(MANY) < DESCRIPTORS // 3
        assert is_well(port)
        opened.close()
        until(lambda: descriptors(process) < at_rest + SPARE)
        opened.silent(MANY)
        assert descriptors(process) < DESCRIPTORS
        until(lambda: is_told_to_come_back(port))
        opened.close()
        until(lambda: is_well(port))
        node = Node(port)
        stack.callback(node.close)
        ann = node.user("ann")
        ann.begins(ann.starts(), "as before").ends()
        assert process.stderr() == ""
