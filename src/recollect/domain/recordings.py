"""Recorded responses: what an agent says is kept while it says it, so that others can follow.

A *location* tells where a recording is: the address of its node, and its id. It lives under a key
for a few seconds and is renewed as long as the recording runs.
"""

from dataclasses import dataclass
from enum import StrEnum

from recollect.domain.ids import ConversationId

HOPS_MAX = 3
LEFTOVER_SECONDS = 30 * 60


@dataclass(frozen=True, slots=True)
class Tempo:
    """How long a location lives, when it is renewed, and how long a cancel waits, in seconds."""

    lifetime: float = 10
    renewal: float = 5
    cancel: float = 30


@dataclass(frozen=True, slots=True)
class Most:
    """How many of something a node may have, and how many of them may be one caller's."""

    of_all: int
    of_one: int


@dataclass(frozen=True, slots=True)
class RecorderLimits:
    """Of recordings that run, and again of those that are kept; and of readers."""

    recordings: Most = Most(1_000, 100)
    replays: Most = Most(5_000, 200)


@dataclass(frozen=True, slots=True)
class Location:
    """Where a recording is."""

    address: str
    recording_id: str

    def __str__(self) -> str:
        return f"{self.recording_id}@{self.address}"

    @classmethod
    def parse(cls, text: str) -> "Location | None":
        """The inverse of `str`; None for a text that nobody of us wrote."""
        recording_id, at, address = text.partition("@")
        return cls(address, recording_id) if at and recording_id and address else None


def location_key(conversation_id: ConversationId) -> str:
    """The key of a recording that runs."""
    return f"response:{conversation_id}"


def tail_key(conversation_id: ConversationId, recording_id: str) -> str:
    """The key of one that ended and is kept for those who lost their connection. It is looked up
    with an id that a caller sent, so what that names must be of the same conversation."""
    return f"response-tail:{conversation_id}:{recording_id}"


class RecordOutcome(StrEnum):
    """How a recording ended that ended well."""

    SUCCESS = "success"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a recording: what a reader has had so far."""

    recording_id: str
    offset: int = 0

    def __str__(self) -> str:
        return f"{self.recording_id}.{self.offset}"

    @classmethod
    def parse(cls, text: str) -> "Place | None":
        """The inverse of `str`; None for anything else."""
        recording_id, dot, digits = text.rpartition(".")
        if not dot or not recording_id or not (digits.isascii() and digits.isdigit()):
            return None
        return cls(recording_id, int(digits)) if len(digits) <= 18 else None


@dataclass(frozen=True, slots=True)
class Piece:
    """Some text of a recording, and the place behind it; without text, a sign of life."""

    text: str
    place: Place
