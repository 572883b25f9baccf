"""Uvicorn's HTTP protocol with one socket write per response, and with limits on request heads.

Uvicorn writes head and body of a response separately: two system calls where one would do. It also
buffers a request head of any size from unknown callers, and treats trailers as headers.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_BYTES_MAX = 512 * 1024
HEAD_SECONDS_MAX = 30
# Key in the ASGI scope of a request whose response streams until somebody ends it.
ENDLESS = "recollect.endless"

_HEAD = b"HTTP/1.1 "
_CONTINUE = b"HTTP/1.1 100 "


class BoundedHeadProtocol(HttpToolsProtocol):
    """Closes a connection whose head is too large or too slow; ignores trailers.

    A proxy that strips credentials from headers seldom looks at trailers. If trailers became
    headers here, a client could smuggle credentials past it.
    """

    _in_head = False
    _bytes_beside_body = 0
    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer for the first head."""
        super().connection_made(transport)
        self._start_head_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._stop_head_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count bytes; `on_body` and `on_message_complete` reset the count."""
        self._bytes_beside_body += len(data)
        if self._bytes_beside_body <= HEAD_BYTES_MAX:
            super().data_received(data)
            if self._in_head:
                self._start_head_timer()
        # While a response is running, a 400 would be written into the middle of it.
        elif self.cycle is None or self.cycle.response_complete:
            self.send_400_response("The head of the request is too long.")
        else:
            self.transport.close()

    def on_message_begin(self) -> None:
        """A head begins."""
        self._in_head = True
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take the header, unless it is a trailer."""
        if self._in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The head ends: what follows is the body, and maybe trailers."""
        self._in_head = False
        self._stop_head_timer()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Reset the count: bodies have a limit of their own."""
        self._bytes_beside_body = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Reset the count for the next request."""
        self._bytes_beside_body = 0
        super().on_message_complete()

    def shutdown(self) -> None:
        """The server stops: end a streaming response that would never end by itself."""
        super().shutdown()
        cycle = self.cycle
        if cycle is not None and not cycle.response_complete and cycle.scope.get(ENDLESS):
            cycle.disconnected = True
            cycle.message_event.set()
            self.transport.close()

    def _start_head_timer(self) -> None:
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(HEAD_SECONDS_MAX, self.transport.close)

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None


class OneWriteProtocol(BoundedHeadProtocol):
    """Sends head and body of a response in one write. Give this to uvicorn as `http`."""

    _socket: asyncio.Transport

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Put the buffering transport between uvicorn and the socket."""
        self._socket = transport
        super().connection_made(_HeadBufferingTransport(transport, self.loop))  # type: ignore[arg-type]

    def detach_socket(self) -> asyncio.Transport:
        """Detach from the connection and return its socket; the caller takes it over."""
        self._stop_head_timer()
        self.connections.discard(self)
        return self._socket


class _HeadBufferingTransport:
    """Holds the head of a response until its body is written, or until the loop's next turn.

    It relies on uvicorn writing a head in one call that begins with `HTTP/1.1`. If that changes,
    responses stay correct and cost two writes again.
    """

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
