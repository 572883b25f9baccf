"""The least that Python, Starlette and uvicorn can be: one route, no database."""

import socket

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route


async def _health(_: Request) -> JSONResponse:
    return JSONResponse({"status": "ok"})


class _Server(uvicorn.Server):
    """Says when it answers."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        print("ready", flush=True)


if __name__ == "__main__":
    app = Starlette(routes=[Route("/health", _health)])
    _Server(uvicorn.Config(app, port=0, http="httptools", ws="none", log_config=None)).run()
