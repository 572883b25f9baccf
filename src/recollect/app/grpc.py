"""Where gRPC listens: on a unix socket behind the HTTP port, and on `grpc.port` if it is set."""

import shutil
import tempfile
from pathlib import Path

from recollect.api.grpc.server import GrpcServer
from recollect.kernel.errors import Unavailable
from recollect.settings import Settings


class GrpcListener:
    """The gRPC server and its addresses, each with at most `connections_max` connections."""

    def __init__(self, server: GrpcServer, settings: Settings, *, connections_max: int) -> None:
        self.connections_max = connections_max
        self._server = server
        self._settings = settings
        self._folder: Path | None = None
        self._port: int | None = None

    @property
    def socket_path(self) -> str | None:
        """The socket file that the HTTP port relays to; None while gRPC does not listen."""
        return None if self._folder is None else str(self._folder / "grpc")

    @property
    def port(self) -> int | None:
        """The bound `grpc.port`; None if it is not set."""
        return self._port

    async def start(self) -> None:
        """Listen on the socket file and on `grpc.port`. Raises Unavailable if the port is taken."""
        # `mkdtemp` makes a folder of mode 0700: other users can't reach the socket.
        folder = Path(tempfile.mkdtemp(prefix="recollect-"))
        addresses = [f"unix:{folder / 'grpc'}"]
        port = self._settings.grpc.port
        if port is not None:
            host = self._settings.server.host
            addresses.append(f"[{host}]:{port}" if ":" in host else f"{host}:{port}")
        try:
            bound = await self._server.start(*addresses, connections_max=self.connections_max)
        except RuntimeError as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise Unavailable(f"can't listen on grpc.port {port}") from error
        self._folder = folder
        self._port = bound[1] if port is not None else None

    async def stop(self) -> None:
        """Take no new calls, and give running ones the grace period to end."""
        await self._server.stop(self._settings.server.shutdown_grace_seconds)
        folder, self._folder = self._folder, None
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
