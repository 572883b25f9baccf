"""Events of the audit log, and cursors into it. An event holds ids and tags, never titles, content
or query texts."""

import base64
import json
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from recollect.kernel.ids import parse_uuid
from recollect.kernel.pages import unknown_cursor_error

JUSTIFICATION_CHARS_MAX = 1_000


def none_if_blank(justification: str) -> str | None:
    """The justification itself; None if it has nothing but white space."""
    return justification if justification.strip() else None


KEY_MASK = "***"
_CURSOR_NAME = "event stream"
_POSITION_MAX = 2**63 - 1


class EventKind(StrEnum):
    """The subject of an event: the part of its type before the dot."""

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


class AuditOutcome(StrEnum):
    """Whether the call was allowed."""

    ALLOWED = "allowed"
    DENIED = "denied"


class EventLevel(StrEnum):
    """How much attention an event needs from an operator."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Event:
    """Who did what to whom. `from_level` and `to_level` are names of levels; `params` holds ids,
    flags, counts and tags only."""

    id: str
    at: datetime
    kind: EventKind
    action: str
    outcome: AuditOutcome = AuditOutcome.ALLOWED
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
        """Kind and action, such as `memory.write`."""
        return f"{self.kind}.{self.action}"

    @property
    def related_ids(self) -> dict[str, str]:
        """The ids of the memory, agent and run of the event, as far as it has them."""
        ids = {"memory_id": self.memory_id, "agent_id": self.agent_id, "run_id": self.run_id}
        return {name: id_ for name, id_ in ids.items() if id_ is not None}

    @property
    def details(self) -> dict[str, Any] | None:
        """The related ids and the parameters together; None if there are none."""
        return (self.related_ids | self.params) or None

    @property
    def level(self) -> EventLevel:
        """WARNING for alerts and denials, ERROR for failures, else INFO."""
        if self.kind is EventKind.ALERT or self.outcome is AuditOutcome.DENIED:
            return EventLevel.WARNING
        return EventLevel.ERROR if self.action == "failed" else EventLevel.INFO

    @property
    def message(self) -> str:
        """One line of ids and the masked key: never content, values, names or queries."""
        parts = [f"{name.removesuffix('_id')} {id_}" for name, id_ in self.related_ids.items()]
        key = self.params.get("key")
        parts += [f"key {mask_key(key)}"] if isinstance(key, str) else []
        parts += ["denied"] if self.outcome is AuditOutcome.DENIED else []
        return ", ".join([self.event_type, *parts])


def mask_key(key: str | None) -> str | None:
    """The first character of a key and a mask: enough to recognise it, too little to read it."""
    return None if key is None else f"{key[:1]}{KEY_MASK}"


@dataclass(frozen=True, slots=True)
class EventCursor:
    """The position of an event in commit order, which is the order of streams. Times and ids are
    made before the commit, so a slow transaction could commit an event that sorts before one
    already read (see ADR 0007). Several events of one transaction share a position on PostgreSQL;
    the id orders those."""

    position: int
    event_id: str


def encode_event_cursor(place: EventCursor) -> str:
    """The cursor as an opaque text, for the id of a server-sent event."""
    text = json.dumps([_CURSOR_NAME, place.position, place.event_id], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode_event_cursor(cursor: str) -> EventCursor:
    """The inverse of `encode_event_cursor`. Anything that it did not make is refused, also cursors
    of lists: the text must come out the same when it is encoded again."""
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        name, position, event_id = json.loads(
            base64.b64decode(padded, altchars=b"-_", validate=True)
        )
        place = EventCursor(position, parse_uuid(event_id) or "")
        # `type() is`, because True is an int too.
        genuine = (
            type(position) is int and encode_event_cursor(place) == cursor and name == _CURSOR_NAME
        )
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise unknown_cursor_error() from None
    if not (genuine and place.event_id and 0 <= position <= _POSITION_MAX):
        raise unknown_cursor_error()
    return place


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Filters for events; None means any. `since` is inclusive, `until` exclusive."""

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
