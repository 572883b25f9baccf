"""A real `recollect serve` in a process of its own, and requests to it as bytes."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from recollect.identity.tokens.tokens import mint
from recollect.kernel.clock import SystemClock

SECRET = "not-a-real-secret-but-long-enough-for-hs256"
API_KEY = "not-a-real-key"
STOP_SECONDS_MAX = 30

_GREETING = " listens on "
_SETTINGS = {
    "RECOLLECT_AUTH__MODE": "jwt",
    "RECOLLECT_AUTH__JWT_SECRET": SECRET,
    "RECOLLECT_AUTH__API_KEYS": json.dumps({"bench": [API_KEY]}),
    "RECOLLECT_SERVER__PORT": "0",
    # Vectors that are being made when a benchmark is over are of no use to anybody.
    "RECOLLECT_SERVER__SHUTDOWN_GRACE_SECONDS": "1",
}


@dataclass(frozen=True, slots=True)
class Server:
    """A running server."""

    port: int
    pid: int


@contextmanager
def serving(database_url: str, folder: Path, **settings: str) -> Iterator[Server]:
    """A server with default settings but for identity, which is by bearer token, and for those
    that are given, `JOBS__EMBEDDED_WORKER="false"`."""
    command = [str(Path(sys.executable).with_name("recollect")), "serve"]
    given = {f"RECOLLECT_{name}": value for name, value in settings.items()}
    settings = {**_SETTINGS, **given, "RECOLLECT_DATABASE__URL": database_url}
    with running(command, folder, settings) as (process, line):
        yield Server(urlsplit(line.partition(_GREETING)[2].strip()).port or 0, process.pid)


@contextmanager
def running(
    command: list[str], folder: Path, settings: Mapping[str, str]
) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """A process and its first line on stdout; its log goes into a file, as it would."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("RECOLLECT_")}
    log = folder / "server.log"
    with (
        log.open("w") as stderr,
        subprocess.Popen(
            command, env={**kept, **settings}, stdout=subprocess.PIPE, stderr=stderr, text=True
        ) as process,
    ):
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line:
                raise RuntimeError(f"{command[0]} did not start: {log.read_text()[-2000:]}")
            yield process, line
        finally:
            _stop(process)


def _stop(process: "subprocess.Popen[str]") -> None:
    process.terminate()
    try:
        process.wait(STOP_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        process.kill()


def request(
    method: str, path: str, *, user_id: str, body: Any = None, as_client: bool = False
) -> bytes:
    """A whole HTTP/1.1 request."""
    bearer = f"Authorization: Bearer {token(user_id)}"
    head = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", bearer]
    if as_client:
        head.append(f"X-API-Key: {API_KEY}")
    content = b"" if body is None else json.dumps(body).encode()
    if body is not None:
        head += ["Content-Type: application/json", f"Content-Length: {len(content)}"]
    return "\r\n".join([*head, "", ""]).encode() + content


def token(user_id: str) -> str:
    """Good for as long as any benchmark takes."""
    now = SystemClock().now()
    return mint(SECRET.encode(), user_id=user_id, ttl=timedelta(hours=12), now=now)
