"""One line of the audit log: ids and tags, never titles, contents or query texts."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

JUSTIFICATION_CHARS_MAX = 1_000


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


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Which events a reader asked for; None means any. `since` is inclusive, `until` exclusive."""

    kind: str | None = None
    action: str | None = None
    actor_user_id: str | None = None
    target_user_id: str | None = None
    conversation_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None
