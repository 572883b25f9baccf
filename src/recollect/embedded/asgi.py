"""Calls the REST application of this process, without sockets and without an HTTP parser."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from recollect_client.values import Request, Response

Message = MutableMapping[str, Any]
AsgiApp = Callable[
    [Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]],
    Awaitable[None],
]


@dataclass(slots=True)
class StreamedAnswer:
    """An answer that comes in pieces. `begun` is set when status and headers are there, or when
    there will be none. `complete`: its end was not cut off. `failure` is the error of the caller's
    own pieces of the body."""

    status: int = 0
    complete: bool = False
    failure: Exception | None = None
    headers: dict[str, str] = field(default_factory=dict)
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    queue: asyncio.Queue[bytes | None] = field(default_factory=asyncio.Queue)


class AsgiCaller:
    """Calls an ASGI application on the event loop on which it runs."""

    def __init__(self, app: AsgiApp) -> None:
        self._app = app

    async def send(self, request: Request) -> Response:
        """The whole answer."""
        status, headers, pieces = 0, {}, []

        async def send(message: Message) -> None:
            nonlocal status, headers
            if message["type"] == "http.response.start":
                status, headers = message["status"], _to_text(message["headers"])
            else:
                pieces.append(message.get("body", b""))

        await self._app(_scope(request), _whole_body(request.body), send)
        return Response(status, headers, b"".join(pieces))

    async def stream(
        self, request: Request, answer: StreamedAnswer, body: AsyncIterator[bytes] | None
    ) -> None:
        """Fill the answer as it comes. Whoever cancels this has hung up."""

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                answer.status, answer.headers = message["status"], _to_text(message["headers"])
                answer.begun.set()
                return
            if message.get("body"):
                answer.queue.put_nowait(message["body"])
            answer.complete = not message.get("more_body", False)

        receive = _whole_body(request.body) if body is None else _body_in_pieces(body, answer)
        try:
            await self._app(_scope(request), receive, send)
        finally:
            answer.begun.set()
            answer.queue.put_nowait(None)


def _scope(request: Request) -> Message:
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": unquote(request.path),
        "raw_path": request.path.encode(),
        "query_string": request.query.encode(),
        "root_path": "",
        "headers": [
            (name.encode("latin-1"), value.encode("utf-8", "surrogateescape"))
            for name, value in request.headers.items()
        ],
        "client": None,
        "server": None,
    }


def _to_text(headers: list[tuple[bytes, bytes]]) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in headers}


def _whole_body(body: bytes) -> Callable[[], Awaitable[Message]]:
    sent = False

    async def receive() -> Message:
        nonlocal sent
        if sent:
            # An application asks again to learn of a hang-up, which comes as a cancellation here.
            await asyncio.Event().wait()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


def _body_in_pieces(
    pieces: AsyncIterator[bytes], answer: StreamedAnswer
) -> Callable[[], Awaitable[Message]]:
    ended = False

    async def receive() -> Message:
        nonlocal ended
        if ended:
            await asyncio.Event().wait()
        try:
            return {"type": "http.request", "body": await anext(pieces), "more_body": True}
        except StopAsyncIteration:
            ended = True
            return {"type": "http.request", "body": b"", "more_body": False}
        except Exception as error:  # noqa: BLE001 - of the caller's code: the caller gets it
            answer.failure = error
            return {"type": "http.disconnect"}

    return receive
