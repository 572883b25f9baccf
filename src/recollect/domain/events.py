"""One line of the audit log: ids and tags, never titles, contents or query texts."""

import base64
import json
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from recollect.domain.ids import parse_uuid
from recollect.domain.pages import unknown_cursor

JUSTIFICATION_CHARS_MAX = 1_000
KEY_MASK = "***"
_STREAM = "event stream"
_POSITION_MAX = 2**63 - 1


class EventKind(StrEnum):
    """What family of thing happened."""

    ADMIN_READ = "admin_read"
    ADMIN_WRITE = "admin_write"
    MEMBERSHIP = "membership"
    TRANSFER = "transfer"
    CONVERSATION = "conversation"
    MEMORY = "memory"
    EXTRACTION = "extraction"
    AGENT = "agent"
    PERSON = "person"
    CHAT = "chat"
    RUN = "run"
    APPROVAL = "approval"
    ERASE = "erase"
    IMPORT = "import"
    EXPORT = "export"
    ALERT = "alert"


class Outcome(StrEnum):
    """Whether it was let through."""

    ALLOWED = "allowed"
    DENIED = "denied"


class EventLevel(StrEnum):
    """How much an operator should care."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Event:
    """Who did what to whom. Levels are words; `params` holds ids, flags and tags only."""

    id: str
    at: datetime
    kind: EventKind
    action: str
    outcome: Outcome = Outcome.ALLOWED
    actor_user_id: str | None = None
    actor_client_id: str | None = None
    role: str | None = None
    conversation_id: str | None = None
    target_user_id: str | None = None
    from_level: str | None = None
    to_level: str | None = None
    transfer_id: str | None = None
    params: dict[str, Any] = field(default_factory=dict)
    count: int | None = None
    justification: str | None = None
    memory_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None
    space_kind: str | None = None
    space_id: str | None = None

    @property
    def event_type(self) -> str:
        """Both halves in one word, such as `memory.write`."""
        return f"{self.kind}.{self.action}"

    @property
    def named(self) -> dict[str, str]:
        """The ids of what it tells of, where there are any."""
        ids = {"memory_id": self.memory_id, "agent_id": self.agent_id, "run_id": self.run_id}
        return {name: id_ for name, id_ in ids.items() if id_ is not None}

    @property
    def level(self) -> EventLevel:
        """How much an operator should care."""
        if self.kind is EventKind.ALERT or self.outcome is Outcome.DENIED:
            return EventLevel.WARNING
        return EventLevel.ERROR if self.action == "failed" else EventLevel.INFO

    @property
    def message(self) -> str:
        """One line of ids and the masked key: never content, values, names or queries."""
        told = [f"{name.removesuffix('_id')} {id_}" for name, id_ in self.named.items()]
        key = self.params.get("key")
        told += [f"key {masked_key(key)}"] if isinstance(key, str) else []
        told += ["denied"] if self.outcome is Outcome.DENIED else []
        return ", ".join([self.event_type, *told])


def masked_key(key: str | None) -> str | None:
    """A key that can be told from others of the same space, and not read."""
    return None if key is None else f"{key[:1]}{KEY_MASK}"


@dataclass(frozen=True, slots=True)
class EventPlace:
    """Where an event stands in the order in which events became visible."""

    position: int
    event_id: str


def encode_place(place: EventPlace) -> str:
    """An opaque cursor of a stream."""
    text = json.dumps([_STREAM, place.position, place.event_id], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode_place(cursor: str) -> EventPlace:
    """The inverse of `encode_place`; a cursor of a list or of nobody is refused."""
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        name, position, event_id = json.loads(
            base64.b64decode(padded, altchars=b"-_", validate=True)
        )
        place = EventPlace(position, parse_uuid(event_id) or "")
        genuine = type(position) is int and encode_place(place) == cursor and name == _STREAM
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise unknown_cursor() from None
    if not (genuine and place.event_id and 0 <= position <= _POSITION_MAX):
        raise unknown_cursor()
    return place


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Which events a reader asked for; None means any. `since` is inclusive, `until` exclusive."""

    kind: str | None = None
    action: str | None = None
    actor_user_id: str | None = None
    target_user_id: str | None = None
    conversation_id: str | None = None
    memory_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None
