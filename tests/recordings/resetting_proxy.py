"""A proxy of bytes before a node, whose connections can be reset as a lost network does."""

import select
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_RESET_ON_CLOSE = struct.pack("ii", 1, 0)
_TURN_SECONDS = 0.05


class ResettingProxy:
    """One thread for all connections: a socket is closed only while nobody waits on it."""

    def __init__(self, address: str) -> None:
        host, port = address.split(":")
        self._node = (host, int(port))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._peers: dict[socket.socket, socket.socket] = {}
        self._reset = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def reset(self) -> None:
        """Returns when all connections are gone; none is accepted any more."""
        self._reset.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._reset.is_set():
            ready, _, _ = select.select([self._listener, *self._peers], [], [], _TURN_SECONDS)
            for one in ready:
                if one is self._listener:
                    self._accept()
                elif one in self._peers:
                    self._pass_on(one)
        self._listener.close()
        for one in self._peers:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
            one.close()

    def _accept(self) -> None:
        caller, _ = self._listener.accept()
        node = socket.create_connection(self._node)
        self._peers |= {caller: node, node: caller}

    def _pass_on(self, one: socket.socket) -> None:
        other = self._peers[one]
        try:
            data = one.recv(65_536)
            other.sendall(data)
        except OSError:
            data = b""
        if not data:
            for end in (one, other):
                del self._peers[end]
                end.close()


@contextmanager
def a_resetting_proxy(address: str) -> Iterator[ResettingProxy]:
    """A proxy before this address."""
    proxy = ResettingProxy(address)
    try:
        yield proxy
    finally:
        proxy.reset()
