"""The model of a memory: its fields, their limits, and the text that a record or a list of messages
is searched by.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import chain
from typing import Any, NewType

from recollect.domain import jsontext
from recollect.domain.agents import AgentId
from recollect.domain.spaces import ChatId, OrgId, RunId, Space

MemoryId = NewType("MemoryId", str)

ID_CHARS_MAX = 128
CONTENT_CHARS_MAX = 100_000
KEY_CHARS_MAX = 255
VALUE_BYTES_MAX = 256 * 1024
VALUE_DEPTH_MAX = 32
NAME_CHARS_MAX = 255
SUBJECTS_MAX = 50
TAGS_MAX = 50
TAG_CHARS_MAX = 100
SOURCES_MAX = 1_000
MESSAGES_MAX = 1_000
MESSAGES_BYTES_MAX = 1024 * 1024
OBSERVED_AHEAD_MAX = timedelta(minutes=5)

_ID = re.compile("[A-Za-z0-9._:-]+")
_NAME_SEPARATORS = str.maketrans("_-", "  ")


class MemoryKind(StrEnum):
    """A statement is a text, a record is a key with a JSON object."""

    STATEMENT = "statement"
    RECORD = "record"


class MemoryType(StrEnum):
    """What sort of fact it is. The last four have a default TTL."""

    PREFERENCE = "preference"
    IDENTITY = "identity"
    RELATIONSHIP = "relationship"
    KNOWLEDGE = "knowledge"
    CONTEXT = "context"
    EVENT = "event"
    TASK = "task"
    OBSERVATION = "observation"


class Sensitivity(StrEnum):
    """How private it is, from the least to the most."""

    PUBLIC = "public"
    PERSONAL = "personal"
    SENSITIVE = "sensitive"

    @property
    def rank(self) -> int:
        """Higher is stricter."""
        return list(Sensitivity).index(self)


class TrustLevel(StrEnum):
    """How reliable it is, from the least to the most."""

    HEARSAY = "hearsay"
    UNKNOWN = "unknown"
    FACT = "fact"


class MemoryOrigin(StrEnum):
    """Whether it was learned in a chat, written outside of any, or imported without that fact."""

    CHAT = "chat"
    DIRECT = "direct"
    UNKNOWN = "unknown"


class MemorySource(StrEnum):
    """The surface or process that wrote it."""

    API = "api"
    MCP = "mcp"
    CLI = "cli"
    CONSOLE = "console"
    RUNNER = "runner"
    EXTRACTION = "extraction"
    IMPORT = "import"


class MemoryStatus(StrEnum):
    """The stored status. Readers see an expired row as `expired` whatever is stored: see
    `expiry.status_at`."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"
    ARCHIVED = "archived"
    QUARANTINED = "quarantined"


class ArchiveReason(StrEnum):
    """Why a memory was archived."""

    EVICTED = "evicted"
    AGENT_REMOVED = "agent_removed"
    ROLLED_BACK = "rolled_back"


class MessageRole(StrEnum):
    """The role of a message's author."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class MemoryMessage:
    """One message of a list that was sent as a memory."""

    role: MessageRole
    content: str
    name: str | None = None
    user_id: str | None = None
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """A memory as it is stored.

    `group_id`, `visibility` and `scope` follow from the space. `explicit_expires_at` is what the
    caller asked for: every later write computes the expiry from it again. `approved_expires_at` is
    how far past its cap an approval lets it live. Neither is shown.
    """

    id: MemoryId
    kind: MemoryKind
    content: str
    space: Space
    created_at: datetime
    updated_at: datetime
    observed_at: datetime
    key: str | None = None
    value: dict[str, Any] | None = None
    messages: tuple[MemoryMessage, ...] = ()
    agent_id: AgentId | None = None
    org_id: OrgId | None = None
    type: MemoryType = MemoryType.KNOWLEDGE
    sensitivity: Sensitivity = Sensitivity.PUBLIC
    portable: bool = True
    subjects: tuple[str, ...] = ()
    stated_by: str | None = None
    learned_in: ChatId | None = None
    origin: MemoryOrigin = MemoryOrigin.DIRECT
    confidence: float | None = 1.0
    verified: bool = True
    trust: TrustLevel = TrustLevel.UNKNOWN
    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)
    pii_tags: tuple[str, ...] = ()
    retention_policy: str | None = None
    expires_at: datetime | None = None
    expiry_rule: str = "never"
    requested_expires_at: datetime | None = None
    explicit_expires_at: datetime | None = None
    approved_expires_at: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    retracted_at: datetime | None = None
    supersedes: tuple[MemoryId, ...] = ()
    superseded_by: MemoryId | None = None
    conflicts_with: tuple[MemoryId, ...] = ()
    repeats: int = 0
    version: int = 1
    source: MemorySource = MemorySource.API
    source_entries: tuple[str, ...] = ()
    source_memories: tuple[MemoryId, ...] = ()
    source_agent: AgentId | None = None
    run_id: RunId | None = None
    parent_run_id: RunId | None = None
    status: MemoryStatus = MemoryStatus.ACTIVE
    archive_reason: ArchiveReason | None = None


_LOCATION_FIELDS = {"space", "group_id", "visibility", "scope", "agent_id", "agent_slug", "org_id"}
_CREATION_FIELDS = {"run_id", "created_at", "observed_at", "stated_by", "learned_in"}
_ANNOTATION_FIELDS = {"type", "sensitivity", "portable", "subjects", "tags", "metadata", "pii_tags"}
_TIME_FIELDS = {"retention_policy", "ttl_seconds", "expires_at", "valid_from", "valid_until"}

# Both with their aliases on input.
IMMUTABLE_FIELDS = frozenset(
    {"id", "memory_id", "kind", "key"} | _LOCATION_FIELDS | _CREATION_FIELDS
)
# `version` is the one that the caller expects, for optimistic locking.
PATCH_FIELDS: Mapping[MemoryKind, frozenset[str]] = {
    MemoryKind.STATEMENT: frozenset({"content", "version"} | _ANNOTATION_FIELDS | _TIME_FIELDS),
    MemoryKind.RECORD: frozenset({"value", "version"} | _ANNOTATION_FIELDS | _TIME_FIELDS),
}


def render_record(key: str, value: Mapping[str, Any]) -> str:
    """The searchable text of a record: key, field names and scalar values in document order, cut at
    the limit of a content."""
    parts: list[str] = []
    room = CONTENT_CHARS_MAX
    for part in filter(None, chain([key], _record_words(value))):
        parts.append(part[:room])
        room -= len(part) + 1
        if room <= 0:
            break
    return " ".join(parts)


def _record_words(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, member in value.items():
            yield name.translate(_NAME_SEPARATORS).strip()
            yield from _record_words(member)
    elif isinstance(value, list):
        for item in value:
            yield from _record_words(item)
    else:
        yield value if isinstance(value, str) else jsontext.dump(value)


def render_messages(items: Iterable[MemoryMessage]) -> str:
    """One line `role: content` for each item; line breaks inside become spaces."""
    return "\n".join(f"{item.role}: {' '.join(item.content.splitlines())}" for item in items)
