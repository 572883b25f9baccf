"""Where gRPC listens: behind the HTTP port, and on a port of its own where one is set."""

import shutil
import tempfile
from pathlib import Path

from recollect.api.grpc.server import GrpcServer
from recollect.errors import Unavailable
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
        """The socket file that connections of the HTTP port are handed to, while it listens."""
        return None if self._folder is None else str(self._folder / "grpc")

    @property
    def port(self) -> int | None:
        """The port of its own, where there is one."""
        return self._port

    async def start(self) -> None:
        """Listen."""
        # Nobody else's: a folder of mode 0700.
        folder = Path(tempfile.mkdtemp(prefix="recollect-"))
        addresses = [f"unix:{folder / 'grpc'}"]
        port = self._settings.grpc.port
        if port is not None:
            addresses.append(f"{_bracketed(self._settings.server.host)}:{port}")
        try:
            bound = await self._server.start(*addresses, connections_max=self.connections_max)
        except RuntimeError as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise Unavailable(f"can't listen on grpc.port {port}") from error
        self._folder = folder
        self._port = bound[1] if port is not None else None

    async def stop(self) -> None:
        """Take no more calls, and let those at hand end in time."""
        await self._server.stop(self._settings.server.shutdown_grace_seconds)
        folder, self._folder = self._folder, None
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
