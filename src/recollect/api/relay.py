"""One port for two protocols: a connection that begins with HTTP/2's preface is handed on.

REST is HTTP/1.1, and a request can't begin like that, so nobody else pays for it: a REST connection
costs one comparison of its first bytes.
"""

import asyncio
from collections.abc import Callable

from recollect.api.connections import Connections
from recollect.api.rest.http import OneWriteProtocol

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_HELD_BYTES_MAX = 256 * 1024
_REFUSAL_SECONDS = 1
_FULL_BODY = (
    b'{"error":"the server has as many connections as it may have","code":"unavailable",'
    b'"details":{"message":"the server has as many connections as it may have"}}'
)
_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\n"
    b"content-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(_FULL_BODY)
) + _FULL_BODY


class SharedPortProtocol(OneWriteProtocol):
    """Looks at the first bytes of a connection, then is in nobody's way."""

    grpc_address: Callable[[], str | None]
    counted: Connections
    _first = b""
    _decided = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Come in, if there is room."""
        if self.counted.enter():
            super().connection_made(transport)
        else:
            Refusal(transport, self.counted)

    def connection_lost(self, exc: Exception | None) -> None:
        """Make room."""
        self.counted.leave()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """REST, unless the connection begins with the preface."""
        if self._decided:
            super().data_received(data)
            return
        self._first += data
        path = self.grpc_address()
        if path is None or not _begins_alike(self._first):
            self._decided = True
            super().data_received(self._first)
        elif len(self._first) >= len(PREFACE):
            self._decided = True
            self._hand_on(path)

    def _hand_on(self, path: str) -> None:
        if self.counted.hand_on():
            Relay(self.leave(), path, self._first, ended=self.counted.leave_relayed)
        else:
            self.transport.close()


def shared_port(
    address: Callable[[], str | None], connections: Connections
) -> type[SharedPortProtocol]:
    """A protocol for uvicorn. `address` is the socket file of the server that speaks HTTP/2, once
    it listens. What is too many for `connections` is closed at once: REST is told why, and to
    gRPC's clients that is UNAVAILABLE."""

    class ThisPort(SharedPortProtocol):
        grpc_address = staticmethod(address)
        counted = connections

    return ThisPort


class Refusal(asyncio.Protocol):
    """There is no room. A few are told so and given a moment to hear it: to close at once is to
    reset a connection on which a request came, and the answer with it."""

    def __init__(self, caller: asyncio.Transport, connections: Connections) -> None:
        self._counted = connections
        self._told = connections.refuse()
        caller.set_protocol(self)
        if self._told:
            caller.write(_FULL)
            caller.write_eof()
            asyncio.get_running_loop().call_later(_REFUSAL_SECONDS, caller.abort)
        else:
            caller.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Make room for another."""
        if self._told:
            self._counted.leave_refused()


class Relay(asyncio.Protocol):
    """The caller's side of a connection that is handed on: bytes in, bytes out, no faster than the
    slower side takes them. `ended` is called when the caller is gone."""

    def __init__(
        self, caller: asyncio.Transport, path: str, first: bytes, *, ended: Callable[[], None]
    ) -> None:
        self._caller = caller
        self._ended = ended
        self._server: asyncio.Transport | None = None
        self._held = bytearray(first)
        caller.set_protocol(self)
        self._connecting = asyncio.ensure_future(self._connect(path))

    async def _connect(self, path: str) -> None:
        loop = asyncio.get_running_loop()
        try:
            server, _ = await loop.create_unix_connection(lambda: _Back(self._caller), path)
        except OSError:  # it stops
            self._caller.close()
            return
        if self._caller.is_closing():
            server.close()
            return
        self._server = server
        server.write(bytes(self._held))
        self._held.clear()
        self._caller.resume_reading()

    def data_received(self, data: bytes) -> None:
        """On to the server, or held until it is there."""
        if self._server is not None:
            _pass_on(data, self._server)
            return
        self._held += data
        if len(self._held) > _HELD_BYTES_MAX:
            self._caller.pause_reading()

    def pause_writing(self) -> None:
        """The caller takes no more."""
        if self._server is not None and not self._server.is_closing():
            self._server.pause_reading()

    def resume_writing(self) -> None:
        """The caller takes more."""
        if self._server is not None and not self._server.is_closing():
            self._server.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        """The caller is gone."""
        self._ended()
        if self._server is not None:
            self._server.close()


class _Back(asyncio.Protocol):
    """The server's side."""

    def __init__(self, caller: asyncio.Transport) -> None:
        self._caller = caller

    def data_received(self, data: bytes) -> None:
        _pass_on(data, self._caller)

    def pause_writing(self) -> None:
        if not self._caller.is_closing():
            self._caller.pause_reading()

    def resume_writing(self) -> None:
        if not self._caller.is_closing():
            self._caller.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        self._caller.close()


def _pass_on(data: bytes, to: asyncio.Transport) -> None:
    """One side may be gone a moment before the other hears of it."""
    if not to.is_closing():
        to.write(data)


def _begins_alike(first: bytes) -> bool:
    return PREFACE.startswith(first) or first.startswith(PREFACE)
