"""The server as its users run it, with its log on file, and sockets that say what they like."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.support.engines import TestDatabase
from tests.support.world import ADMIN, CLIENT_KEYS, JWT_SECRET

RECOLLECT = str(Path(sys.executable).with_name("recollect"))
WAIT_SECONDS = 30
GREETING = "Recollect "


class ServerProcess:
    """A running `recollect serve` whose log level is `debug`."""

    def __init__(self, port: int, log: Path, database: TestDatabase) -> None:
        self.port = port
        self.database = database
        self._log = log

    def logged(self) -> str:
        """What it has logged by now."""
        return self._log.read_text(encoding="utf-8")

    def logged_of_all(self) -> str:
        """Everything it has to log of requests so far. Lines are written a little later than
        answers, and in their order: a last request tells when all are there."""
        last = uuid.uuid4().hex
        self._get_health({"X-Request-Id": last})
        deadline = time.monotonic() + WAIT_SECONDS
        while last not in (text := self.logged()):
            assert time.monotonic() < deadline, "the log of requests does not go on"
            time.sleep(0.01)
        return text

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
    log = folder / "server.log"
    with log.open("wb") as sink, _started(database, folder, sink.fileno()) as process:
        yield ServerProcess(_port(process), log, database)
        process.send_signal(signal.SIGTERM)
        assert process.wait(WAIT_SECONDS) == 0


@contextmanager
def _started(
    database: TestDatabase, folder: Path, stderr: int
) -> Iterator["subprocess.Popen[str]"]:
    command = [RECOLLECT, "serve", "--port", "0", "--database-url", database.url]
    with subprocess.Popen(
        command, cwd=folder, env=_environment(), stdout=subprocess.PIPE, stderr=stderr, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def _port(process: "subprocess.Popen[str]") -> int:
    assert process.stdout is not None
    bound = threading.Timer(WAIT_SECONDS, process.kill)
    bound.start()
    try:
        line = next(line for line in process.stdout if line.startswith(GREETING))
    finally:
        bound.cancel()
    return int(line.rsplit(":", 1)[1])


def _environment() -> dict[str, str]:
    kept = {name: text for name, text in os.environ.items() if not name.startswith("RECOLLECT_")}
    keys = {client: [key] for client, key in CLIENT_KEYS.items()}
    return kept | {
        "RECOLLECT_AUTH__MODE": "jwt",
        "RECOLLECT_AUTH__JWT_SECRET": JWT_SECRET,
        "RECOLLECT_AUTH__API_KEYS": json.dumps(keys),
        "RECOLLECT_AUTH__ROLES": json.dumps({"admin": {"users": [ADMIN]}}),
        "RECOLLECT_DATABASE__MIGRATE_AT_START": "true",
        "RECOLLECT_JOBS__EMBEDDED_WORKER": "false",
        "RECOLLECT_LOG__LEVEL": "debug",
        "RECOLLECT_LOG__FORMAT": "json",
    }
