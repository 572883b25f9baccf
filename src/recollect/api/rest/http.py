"""Uvicorn's HTTP protocol with one socket write an answer.

Uvicorn writes the head of an answer and then its body, two system calls where one does: a quarter
of the time that the event loop spends on an append.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_HEAD = b"HTTP/1.1 "
_CONTINUE = b"HTTP/1.1 100 "


class OneWriteProtocol(HttpToolsProtocol):
    """Give this to uvicorn as `http`."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Put our transport between uvicorn and the socket."""
        super().connection_made(_HeldHead(transport, self.loop))  # type: ignore[arg-type]


class _HeldHead:
    """Holds the head of an answer until its body comes, or until the event loop's next turn."""

    __slots__ = ("_head", "_loop", "_transport")

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._head = b""

    def write(self, part: bytes) -> None:
        if self._head:
            head, self._head = self._head, b""
            self._transport.write(head + part)
        elif part.startswith(_HEAD) and not part.startswith(_CONTINUE):
            self._head = part
            self._loop.call_soon(self._flush)
        else:
            self._transport.write(part)

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def _flush(self) -> None:
        if self._head:
            head, self._head = self._head, b""
            self._transport.write(head)
