"""The model of a memory: its fields, their limits, and the text that a record or a list of messages
is searched by.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import chain
from typing import Any

from recollect.kernel import strict_json
from recollect.kernel.ids import AgentId, ChatId, ConversationId, MemoryId, OrgId, PersonId, RunId
from recollect.kernel.owner import Owner
from recollect.kernel.retention_rules import MemoryScope
from recollect.kernel.space import Space, SpaceKind, Visibility
from recollect.kernel.validation import to_utc
from recollect.text.normal_form import FoldedText

ID_CHARS_MAX = 128
CONTENT_CHARS_MAX = 100_000
KEY_CHARS_MAX = 255
VALUE_BYTES_MAX = 256 * 1024
VALUE_DEPTH_MAX = 32
SUBJECTS_MAX = 50
TAGS_MAX = 50
TAG_CHARS_MAX = 100
SOURCES_MAX = 1_000
MESSAGES_MAX = 1_000
MESSAGES_BYTES_MAX = 1024 * 1024
OBSERVED_AHEAD_MAX = timedelta(minutes=5)

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
class PlainFields:
    """Fields that a caller sets and may change, stored as they were sent. No other rule needs them,
    so drafts, imports and merges of repeats copy them by name."""

    type: MemoryType = MemoryType.KNOWLEDGE
    valid_from: datetime | None = None
    valid_until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory(PlainFields):
    """A memory as it is stored.

    Where each field is stored and shown is in `fields.py`. `explicit_expires_at` is what the caller
    asked for: every later write computes the expiry from it again. `approved_expires_at` is how far
    past its cap an approval lets it live. Neither is shown.
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
    sensitivity: Sensitivity = Sensitivity.PUBLIC
    portable: bool = True
    subjects: tuple[str, ...] = ()
    stated_by: str | None = None
    learned_in: ChatId | None = None
    learned_in_conversation: ConversationId | None = None
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

    @property
    def group_id(self) -> str:
        """The name of the space in responses."""
        return self.space.group_id

    @property
    def visibility(self) -> Visibility | None:
        """Whether anyone may read the agent's space; None for other spaces."""
        return self.space.visibility

    @property
    def scope(self) -> MemoryScope:
        """The scope of the space."""
        return self.space.scope


_LOCATION_FIELDS = {"space", "group_id", "visibility", "scope", "agent_id", "agent_slug", "org_id"}
_ORIGIN_FIELDS = {"observed_at", "stated_by", "learned_in", "learned_in_conversation"}
_CREATION_FIELDS = {"run_id", "created_at"} | _ORIGIN_FIELDS
_PLAIN_FIELDS = {one.name for one in fields(PlainFields)}
_ANNOTATION_FIELDS = {"sensitivity", "portable", "subjects", "tags", "metadata", "pii_tags"}
_EXPIRY_FIELDS = {"retention_policy", "ttl_seconds", "expires_at"}

# Both with their aliases on input.
IMMUTABLE_FIELDS = frozenset(
    {"id", "memory_id", "kind", "key"} | _LOCATION_FIELDS | _CREATION_FIELDS
)
# `version` is the one that the caller expects, for optimistic locking.
_PATCH_FIELDS = {"version"} | _PLAIN_FIELDS | _ANNOTATION_FIELDS | _EXPIRY_FIELDS
PATCH_FIELDS: Mapping[MemoryKind, frozenset[str]] = {
    MemoryKind.STATEMENT: frozenset({"content"} | _PATCH_FIELDS),
    MemoryKind.RECORD: frozenset({"value"} | _PATCH_FIELDS),
}


def render_record(key: str, value: Mapping[str, Any]) -> str:
    """The searchable text of a record: key, field names and scalar values in document order, cut at
    the limit of a content."""
    parts: list[str] = []
    room = CONTENT_CHARS_MAX
    for part in filter(None, chain([key], record_words(value))):
        parts.append(part[:room])
        room -= len(part) + 1
        if room <= 0:
            break
    return " ".join(parts)


def record_words(value: Any) -> Iterator[str]:
    """Field names and scalar values of a JSON value, in document order."""
    if isinstance(value, Mapping):
        for name, member in value.items():
            yield name.translate(_NAME_SEPARATORS).strip()
            yield from record_words(member)
    elif isinstance(value, list):
        for item in value:
            yield from record_words(item)
    else:
        yield value if isinstance(value, str) else strict_json.dump(value)


def render_messages(items: Iterable[MemoryMessage]) -> str:
    """One line `role: content` for each item; line breaks inside become spaces."""
    return "\n".join(f"{item.role}: {' '.join(item.content.splitlines())}" for item in items)


def effective_status(
    now: datetime, status: MemoryStatus, expires_at: datetime | None
) -> MemoryStatus:
    """The status that readers see: `expired` once the expiry has passed, whatever is stored."""
    return MemoryStatus.EXPIRED if is_expired(now, expires_at) else status


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanupRow:
    """The columns that cleanup decides by. `doc` is the row's number, which is never reused."""

    doc: int
    id: MemoryId
    version: int
    space: Space
    kind: MemoryKind
    type: MemoryType
    trust: TrustLevel
    status: MemoryStatus
    status_at: datetime
    created_at: datetime
    updated_at: datetime
    used_at: datetime | None
    expires_at: datetime | None
    expiry_rule: str
    retention_policy: str | None
    pii_tags: tuple[str, ...]
    compacted_at: datetime | None

    @property
    def last_used_at(self) -> datetime:
        """When the row was last returned to a caller, or changed."""
        return max(self.used_at or self.updated_at, self.updated_at)


class VersionChange(StrEnum):
    """The change that made a version."""

    CREATED = "created"
    UPDATED = "updated"
    SUPERSEDED = "superseded"
    REMOVED = "removed"
    COMPACTED = "compacted"


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """A memory with the columns beside it that are never shown.

    `doc` numbers rows for the search index. `bare_names` are subjects that could not be resolved.
    `privacy_said`: a subject chose the privacy, so no rule makes it stricter. `folded` saves
    folding the text again; it is ignored if it is of another text than the memory's. `unreadable`:
    texts of the memory could not be decrypted and are empty, so that it can't be changed.
    """

    memory: Memory
    written_by: Owner
    doc: int = 0
    bare_names: tuple[str, ...] = ()
    status_at: datetime | None = None
    import_id: str | None = None
    privacy_said: bool = False
    suspicion: float = 0.0
    suspicion_reasons: tuple[str, ...] = ()
    used_at: datetime | None = None
    compacted_at: datetime | None = None
    erasure_id: str | None = None
    folded: FoldedText | None = field(default=None, compare=False)
    unreadable: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFilter:
    """Narrows the rows that a viewer can see. None and empty mean any.

    `spaces` None is every visible space; a space without an id is every space of its kind.
    `valid_at` (true in the world then) and `as_of` (recorded then) also match superseded rows.
    `statuses` replaces the default, active. `outside_user` excludes the space of one user.
    `told_in` matches portable memories and those learned in this chat; an empty text is no chat.
    """

    spaces: tuple[tuple[SpaceKind, str | None], ...] | None = None
    agent_id: AgentId | None = None
    visibility: Visibility | None = None
    scope: MemoryScope | None = None
    run_id: RunId | None = None
    kind: MemoryKind | None = None
    key: str | None = None
    tags: tuple[str, ...] = ()
    types: tuple[MemoryType, ...] = ()
    subjects: tuple[PersonId, ...] = ()
    stated_by: PersonId | None = None
    sensitivity: Sensitivity | None = None
    statuses: tuple[MemoryStatus, ...] = (MemoryStatus.ACTIVE,)
    include_expired: bool = False
    created_after: datetime | None = None
    created_before: datetime | None = None
    valid_at: datetime | None = None
    as_of: datetime | None = None
    outside_user: str | None = None
    told_in: str | None = None


@dataclass(frozen=True, slots=True)
class MemoryVersion:
    """One version of a memory, current from `at` until `until`. `snapshot` holds the fields of an
    older version; it is None for the present one, whose fields are in the row, and where it could
    not be decrypted (`unreadable`)."""

    memory_id: MemoryId
    version: int
    change: VersionChange
    at: datetime
    until: datetime | None
    by: Owner
    status: MemoryStatus
    snapshot: Mapping[str, Any] | None = field(default=None)
    unreadable: bool = False


@dataclass(frozen=True, slots=True)
class ReadContext:
    """The context of a read: the chat of the request, and for whom an agent asks."""

    chat_id: ChatId | None = None
    asker_id: str | None = None


@dataclass(frozen=True, slots=True)
class MemoryReadResult:
    """A memory at an instant.

    `embedding` is set if a writer of the space asked for it, and empty while there is none. `rule`
    is the visibility rule that allowed the read, if the read is audited.
    """

    stored: StoredMemory
    now: datetime
    embedding: Sequence[float] | None = None
    rule: str = ""


def is_expired(now: datetime, expires_at: datetime | None) -> bool:
    """Reads hide the row from `expires_at` on, whether or not a job has deleted it."""
    return expires_at is not None and to_utc(now, "time") >= to_utc(expires_at, "time")
