"""A small real endpoint for embeddings, with the faults that real ones have.

Its vectors are bags of words, each word at a place of its own: texts that share words are near.
"""

import hashlib
import json
import re
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tests.support.servers.loopback import LoopbackServer

Mode = Literal[
    "ok",
    "down",
    "error",
    "nan",
    "not_json",
    "rate_limited",
    "refused",
    "renumbered",
    "short",
    "shuffled",
    "slow",
    "wrong_dimensions",
]
STATUS: dict[Mode, int] = {"error": 500, "rate_limited": 429, "refused": 401}


class EmbeddingServer(LoopbackServer):
    """`with EmbeddingServer(dimensions=64) as server`: on a free port until the end of the block.

    `mode` says how it answers: "down" hangs up, "slow" waits for the end of the block, "short"
    leaves a vector out, "renumbered" gives all the same number, "refused" knows no such key.
    `times` limits the fault to so many requests; then all is well again. With `chars_max` a
    request with a longer text is refused with status 400, whatever the mode.
    """

    def __init__(self, *, dimensions: int = 64) -> None:
        super().__init__(_Handler)
        self.dimensions = dimensions
        self.mode: Mode = "ok"
        self.times: int | None = None
        self.chars_max: int | None = None
        self.retry_after: str | None = None
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        """The base address; clients append `/embeddings`."""
        return f"{super().url}/v1"

    def take(self, body: dict[str, Any], headers: dict[str, str]) -> Mode:
        """Note a request; how it is to be answered."""
        with self._lock:
            self.requests.append(body)
            self.headers.append(headers)
            mode = self.mode
            if self.times is not None:
                self.times -= 1
                if self.times <= 0:
                    self.mode, self.times = "ok", None
            return mode

    def answer(self, mode: Mode, texts: Sequence[str]) -> bytes:
        """The body of an answer with status 200."""
        if mode == "not_json":
            return b"<html>Bad gateway</html>"
        size = self.dimensions + 1 if mode == "wrong_dimensions" else self.dimensions
        rows = [bag_of_words(text, size).tolist() for text in texts]
        if mode == "nan":
            rows[0][0] = float("nan")
        items = [{"index": at, "embedding": row} for at, row in enumerate(rows)]
        return json.dumps({"object": "list", "data": _disordered(items, mode)}).encode()


def bag_of_words(text: str, dimensions: int) -> NDArray[np.float32]:
    """The server's vector of a text, of length 1; for a text without words a fixed one."""
    vector = np.zeros(dimensions, dtype=np.float32)
    for word in re.findall(r"\w+", text.lower()):
        digest = hashlib.blake2b(word.encode(), digest_size=8).digest()
        number = int.from_bytes(digest, "big")
        vector[number % dimensions] += 1 if number >> 63 else -1
    if not vector.any():
        vector[0] = 1
    return vector / np.float32(np.linalg.norm(vector))


def _disordered(items: list[dict[str, Any]], mode: Mode) -> list[dict[str, Any]]:
    if mode == "short":
        return items[:-1]
    if mode == "shuffled":
        return items[::-1]
    if mode == "renumbered":
        return [item | {"index": 0} for item in items]
    return items


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # A kept connection that its client forgot would keep the end of the block waiting.
    timeout = 1.0
    # Head and body are two writes, and nobody shall wait for the acknowledgement of the first.
    disable_nagle_algorithm = True
    server: EmbeddingServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        endpoint = self.server
        mode = endpoint.take(body, {name.lower(): value for name, value in self.headers.items()})
        if mode == "slow":
            endpoint.stopping.wait(30)
        if mode in ("down", "slow"):
            self.close_connection = True
            return
        status = 404 if self.path != "/v1/embeddings" else STATUS.get(mode, 200)
        longest = max(map(len, body["input"]))
        if endpoint.chars_max is not None and longest > endpoint.chars_max:
            status = 400
        self._send(status, endpoint.answer(mode, body["input"]) if status == 200 else b"{}")

    def _send(self, status: int, body: bytes) -> None:
        retry_after = self.server.retry_after
        self.send_response(status)
        if status != 200 and retry_after is not None:
            self.send_header("Retry-After", retry_after)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: requests are in `requests`."""
