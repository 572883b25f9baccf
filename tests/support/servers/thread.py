"""A real server in a thread: uvicorn on a free loopback port, stopped when the test is done."""

import asyncio
import socket
import threading
from typing import Any

import uvicorn

from recollect.api.rest.protocol import OneWriteProtocol

START_SECONDS_MAX = 30
# Of the event loop, until it knows of a connection that the caller has just closed.
TURNS_TO_HANG_UP = 5


class RunningServer:
    """Serves an ASGI application until `stop`."""

    def __init__(self, asgi: Any, http: type[asyncio.Protocol] = OneWriteProtocol) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        config = uvicorn.Config(
            asgi,
            http=http,
            log_config=None,
            access_log=False,
            lifespan="on",
            ws="none",
        )
        self._server = _Announcing(config)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True
        )

    @property
    def url(self) -> str:
        """Where it listens."""
        host, port = self.address
        return f"http://{host}:{port}"

    @property
    def address(self) -> tuple[str, int]:
        """The same as host and port."""
        host, port = self._socket.getsockname()[:2]
        return host, port

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The event loop that it runs on, once it has started."""
        return self._server.loop

    def start(self) -> "RunningServer":
        """Returns when requests are answered; raises if the application does not start."""
        self._thread.start()
        self._server.decided.wait(START_SECONDS_MAX)
        if not self._server.started:
            self.stop()
            raise RuntimeError("the server did not start")
        return self

    def stop(self) -> None:
        """Finish running requests and end the thread."""
        self._server.end()
        self._thread.join(START_SECONDS_MAX)
        self._socket.close()
        if self._thread.is_alive():
            raise RuntimeError("the server did not stop")


class _Announcing(uvicorn.Server):
    """Says when start-up has succeeded or failed, and is told when to end: so nobody polls."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.decided = threading.Event()
        self.loop: asyncio.AbstractEventLoop
        self._ended: asyncio.Event

    def end(self) -> None:
        """From any thread, in any state."""
        self.should_exit = True
        if self.started:
            self.loop.call_soon_threadsafe(self._ended.set)

    async def main_loop(self) -> None:
        await self.on_tick(0)
        if not self.should_exit:
            await self._ended.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Without Uvicorn's pause, which is for those who are still connected, where nobody is."""
        for _ in range(TURNS_TO_HANG_UP):
            await asyncio.sleep(0)
        if self.server_state.connections or self.server_state.tasks:
            await super().shutdown(sockets)
            return
        for listener in (*self.servers, *(sockets or ())):
            listener.close()
        await self.lifespan.shutdown()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self.loop = asyncio.get_running_loop()
        self._ended = asyncio.Event()
        try:
            await super().startup(sockets)
        finally:
            self.decided.set()
