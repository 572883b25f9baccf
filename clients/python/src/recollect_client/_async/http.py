"""The way to a server over HTTP."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx2

from recollect_client.errors import (
    CLIENT_CLOSED,
    CLOSED,
    NO_ANSWER,
    NOT_CONNECTED,
    ServerUnreachable,
)
from recollect_client.pools import AsyncPools
from recollect_client.values import Request, Response

_NOT_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)


@dataclass(frozen=True, slots=True)
class _HttpStream:
    """An answer that comes in pieces."""

    status: int
    headers: Mapping[str, str]
    response: httpx2.Response

    async def pieces(self) -> AsyncIterator[bytes]:
        """The bytes, as they come. ServerUnreachable if the connection is lost on the way."""
        try:
            async for piece in self.response.aiter_bytes():
                yield piece
        except httpx2.RequestError as error:
            raise lost_connection(error) from error


class AsyncHttpTransport:
    """Connections to one server."""

    may_lose_answers = True

    def __init__(self, url: str, *, timeout_seconds: float) -> None:
        self._url = url
        self._timeout = httpx2.Timeout(timeout_seconds)
        self._endless = httpx2.Timeout(timeout_seconds, read=None)
        self._pools = AsyncPools(self._new_client)
        self._closed = False

    async def send(self, request: Request) -> Response:
        """The whole answer. ServerUnreachable if there is none."""
        client = self._open_client()
        try:
            response = await client.request(
                request.method,
                request.target,
                headers=_raw_headers(request),
                content=request.body or None,
            )
        except httpx2.RequestError as error:
            raise lost_connection(error) from error
        return Response(response.status_code, response.headers, response.content)

    @asynccontextmanager
    async def stream(
        self, request: Request, body: AsyncIterator[bytes] | None = None
    ) -> AsyncIterator[_HttpStream]:
        """The answer piece by piece. Nothing bounds the time between two pieces."""
        client = self._open_client()
        try:
            async with client.stream(
                request.method,
                request.target,
                headers=_raw_headers(request),
                content=body if body is not None else request.body or None,
                timeout=self._endless,
            ) as response:
                yield _HttpStream(response.status_code, response.headers, response)
        except httpx2.RequestError as error:
            raise lost_connection(error) from error

    async def aclose(self) -> None:
        """Close the connections of this process, and of this event loop if there is one. A second
        call does nothing."""
        self._closed = True
        client = self._pools.take_mine()
        if client is not None:
            await client.aclose()

    def _open_client(self) -> httpx2.AsyncClient:
        if self._closed:
            raise ServerUnreachable(CLIENT_CLOSED, code=CLOSED)
        return self._pools.mine()

    def _new_client(self) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            base_url=self._url,
            timeout=self._timeout,
            follow_redirects=False,
            # To load the certificates takes longer than a request, and here nothing asks for them.
            verify=self._url.startswith("https://"),
        )


def _raw_headers(request: Request) -> dict[bytes, bytes]:
    """The headers as bytes: names of users are in UTF-8."""
    return {name.encode(): value.encode() for name, value in request.headers.items()}


def lost_connection(error: httpx2.RequestError) -> ServerUnreachable:
    """The error of a request without an answer. Its code says whether it can have been sent."""
    code = NOT_CONNECTED if isinstance(error, _NOT_SENT) else NO_ANSWER
    reason = str(error) or type(error).__name__
    if isinstance(error, httpx2.TimeoutException):
        return ServerUnreachable(f"the server did not answer in time ({reason})", code=code)
    return ServerUnreachable(f"no connection to the server ({reason})", code=code)
