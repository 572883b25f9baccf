"""The interface for requests that are forwarded to other nodes."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ForwardedResponse:
    """The response of another node, with the few headers that are passed back to the caller."""

    status: int
    media: bytes
    headers: tuple[tuple[bytes, bytes], ...]
    body: AsyncIterator[bytes]


class Forwarder(Protocol):
    """Sends requests to other nodes. Raises Unavailable if a node does not answer."""

    async def send(
        self, method: str, address: str, path: str, headers: Mapping[bytes, bytes]
    ) -> ForwardedResponse:
        """Send the request. The body is streamed: it must be read to the end, or closed."""
        ...

    async def close(self) -> None:
        """Close connections."""
        ...
