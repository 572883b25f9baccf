"""Other nodes, asked in a caller's place."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Forwarded:
    """What another node answered; of its headers those that belong to a refusal."""

    status: int
    media: bytes
    headers: tuple[tuple[bytes, bytes], ...]
    body: AsyncIterator[bytes]


class Forwarder(Protocol):
    """Sends a request on. Raises Unavailable if the node does not answer."""

    async def send(
        self, method: str, address: str, path: str, headers: Mapping[bytes, bytes]
    ) -> Forwarded:
        """The answer as it comes; its body has to be read to the end, or closed."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...
