"""Forwards requests to other nodes over HTTP."""

from collections.abc import AsyncIterator, Mapping

import httpx2

from recollect.kernel.errors import Unavailable
from recollect.recordings.forwarder import ForwardedResponse

CONNECT_SECONDS_MAX = 5
# Time between two reads. A cancel may take as long; a live stream sends keep-alives more often.
ANSWER_SECONDS_MAX = 30
_RETURNED_HEADERS = (b"retry-after", b"www-authenticate")


class HttpForwarder:
    """Implements `Forwarder`. The HTTP client is created with the first request."""

    def __init__(self) -> None:
        self._http: httpx2.AsyncClient | None = None

    async def send(
        self, method: str, address: str, path: str, headers: Mapping[bytes, bytes]
    ) -> ForwardedResponse:
        if self._http is None:
            timeout = httpx2.Timeout(ANSWER_SECONDS_MAX, connect=CONNECT_SECONDS_MAX)
            # Each reader here of a recording elsewhere holds one connection, so no maximum.
            limits = httpx2.Limits(max_connections=None, max_keepalive_connections=20)
            self._http = httpx2.AsyncClient(timeout=timeout, limits=limits, trust_env=False)
        try:
            request = self._http.build_request(method, f"http://{address}{path}", headers=headers)
            response = await self._http.send(request, stream=True)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise Unavailable("the node that has the recording does not answer") from error
        came = {name.lower(): value for name, value in response.headers.raw}
        media = came.get(b"content-type", b"application/json")
        passed_back = tuple((name, came[name]) for name in _RETURNED_HEADERS if name in came)
        return ForwardedResponse(response.status_code, media, passed_back, _iter_body(response))

    async def close(self) -> None:
        if self._http is not None:
            await self._http.aclose()


async def _iter_body(response: httpx2.Response) -> AsyncIterator[bytes]:
    """The body in chunks. A lost connection ends it like a normal end: the caller's stream then
    ends without an end event, and the reader reconnects with its cursor."""
    try:
        async for chunk in response.aiter_raw():
            yield chunk
    except httpx2.HTTPError:
        return
    finally:
        await response.aclose()
