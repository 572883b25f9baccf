"""Ids: UUIDs as canonical lower-case text. Those we generate are UUIDv7, so they sort by time."""

import os
import re
import threading
from typing import NewType, Protocol

from recollect.kernel.clock import Clock

AgentId = NewType("AgentId", str)


PersonId = NewType("PersonId", str)


ConversationId = NewType("ConversationId", str)
TreeId = NewType("TreeId", str)
EntryId = NewType("EntryId", str)
TransferId = NewType("TransferId", str)
UserId = NewType("UserId", str)
ClientId = NewType("ClientId", str)

_CANONICAL = re.compile("[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


class Ids(Protocol):
    """Generates ids."""

    def new(self) -> str:
        """A new UUIDv7, greater than every one that this generator returned before."""
        ...


class Uuid7Ids:
    """UUIDv7 with a counter in the 12 bits after the millisecond, so ids of a process only grow.

    If the clock goes back, or more than 4,096 ids are made in a millisecond, the counter carries on
    into the milliseconds. Safe to use from many threads.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._last = 0
        self._random = b""

    def new(self) -> str:
        """48 bits of milliseconds, 12 bits of counter, 62 random bits."""
        millis = int(self._clock.now().timestamp() * 1000)
        with self._lock:
            # `stamp` is milliseconds and counter in one number, so adding 1 counts on.
            self._last = stamp = max(self._last + 1, millis << 12)
            tail = int.from_bytes(self._random_bytes(8), "big") & ((1 << 62) - 1)
        # RFC 9562: 48 bits of time, version 7, 12 bits for us, variant 10, 62 random bits.
        value = (stamp >> 12) << 80 | 0x7 << 76 | (stamp & 0xFFF) << 64 | 0b10 << 62 | tail
        text = f"{value:032x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"

    def _random_bytes(self, size: int) -> bytes:
        """Random bytes, requested from the kernel in larger portions."""
        if len(self._random) < size:
            self._random = os.urandom(512)
        portion, self._random = self._random[:size], self._random[size:]
        return portion


def derive_id(uuid: str, number: int) -> str:
    """The id of item `number` (from 0) of a batch that has one reserved id.

    It is a UUIDv7 too: the reserved id's random part plus the number. So a repeated batch gets the
    same ids.
    """
    head, tail = uuid[:19], int(uuid[19:].replace("-", ""), 16)
    text = f"{0b10 << 62 | (tail + 1 + number) & (1 << 62) - 1:016x}"
    return f"{head}{text[:4]}-{text[4:]}"


UUID_RULE = "must be a UUID such as 0190b0a3-5f0e-7cc3-9f3f-1a2b3c4d5e6f"


def parse_uuid(text: str) -> str | None:
    """Canonical text in any letter case → lower case; anything else → None."""
    return text.lower() if _CANONICAL.fullmatch(text) else None


USER_ID_CHARS_MAX = 255


MemoryId = NewType("MemoryId", str)


ChatId = NewType("ChatId", str)


RunId = NewType("RunId", str)


OrgId = NewType("OrgId", str)
