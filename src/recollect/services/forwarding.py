"""Calls that another node has to answer are sent on, but not in circles."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, TypeVar

from recollect.domain.recordings import HOPS_MAX, Tempo
from recollect.errors import BadGateway, Unavailable
from recollect.ports.forwarding import Forwarded, Forwarder

HOPS_HEADER = b"x-recollect-hops"

_LOOK_SECONDS = 1
T = TypeVar("T")


class ForwardingService:
    """Counts the hops of a call."""

    def __init__(self, forwarder: Forwarder) -> None:
        self._forwarder = forwarder

    async def forward(
        self, method: str, address: str, path: str, headers: Mapping[bytes, bytes]
    ) -> Forwarded:
        """Ask the node at an address, with the caller's own credentials."""
        came = headers.get(HOPS_HEADER, b"0")
        hops = int(came) if came.isdigit() and len(came) < 4 else HOPS_MAX
        if hops >= HOPS_MAX:
            raise BadGateway(f"forwarded more than {HOPS_MAX} times from node to node")
        onward = {**headers, HOPS_HEADER: b"%d" % (hops + 1)}
        return await self._forwarder.send(method, address, path, onward)

    async def close(self) -> None:
        """Let go of connections."""
        await self._forwarder.close()


async def unless_gone(
    asked: Coroutine[Any, Any, T], gone: Callable[[], Awaitable[bool]], tempo: Tempo
) -> T | None:
    """What another node answers, within the time of a cancel (else Unavailable); None as soon as
    what it is asked about is gone: a node that hangs or died answers nothing more."""
    answer = asyncio.ensure_future(asked)
    try:
        async with asyncio.timeout(tempo.cancel):
            while not (await asyncio.wait((answer,), timeout=_LOOK_SECONDS))[0]:
                if await gone():
                    return None
        return answer.result()
    except TimeoutError:
        raise Unavailable("the node that has the recording does not answer") from None
    except Unavailable:
        if await gone():
            return None
        raise
    finally:
        answer.cancel()
        await asyncio.gather(answer, return_exceptions=True)
