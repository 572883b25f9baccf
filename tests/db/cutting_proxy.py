"""A proxy before PostgreSQL that can cut a connection behind a message, or swallow all answers."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import quote, urlencode

from psycopg.conninfo import conninfo_to_dict

COMMITTED = b"C\x00\x00\x00\x0bCOMMIT\x00"


class CuttingProxy:
    """Forwards bytes; once `cut_behind` is set, the message of these bytes is the last to pass.

    Once `silent` is set nothing of the server passes any more, as if it hung.
    """

    def __init__(self, url: str) -> None:
        self._upstream = conninfo_to_dict(url)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = [self._listener]
        self.cut_behind: bytes | None = None
        self.silent = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        """Where the database is reached through the proxy."""
        here = {"host": "127.0.0.1", "port": self._listener.getsockname()[1]}
        plain = {"sslmode": "disable", "gssencmode": "disable"}
        return f"postgresql://?{urlencode(self._upstream | here | plain, quote_via=quote)}"

    def close(self) -> None:
        """End every connection."""
        for one in self._open:
            _end(one)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = self._connect()
                self._open += [client, server]
                for source, target in ((client, server), (server, client)):
                    forward = (source, target, source is server)
                    threading.Thread(target=self._forward, args=forward, daemon=True).start()

    def _connect(self) -> socket.socket:
        host, port = str(self._upstream["host"]), int(self._upstream.get("port") or 5432)
        if not host.startswith("/"):
            return socket.create_connection((host, port))
        server = socket.socket(socket.AF_UNIX)
        server.connect(f"{host}/.s.PGSQL.{port}")
        return server

    def _forward(self, source: socket.socket, target: socket.socket, from_server: bool) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                if from_server and self.silent.is_set():
                    continue
                mark = self.cut_behind if from_server else None
                before, found, _ = data.partition(mark) if mark else (data, b"", b"")
                target.sendall(before + found)
                if found:
                    break
        _end(source)
        _end(target)


@contextmanager
def a_cutting_proxy(url: str) -> Iterator[CuttingProxy]:
    """A proxy before the database of this URL."""
    proxy = CuttingProxy(url)
    try:
        yield proxy
    finally:
        proxy.close()


def _end(one: socket.socket) -> None:
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()
