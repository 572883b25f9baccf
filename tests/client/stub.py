"""A server of canned answers: whatever it is asked, the next one comes, as it is given."""

import re
import socket
import threading
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import Self

BUFFER_BYTES = 65_536


def answer(status: str, body: bytes, media: str = "application/json", **headers: str) -> bytes:
    """An answer that is whole."""
    named = {"content-type": media, "content-length": str(len(body)), "connection": "close"}
    named |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    return f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + body


class CannedServer:
    """Gives each connection one of the answers, in turn. `heard` has the requests."""

    def __init__(self, answers: Sequence[bytes]) -> None:
        self._answers = list(answers)
        self.heard: list[bytes] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._accept, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()

    def keys(self) -> list[bytes]:
        """The idempotency keys of the requests."""
        return [
            key
            for request in self.heard
            for key in re.findall(rb"idempotency-key: (\S+)", request, re.IGNORECASE)
        ]

    def _accept(self) -> None:
        with suppress(OSError):
            for canned in self._answers:
                caller, _ = self._listener.accept()
                with caller, suppress(OSError):
                    self.heard.append(_read_request(caller))
                    caller.sendall(canned)


def _read_request(caller: socket.socket) -> bytes:
    read = b""
    while piece := caller.recv(BUFFER_BYTES):
        read += piece
        head, end, body = read.partition(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
        if not read[:1].isalpha():  # no HTTP: the beginning of TLS
            break
        if end and len(body) >= int(length[1] if length else 0):
            break
    return read
