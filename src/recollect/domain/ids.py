"""Ids: canonical lower-case UUID text. Those we make are UUIDv7, so they sort by time."""

import os
import threading
from typing import NewType, Protocol
from uuid import UUID

from recollect.domain.clock import Clock

ConversationId = NewType("ConversationId", str)
TreeId = NewType("TreeId", str)
EntryId = NewType("EntryId", str)
TransferId = NewType("TransferId", str)
UserId = NewType("UserId", str)
ClientId = NewType("ClientId", str)

_HYPHENS = (8, 13, 18, 23)


class Ids(Protocol):
    """Makes new ids."""

    def new(self) -> str:
        """A new UUIDv7, greater than every one this maker gave before."""
        ...


class Uuid7Ids:
    """UUIDv7 with a counter in the 12 bits after the millisecond: one process never goes back."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._last = 0
        self._random = b""

    def new(self) -> str:
        """48 bits of milliseconds, 12 bits of counter, 62 random bits."""
        millis = int(self._clock.now().timestamp() * 1000)
        with self._lock:
            self._last = stamp = max(self._last + 1, millis << 12)
            tail = int.from_bytes(self._take(8), "big") & ((1 << 62) - 1)
        value = (stamp >> 12) << 80 | 0x7 << 76 | (stamp & 0xFFF) << 64 | 0b10 << 62 | tail
        return str(UUID(int=value))

    def _take(self, size: int) -> bytes:
        """Random bytes, asked of the kernel in larger portions."""
        if len(self._random) < size:
            self._random = os.urandom(512)
        taken, self._random = self._random[:size], self._random[size:]
        return taken


def parse_uuid(text: str) -> str | None:
    """Canonical text in any letter case → lower case; anything else → None."""
    if len(text) != 36 or not text.isascii() or any(text[i] != "-" for i in _HYPHENS):
        return None
    try:
        canonical = str(UUID(text))
    except ValueError:
        return None
    return canonical if canonical == text.lower() else None
