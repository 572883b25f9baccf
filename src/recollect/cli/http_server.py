"""The server process: Uvicorn on a bound socket, around the application."""

import gc
import signal
import socket
from asyncio import Runner

import uvicorn

from recollect.app.application import App, build
from recollect.settings import Settings


def run(settings: Settings, listener: socket.socket, greeting: str) -> None:
    """Serve until a signal; `greeting` is printed once requests are answered."""
    app = build(settings)
    app.set_listen_address(settings.server.host, listener.getsockname()[1])
    server = _Server(app, greeting)
    with Runner(loop_factory=server.config.get_loop_factory()) as runner:
        runner.run(_serve_until_stopped(app, server, listener))


async def _serve_until_stopped(app: App, server: "_Server", listener: socket.socket) -> None:
    # Uvicorn restores these handlers when it stops and raises the signal again: with them, a
    # signal during start-up stops the server as well, and a graceful stop ends with exit code 0.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, server.stop)
    try:
        await app.start()
        await server.serve(sockets=[listener])
    finally:
        await app.close()


class _Server(uvicorn.Server):
    """Uvicorn that prints the greeting once it answers. Its lifespan protocol is off: the
    application is started and closed by `_serve_until_stopped`."""

    def __init__(self, app: App, greeting: str) -> None:
        super().__init__(
            uvicorn.Config(
                app.asgi,
                interface="asgi3",
                http=app.http_protocol,
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                timeout_graceful_shutdown=app.context.settings.server.shutdown_grace_seconds,
            )
        )
        self._app = app
        self._greeting = greeting

    def stop(self, *_: object) -> None:
        """Signal handler: let Uvicorn shut down."""
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then print the greeting, unless a signal came first."""
        await super().startup(sockets)
        # What start-up made stays for good, so the garbage collector need not look through it.
        gc.freeze()
        if not self.should_exit:
            print(self._greeting, flush=True)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End streams at once, and let other requests finish. Streams would go on until the grace
        period is over."""
        await self._app.end_streams()
        await super().shutdown(sockets)
