"""Forwards requests to the node that has a recording, a limited number of times."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, TypeVar

from recollect.kernel.errors import BadGateway, Unavailable
from recollect.recordings.forwarder import ForwardedResponse, Forwarder
from recollect.recordings.model import HOPS_MAX, RecordingTiming

HOPS_HEADER = b"x-recollect-hops"

_POLL_SECONDS = 1
T = TypeVar("T")


class ForwardingService:
    """Forwards requests, and counts the hops in a header."""

    def __init__(self, forwarder: Forwarder) -> None:
        self._forwarder = forwarder

    async def forward(
        self, method: str, address: str, path: str, headers: Mapping[bytes, bytes]
    ) -> ForwardedResponse:
        """Send the request to the node at `address`, with the caller's own credentials.

        Nodes do not trust each other: the other node authenticates the caller again. Raises
        BadGateway after `HOPS_MAX` hops. A header that is not a small number counts as too many,
        because a caller can send it too.
        """
        came = headers.get(HOPS_HEADER, b"0")
        hops = int(came) if came.isdigit() and len(came) < 4 else HOPS_MAX
        if hops >= HOPS_MAX:
            raise BadGateway(f"forwarded more than {HOPS_MAX} times from node to node")
        onward = {**headers, HOPS_HEADER: b"%d" % (hops + 1)}
        return await self._forwarder.send(method, address, path, onward)

    async def close(self) -> None:
        await self._forwarder.close()


async def wait_for_node(
    request: Coroutine[Any, Any, T], gone: Callable[[], Awaitable[bool]], timing: RecordingTiming
) -> T | None:
    """Wait for another node's answer, but no longer than a cancel may take (else Unavailable).

    Returns None as soon as `gone` says that the recording has left that node. A node that hangs
    or died never answers; its location expires after seconds, and then the recording is over.
    """
    answer = asyncio.ensure_future(request)
    try:
        async with asyncio.timeout(timing.cancel):
            while not (await asyncio.wait((answer,), timeout=_POLL_SECONDS))[0]:
                if await gone():
                    return None
        return answer.result()
    except TimeoutError:
        raise Unavailable("the node that has the recording does not answer") from None
    except Unavailable:
        # No connection. If the location is gone too, the node is dead and so is its recording.
        if await gone():
            return None
        raise
    finally:
        # Closes the connection to the other node, whatever the outcome.
        answer.cancel()
        await asyncio.gather(answer, return_exceptions=True)
