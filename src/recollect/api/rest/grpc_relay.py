"""Serves REST and gRPC on one port: connections that begin with HTTP/2's preface go to gRPC.

uvicorn speaks HTTP/1.1 only, and grpcio brings its own HTTP/2 server, which listens on a unix
socket in a private folder. No HTTP/1.1 request can begin like the preface, so the first bytes
decide, and REST pays one comparison for each connection (decision 0019).
"""

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from recollect.api.rest.connection_limit import ConnectionLimit
from recollect.api.rest.protocol import OneWriteProtocol

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_HELD_BYTES_MAX = 256 * 1024
_REFUSAL_SECONDS = 1
_FULL_BODY = (
    b'{"error":"the server has as many connections as it may have","code":"unavailable",'
    b'"details":{"message":"the server has as many connections as it may have"}}'
)
_FULL_RESPONSE = (
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\n"
    b"content-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(_FULL_BODY)
) + _FULL_BODY


class SharedPortProtocol(OneWriteProtocol):
    """uvicorn's HTTP protocol, which decides by a connection's first bytes where it goes.

    The accounting of a connection's file descriptors: `acquire` at the start and `release` at the
    end. A relayed connection leaves this protocol (`set_protocol`), so `connection_lost` is not
    called here any more; the relay's `ended` callback releases all three descriptors instead.
    """

    grpc_address: Callable[[], str | None]
    counted: ConnectionLimit
    _first = b""
    _decided = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept the connection, or refuse it if the limit is reached."""
        if self.counted.acquire():
            super().connection_made(transport)
        else:
            RefusedConnection(transport, self.counted)

    def connection_lost(self, exc: Exception | None) -> None:
        """Release the descriptor."""
        self.counted.release()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Pass the data to uvicorn, unless the connection begins with the preface."""
        if self._decided:
            super().data_received(data)
            return
        # The preface may arrive in pieces: as long as the bytes so far could become it, wait for
        # more. The timer of `BoundedHeadProtocol` closes a connection that sends no more.
        self._first += data
        path = self.grpc_address()
        if path is None or not _may_be_preface(self._first):
            self._decided = True
            super().data_received(self._first)
        elif len(self._first) >= len(PREFACE):
            self._decided = True
            self._relay_to_grpc(path)

    def _relay_to_grpc(self, path: str) -> None:
        if self.counted.acquire_relay():
            GrpcRelay(self.detach_socket(), path, self._first, ended=self.counted.release_relay)
        else:
            self.transport.close()


def shared_port_protocol(
    address: Callable[[], str | None], connections: ConnectionLimit
) -> type[SharedPortProtocol]:
    """The protocol class to give to uvicorn.

    `address` returns the gRPC server's socket file, None while it does not listen. Connections
    above the limit are closed: a REST client gets a 503, a gRPC client sees UNAVAILABLE.
    """

    class ThisPort(SharedPortProtocol):
        grpc_address = staticmethod(address)
        counted = connections

    return ThisPort


class RefusedConnection(asyncio.Protocol):
    """A connection above the limit. A few at a time get a 503 before they are closed.

    They are closed a second later: closing at once would reset a connection whose request is still
    unread, and the reset could destroy the response before the client reads it.
    """

    def __init__(self, caller: asyncio.Transport, connections: ConnectionLimit) -> None:
        self._counted = connections
        self._refusal_slot = connections.acquire_refusal()
        caller.set_protocol(self)
        if self._refusal_slot:
            caller.write(_FULL_RESPONSE)
            caller.write_eof()
            asyncio.get_running_loop().call_later(_REFUSAL_SECONDS, caller.abort)
        else:
            caller.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Release the descriptor of the refusal."""
        if self._refusal_slot:
            self._counted.release_refusal()


class GrpcRelay(asyncio.Protocol):
    """The client's side of a relayed connection: copies bytes between client and gRPC server.

    Each side's transport calls `pause_writing` when its send buffer is full; then we stop reading
    from the other side. So neither buffer grows without bound, however slow one side is.

    While the unix connection is being opened, data is kept in `_buffered`, and reading pauses above
    256 KiB. `ended` is called once, when the client's connection is closed.
    """

    def __init__(
        self, caller: asyncio.Transport, path: str, first: bytes, *, ended: Callable[[], None]
    ) -> None:
        self._caller = caller
        self._ended = ended
        self._server: asyncio.Transport | None = None
        self._buffered = bytearray(first)
        caller.set_protocol(self)
        # Referenced, because the event loop keeps only weak references to tasks.
        self._connecting = asyncio.ensure_future(self._connect(path))

    async def _connect(self, path: str) -> None:
        loop = asyncio.get_running_loop()
        backend = socket.socket(socket.AF_UNIX)
        backend.setblocking(False)
        try:
            with _named_for(backend, path, self._caller.get_extra_info("peername")):
                await loop.sock_connect(backend, path)
            server, _ = await loop.create_unix_connection(
                lambda: _RelayBackend(self._caller), sock=backend
            )
        except OSError:  # the gRPC server has stopped
            backend.close()
            self._caller.close()
            return
        # The client may have hung up meanwhile. Then `connection_lost` found no server to close.
        if self._caller.is_closing():
            server.close()
            return
        self._server = server
        server.write(bytes(self._buffered))
        self._buffered.clear()
        self._caller.resume_reading()

    def data_received(self, data: bytes) -> None:
        """Forward data to the server, or hold it until the server is connected."""
        if self._server is not None:
            _forward(data, self._server)
            return
        self._buffered += data
        if len(self._buffered) > _HELD_BYTES_MAX:
            self._caller.pause_reading()

    def pause_writing(self) -> None:
        """The client's send buffer is full: stop reading from the server."""
        if self._server is not None and not self._server.is_closing():
            self._server.pause_reading()

    def resume_writing(self) -> None:
        """The client's send buffer has room again."""
        if self._server is not None and not self._server.is_closing():
            self._server.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone: close the server's side too."""
        self._ended()
        if self._server is not None:
            self._server.close()


class _RelayBackend(asyncio.Protocol):
    """The gRPC server's side of a relayed connection. Its end closes the client's side."""

    def __init__(self, caller: asyncio.Transport) -> None:
        self._caller = caller

    def data_received(self, data: bytes) -> None:
        _forward(data, self._caller)

    def pause_writing(self) -> None:
        if not self._caller.is_closing():
            self._caller.pause_reading()

    def resume_writing(self) -> None:
        if not self._caller.is_closing():
            self._caller.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        self._caller.close()


@contextmanager
def _named_for(backend: socket.socket, path: str, peer: tuple[Any, ...] | None) -> Iterator[None]:
    """Bind the socket to a name with the caller's address, which the gRPC server would not know
    otherwise (`api/grpc/peers.py`). The other end keeps the name, the file is not needed longer.

    A name that can't be bound, such as one that is too long for the system, is left out.
    """
    try:
        address, port = ip_address((peer or ("",))[0]), (peer or (0, 0))[1]
    except ValueError:
        yield
        return
    name = Path(path).parent / f"{address.packed.hex()}-{port:x}"
    with suppress(OSError):
        backend.bind(str(name))
    try:
        yield
    finally:
        with suppress(OSError):
            name.unlink()


def _forward(data: bytes, to: asyncio.Transport) -> None:
    """Write to a transport, unless it is closing: one side ends a moment before the other."""
    if not to.is_closing():
        to.write(data)


def _may_be_preface(first: bytes) -> bool:
    return PREFACE.startswith(first) or first.startswith(PREFACE)
