"""A proxy that loses answers: it passes a request on and hangs up before the answer arrives."""

import socket
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self

BUFFER_BYTES = 65_536


class LossyProxy:
    """Passes connections on to a server. The first `lost` answers never arrive."""

    def __init__(self, host: str, port: int, *, lost: int) -> None:
        self._target = (host, port)
        self._lost = lost
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
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                caller, _ = self._listener.accept()
                threading.Thread(target=self._pass_on, args=(caller,), daemon=True).start()

    def _pass_on(self, caller: socket.socket) -> None:
        with caller, socket.create_connection(self._target) as server, suppress(OSError):
            threading.Thread(target=_copy, args=(caller, server), daemon=True).start()
            while answer := server.recv(BUFFER_BYTES):
                if self._lost:
                    self._lost -= 1
                    caller.shutdown(socket.SHUT_RDWR)
                    return
                caller.sendall(answer)


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while piece := source.recv(BUFFER_BYTES):
            target.sendall(piece)
