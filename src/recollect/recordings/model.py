"""Recordings: the text of a response is kept while it is generated, so that readers can follow.

A *location* is the address of the node that has a recording, and the recording's id. It is stored
under a key for a few seconds, and renewed as long as the recording runs.
"""

from dataclasses import dataclass
from enum import StrEnum

from recollect.kernel.ids import ConversationId

HOPS_MAX = 3
LEFTOVER_SECONDS = 30 * 60


@dataclass(frozen=True, slots=True)
class RecordingTiming:
    """Times in seconds: the lifetime of a location, the interval of its renewal, and how long a
    cancel waits. By default one renewal may fail before the location expires."""

    lifetime: float = 10
    renewal: float = 5
    cancel: float = 30


@dataclass(frozen=True, slots=True)
class StreamQuota:
    """The most that a node may have (`of_all`), and the most of one user (`of_one`)."""

    of_all: int
    of_one: int


@dataclass(frozen=True, slots=True)
class RecorderLimits:
    """`recordings` limits running recordings, and separately those that ended and are kept."""

    recordings: StreamQuota = StreamQuota(1_000, 100)
    replays: StreamQuota = StreamQuota(5_000, 200)


@dataclass(frozen=True, slots=True)
class RecordingLocation:
    """The node that has a recording, and the recording's id."""

    address: str
    recording_id: str

    def __str__(self) -> str:
        return f"{self.recording_id}@{self.address}"

    @classmethod
    def parse(cls, text: str) -> "RecordingLocation | None":
        """The inverse of `str`; None for a malformed text."""
        recording_id, at, address = text.partition("@")
        return cls(address, recording_id) if at and recording_id and address else None


def location_key(conversation_id: ConversationId) -> str:
    """The key of the conversation's running recording."""
    return f"response:{conversation_id}"


def ended_key(conversation_id: ConversationId, recording_id: str) -> str:
    """The key of a recording that ended and is kept for readers who reconnect.

    The recording's id comes from the caller. The conversation, for which access was checked, is
    part of the key; so an id of another conversation's recording finds nothing.
    """
    return f"response-tail:{conversation_id}:{recording_id}"


class RecordingStatus(StrEnum):
    """How a recording ended. `forbidden`: its writer lost the right to record, or the reader who
    is told lost the right to read. `interrupted`: everything else that came before the end, such
    as a broken connection or a node that stops."""

    COMPLETED = "completed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"
    FORBIDDEN = "forbidden"


@dataclass(frozen=True, slots=True)
class ReplayCursor:
    """A position in a recording: how far a reader has come. It is the id of an SSE event."""

    recording_id: str
    offset: int = 0

    def __str__(self) -> str:
        return f"{self.recording_id}.{self.offset}"

    @classmethod
    def parse(cls, text: str) -> "ReplayCursor | None":
        """The inverse of `str`; None for anything else."""
        recording_id, dot, digits = text.rpartition(".")
        if not dot or not recording_id or not (digits.isascii() and digits.isdigit()):
            return None
        return cls(recording_id, int(digits)) if len(digits) <= 18 else None


@dataclass(frozen=True, slots=True)
class RecordingChunk:
    """Some text of a recording, and the position after it. Without text it is a keep-alive."""

    text: str
    place: ReplayCursor


@dataclass(frozen=True, slots=True)
class RecordingEnd:
    """What comes after the last chunk."""

    status: RecordingStatus


ReplayItem = RecordingChunk | RecordingEnd
