"""Calls that another node has to answer are sent on, but not in circles."""

from collections.abc import Mapping

from recollect.domain.recordings import HOPS_MAX
from recollect.errors import BadGateway
from recollect.ports.forwarding import Forwarded, Forwarder

HOPS_HEADER = "x-recollect-hops"


class ForwardingService:
    """Counts the hops of a call."""

    def __init__(self, forwarder: Forwarder) -> None:
        self._forwarder = forwarder

    async def forward(
        self, method: str, address: str, path: str, headers: Mapping[str, str]
    ) -> Forwarded:
        """Ask the node at an address, with the caller's own credentials."""
        came = headers.get(HOPS_HEADER, "0")
        hops = int(came) if came.isascii() and came.isdigit() and len(came) < 4 else HOPS_MAX
        if hops >= HOPS_MAX:
            raise BadGateway(f"forwarded more than {HOPS_MAX} times from node to node")
        onward = {**headers, HOPS_HEADER: str(hops + 1)}
        return await self._forwarder.send(method, address, path, onward)

    async def close(self) -> None:
        """Let go of connections."""
        await self._forwarder.close()
