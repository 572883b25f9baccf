"""The server as its users run it, with its log on file, and sockets that say what they like."""

import http.client
import socket
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.support.engines import TestDatabase
from tests.support.processes import WAIT_SECONDS, Process, start_server
from tests.support.world import ADMIN, CLIENT_KEYS, JWT_SECRET

SETTINGS: dict[str, Any] = {
    "AUTH__MODE": "jwt",
    "AUTH__JWT_SECRET": JWT_SECRET,
    "AUTH__API_KEYS": {client: [key] for client, key in CLIENT_KEYS.items()},
    "AUTH__FAILURES_PER_MINUTE": 0,
    "AUTH__ROLES": {"admin": {"users": [ADMIN]}},
    "JOBS__EMBEDDED_WORKER": False,
    "LOG__LEVEL": "debug",
    "LOG__FORMAT": "json",
}


class ServerProcess:
    """A running `recollect serve` whose log level is `debug`."""

    def __init__(self, process: Process, port: int, database: TestDatabase) -> None:
        self.port = port
        self.database = database
        self._process = process

    def logged(self) -> str:
        """What it has logged by now."""
        return self._process.stderr()

    def logged_of_all(self) -> str:
        """Everything it has to log of requests so far. Lines are written a little later than
        answers, and in their order: a last request tells when all are there."""
        last = uuid.uuid4().hex
        self._get_health({"X-Request-Id": last})
        return self._process.wait_for_stderr(last)

    def connect(self) -> socket.socket:
        """A new connection."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=WAIT_SECONDS)

    def exchange(self, *parts: bytes) -> bytes:
        """Send all parts and read until the server closes."""
        with self.connect() as connection:
            _send(connection, parts)
            return read_to_the_end(connection)

    def break_off(self, *parts: bytes) -> bytes:
        """The same, but say first that nothing more will come."""
        with self.connect() as connection:
            _send(connection, parts)
            with suppress(OSError):
                connection.shutdown(socket.SHUT_WR)
            return read_to_the_end(connection)

    def healthy(self) -> bool:
        """Does it answer?"""
        return self._get_health({}) == b'{"status":"ok"}'

    def _get_health(self, headers: dict[str, str]) -> bytes:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_SECONDS)
        try:
            connection.request("GET", "/v1/health", headers=headers)
            return connection.getresponse().read()
        finally:
            connection.close()


def _send(connection: socket.socket, parts: Iterable[bytes]) -> None:
    with suppress(OSError):  # the server may close before the end, after saying why
        for part in parts:
            connection.sendall(part)


def read_to_the_end(connection: socket.socket) -> bytes:
    """What comes until the other side closes, or resets the connection."""
    received = b""
    try:
        while chunk := connection.recv(65_536):
            received += chunk
    except ConnectionResetError:
        pass
    return received


def next_answer(connection: socket.socket, method: str = "GET") -> tuple[int, bytes]:
    """Status and body of one answer; the connection stays open."""
    response = http.client.HTTPResponse(connection, method=method)
    response.begin()
    return response.status, response.read()


def statuses(answers: bytes) -> list[int]:
    """The status of each answer in what a connection has received."""
    lines = answers.split(b"HTTP/1.1 ")[1:]
    return [int(line[:3]) for line in lines]


@contextmanager
def a_server_process(database: TestDatabase, folder: Path) -> Iterator[ServerProcess]:
    """Started, awaited, and stopped by signal; its exit code has to be 0."""
    with start_server(folder, database, **SETTINGS) as (process, port):
        yield ServerProcess(process, port, database)
        assert process.stop() == 0
