"""What the server answers with. Generated from the OpenAPI document: do not edit.

Fields that a newer server adds are kept and ignored by type checkers; words that it adds are
plain strings.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from recollect_client.answers import WithText


class Model(BaseModel):
    """Base of all answers. They can't be changed."""

    model_config = ConfigDict(frozen=True, extra="allow", populate_by_name=True, defer_build=True)


AccessLevel = Literal["manager", "owner", "reader", "writer"]

AliasKind = Literal["alias", "handle"]

ApiKeyState = Literal["active", "expired", "revoked"]

ApprovalStatus = Literal["approved", "denied", "expired", "pending"]

ArchiveReason = Literal["agent_removed", "evicted", "rolled_back"]

AskerRelation = Literal["no_subjects", "own", "present", "stated", "subject"]

BatchOperation = Literal["create", "delete", "update"]

Channel = Literal["history", "memory"]

ChatKind = Literal["group", "private"]

DisclosureContext = Literal["direct", "group", "private"]

DoctorCheckName = Literal[
    "clock",
    "conflicts",
    "critical_pii_in_public",
    "duplicate_people",
    "expiry_over_cap",
    "index_rows",
    "merge_chains",
    "missing_vectors",
    "near_duplicates",
    "open_space_content",
    "orphan_edges",
    "orphan_index",
    "orphan_people",
    "policy_mismatch",
    "secrets",
    "stuck_jobs",
    "supersession_cycles",
    "unknown_agent",
    "unknown_origin",
    "untagged_pii",
]

DuplicateReason = Literal["alias", "handle", "name"]

EntityKind = Literal["organisation", "person", "place", "project", "thing"]

EntryOrder = Literal["asc", "desc"]

EntrySearchComponent = Literal["embedding", "fulltext", "vectors"]

EntrySearchType = Literal["auto", "fulltext", "semantic"]

EpochWord = Literal["all", "latest"]

ErasureRole = Literal["admin", "person"]

ErasureStatus = Literal["done", "incomplete", "planned", "running"]

EventKind = Literal[
    "admin_read",
    "admin_write",
    "agent",
    "alert",
    "approval",
    "chat",
    "conversation",
    "erase",
    "export",
    "extraction",
    "import",
    "membership",
    "memory",
    "person",
    "run",
    "transfer",
]

EventOutcome = Literal["allowed", "denied"]

EvictedResource = Literal["conversations"]

FindingStage = Literal["fulltext", "graph", "person", "recency", "time", "vector"]

ForkFilter = Literal["all", "none"]

ImportMode = Literal["fail", "merge", "replace"]

IncludedField = Literal["embedding"]

ListMode = Literal["all", "latest-fork", "roots"]

MemoriesOfRemovedAgent = Literal["archive", "delete", "refuse"]

MemoryKind = Literal["record", "statement"]

MemoryOrigin = Literal["chat", "direct", "unknown"]

MemoryScope = Literal["long_term", "org", "session"]

MemorySearchComponent = Literal[
    "embedding", "fulltext", "graph", "rerank", "vectors", "vectors_pending"
]

MemorySource = Literal["api", "cli", "console", "extraction", "import", "mcp", "runner"]

MemoryStatus = Literal["active", "archived", "expired", "quarantined", "superseded"]

MemoryStatusFilter = Literal["active", "all", "archived", "expired", "quarantined", "superseded"]

MemoryType = Literal[
    "context", "event", "identity", "knowledge", "observation", "preference", "relationship", "task"
]

MessageRole = Literal["assistant", "system", "tool", "user"]

OnConflict = Literal["keep", "refuse", "supersede"]

ParticipantKind = Literal["agent", "person", "user"]

PiiTag = Literal[
    "address",
    "biometric",
    "credit_card",
    "email",
    "financial",
    "health",
    "ip_address",
    "name",
    "phone",
    "ssn",
]

RecallFormat = Literal["items", "text"]

RecordOutcomeStatus = Literal["cancelled", "success"]

RunEnding = Literal["cancelled", "failed", "succeeded"]

RunStatus = Literal["cancelled", "failed", "running", "succeeded"]

Sensitivity = Literal["personal", "public", "sensitive"]

Severity = Literal["error", "info", "warning"]

SourceKind = Literal["entry", "memory"]

SpaceKind = Literal["agent", "agent_private", "agent_public", "chat", "org", "run", "user"]

SpaceMode = Literal["dual", "single"]

SupersessionRelation = Literal["superseded_by", "supersedes"]

TrustLevel = Literal["fact", "hearsay", "unknown"]

VacuumScope = Literal["all", "long_term", "org", "session"]

VersionChange = Literal["compacted", "created", "removed", "superseded", "updated"]

Visibility = Literal["private", "public"]

WaitFor = Literal["extracted", "indexed"]

WriteStatus = Literal["created", "duplicate", "quarantined", "queued"]


class AdminConversation(Model):
    access_level: "AccessLevel | str" = Field(alias="accessLevel")
    created_at: datetime = Field(alias="createdAt")
    id: str
    owner_user_id: str = Field(alias="ownerUserId")
    updated_at: datetime = Field(alias="updatedAt")
    deleted_at: "datetime | None" = Field(default=None, alias="deletedAt")
    forked_at_conversation_id: "str | None" = Field(default=None, alias="forkedAtConversationId")
    forked_at_entry_id: "str | None" = Field(default=None, alias="forkedAtEntryId")
    last_message_preview: "str | None" = Field(default=None, alias="lastMessagePreview")
    metadata: "dict[str, Any] | None" = None
    title: "str | None" = None
    unreadable: "Literal[True] | str | None" = Field(
        default=None,
        description="What is stored could not be decrypted: the fields that come from it are empty or absent. Readable rows lack this field.",
    )


class AdminConversationSummary(Model):
    access_level: "AccessLevel | str" = Field(alias="accessLevel")
    created_at: datetime = Field(alias="createdAt")
    id: str
    owner_user_id: str = Field(alias="ownerUserId")
    updated_at: datetime = Field(alias="updatedAt")
    deleted_at: "datetime | None" = Field(default=None, alias="deletedAt")
    last_message_preview: "str | None" = Field(default=None, alias="lastMessagePreview")
    metadata: "dict[str, Any] | None" = None
    title: "str | None" = None
    unreadable: "Literal[True] | str | None" = Field(
        default=None,
        description="What is stored could not be decrypted: the fields that come from it are empty or absent. Readable rows lack this field.",
    )


class AdminConversationSummaryList(Model):
    data: "list[AdminConversationSummary]"
    after_cursor: "str | None" = Field(
        default=None, alias="afterCursor", description="`nextCursor` again, for who asked with it."
    )
    next_cursor: "str | None" = Field(default=None, alias="nextCursor")

    def __iter__(self) -> "Iterator[AdminConversationSummary]":  # type: ignore[override]
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> "AdminConversationSummary":
        return self.data[place]


class AdminEntry(WithText, Model):
    channel: "Channel | str"
    content: "list[Any]"
    content_type: str = Field(alias="contentType")
    conversation_id: str = Field(alias="conversationId")
    created_at: datetime = Field(alias="createdAt")
    id: str
    client_id: "str | None" = Field(default=None, alias="clientId")
    epoch: "int | None" = None
    removed: "bool | None" = None
    unreadable: "Literal[True] | str | None" = Field(
        default=None,
        description="What is stored could not be decrypted: the fields that come from it are empty or absent. Readable rows lack this field.",
    )
    user_id: "str | None" = Field(default=None, alias="userId")


class AdminEntryPage(Model):
    data: "list[AdminEntry]"
    next_cursor: "str | None" = Field(alias="nextCursor")
    after_cursor: "str | None" = Field(
        default=None, alias="afterCursor", description="`nextCursor` again, for who asked with it."
    )

    def __iter__(self) -> "Iterator[AdminEntry]":  # type: ignore[override]
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> "AdminEntry":
        return self.data[place]


class AdminSearchResult(Model):
    conversation_id: str = Field(alias="conversationId")
    entry_id: str = Field(alias="entryId")
    score: float
    conversation_title: "str | None" = Field(default=None, alias="conversationTitle")
    entry: "AdminEntry | None" = None
    highlights: "str | None" = None
    unreadable: "Literal[True] | str | None" = Field(
        default=None,
        description="What is stored could not be decrypted: the fields that come from it are empty or absent. Readable rows lack this field.",
    )


class AdminSearchResultPage(Model):
    data: "list[AdminSearchResult]"
    next_cursor: "str | None" = Field(alias="nextCursor")
    after_cursor: "str | None" = Field(
        default=None, alias="afterCursor", description="`nextCursor` again, for who asked with it."
    )
    degraded: "list[EntrySearchComponent | str] | None" = Field(
        default=None, description="Stages that failed."
    )

    def __iter__(self) -> "Iterator[AdminSearchResult]":  # type: ignore[override]
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> "AdminSearchResult":
        return self.data[place]


class Agent(Model):
    created_at: datetime
    created_by: str = Field(description="A user id, or `agent:` and the id of an agent.")
    description: "str | None"
    id: str
    metadata: "dict[str, Any]"
    name: "str | None"
    org_id: str
    owner_id: str = Field(description="A user id, or `agent:` and the id of an agent.")
    space_mode: "SpaceMode | str | None"
    updated_at: datetime


class AgentPage(Model):
    data: "list[Agent]"
    next_cursor: "str | None"

    def __iter__(self) -> "Iterator[Agent]":  # type: ignore[override]
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> "Agent":
        return self.data[place]


class Alias(Model):
    added_by: str = Field(description="A user id, or `agent:` and the id of an agent.")
    created_at: datetime
    kind: "AliasKind | str"
    provider: "str | None"
    value: str


class AliasBody(Model):
    """Another name, or a handle at a provider."""

    value: str
    kind: "AliasKind | str | None" = None
    provider: "str | None" = None


class ApiKey(Model):
    client_id: str = Field(alias="clientId")
    created_at: datetime = Field(alias="createdAt")
    id: str
    state: "ApiKeyState | str"
    created_by: "str | None" = Field(default=None, alias="createdBy")
    expires_at: "datetime | None" = Field(default=None, alias="expiresAt")
    name: "str | None" = None
    revoked_at: "datetime | None" = Field(default=None, alias="revokedAt")


class ApiKeyPage(Model):
    data: "list[ApiKey]"
    next_cursor: "str | None" = Field(alias="nextCursor")
    after_cursor: "str | None" = Field(
        default=None, alias="afterCursor", description="`nextCursor` again, for who asked with it."
    )

    def __iter__(self) -> "Iterator[ApiKey]":  # type: ignore[override]
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> "ApiKey":
        return self.data[place]


class Approval(Model):
    decided_at: "datetime | None"
    decided_by: "str | None"
    id: str
    memory_id: str
    requested_by: str = Field(description="A user id, or `agent:` and the id of an agent.")
    requested_expires_at: "datetime | None"
    status: "ApprovalStatus | str"
    valid_until: datetime


class ApprovalPage(Model):
    data: "list[Approval]"
    next_cursor: "str | None"

    def __iter__(self) -> "Iterator[Approval]":  # type: ignore[override]
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> "Approval":
        return self.data[place]


class BackupRules(Model):
    before_vacuum: bool
    format: str
    keep_days: int


class BatchError(Model):
    code: str
    details: "dict[str, Any]"
    error: str


class BatchItem(Model):
    op: "BatchOperation | str"
    id: "str | None" = None
    version: "int | None" = None


class BatchResult(Model):
    index: int
    status: int
    error: "BatchError | None" = None
    id: "str | None" = None
    warnings: "list[WriteWarning] | None" = None


class BatchResults(Model):
    results: "list[BatchResult]"


class CardRelationship(Model):
    created_at: datetime
    relationship: str
    stated_by: "str | None"
    to_person_id: "str | None"


class Chat(Model):
    created_at: datetime
    created_by: str = Field(description="A user id, or `agent:` and the id of an agent.")
    id: str
    kind: "ChatKind | str"
    provider: "str | None"
    title: "str | None"
    tree: bool
    unreadable: "Literal[True] | str | None" = Field(
        default=None,
        description="What is stored could not be decrypted: the fields that come from it are empty or absent. Readable rows lack this field.",
    )


class ChatPage(Model):
    data: "list[Chat]"
    next_cursor: "str | None"

    def __iter__(self) -> "Iterator[Chat]":  # type: ignore[override]
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> "Chat":
        return self.data[place]


class Conversation(Model):
    access_level: "AccessLevel | str" = Field(alias="accessLevel")
    created_at: datetime = Field(alias="createdAt")
    id: str
    owner_user_id: str = Field(alias="ownerUserId")
    updated_at: datetime = Field(alias="updatedAt")
    forked_at_conversation_id: "str | None" = Field(default=None, alias="forkedAtConversationId")
    forked_at_entry_id: "str | None" = Field(default=None, alias="forkedAtEntryId")
    last_message_preview: "str | None" = Field(default=None, alias="lastMessagePreview")
    metadata: "dict[str, Any] | None" = None
    title: "str | None" = None
    unreadable: "Literal[True] | str | None" = Field(
        default=None,
        description="What is stored could not be decrypted: the fields that come from it are empty or absent. Readable rows lack this field.",
    )


class ConversationSummary(Model):
    access_level: "AccessLevel | str" = Field(alias="accessLevel")
    created_at: datetime = Field(alias="createdAt")
    id: str
    owner_user_id: str = Field(alias="ownerUserId")
    updated_at: datetime = Field(alias="updatedAt")
    last_message_preview: "str | None" = Field(default=None, alias="lastMessagePreview")
    metadata: "dict[str, Any] | None" = None
    title: "str | None" = None
    unreadable: "Literal[True] | str | None" = Field(
        default=None,
        description="What is stored could not be decrypted: the fields that come from it are empty or absent. Readable rows lack this field.",
    )


class ConversationSummaryPage(Model):
    data: "list[ConversationSummary]"
    next_cursor: "str | None" = Field(alias="nextCursor")
    after_cursor: "str | None" = Field(
        default=None, alias="afterCursor", description="`nextCursor` again, for who asked with it."
    )

    def __iter__(self) -> "Iterator[ConversationSummary]":  # type: ignore[override]
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> "ConversationSummary":
        return self.data[place]


class DoctorFinding(Model):
    count: int
    name: "DoctorCheckName | str"
    repairable: bool
    repaired: int
    sample_ids: list[str]
    severity: "Severity | str"


class DoctorReport(Model):
    checks: "list[DoctorFinding]"
    ok: bool


class Document(Model):
    pass


class Duplicates(Model):
    people: "list[Person]"
    reason: "DuplicateReason | str"


class DuplicatesPage(Model):
    data: "list[Duplicates]"
    next_cursor: "str | None"

    def __iter__(self) -> "Iterator[Duplicates]":  # type: ignore[override]
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> "Duplicates":
        return self.data[place]


class Entity(Model):
    id: str
    kind: "EntityKind | str"
    name: "str | None"
    space: "Space | None"
    unreadable: "Literal[True] | str | None" = Field(
        default=None,
        description="What is stored could not be decrypted: the fields that come from it are empty or absent. Readable rows lack this field.",
    )


class EntityPage(Model):
    data: "list[Entity]"
    next_cursor: "str | None"

    def __iter__(self) -> "Iterator[Entity]":  # type: ignore[override]
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> "Entity":
        return self.data[place]


class Entry(WithText, Model):
    channel: "Channel | str"
    content: "list[Any]"
    content_type: str = Field(alias="contentType")
    conversation_id: str = Field(alias="conversationId")
    created_at: datetime = Field(alias="createdAt")
    id: str
    epoch: "int | None" = None
    removed: "bool | None" = None
    unreadable: "Literal[True] | str | None" = Field(
        default=None,
        description="What is stored could not be decrypted: the fields that come from it are empty or absent. Readable rows lack this field.",
    )
    user_id: "str | None" = Field(default=None, alias="userId")


class EntryPage(Model):
    data: "list[Entry]"
    next_cursor: "str | None" = Field(alias="nextCursor")
    after_cursor: "str | None" = Field(
        default=None, alias="afterCursor", description="`nextCursor` again, for who asked with it."
    )

    def __iter__(self) -> "Iterator[Entry]":  # type: ignore[override]
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> "Entry":
        return self.data[place]


class EraseReport(Model):
    checks: "list[ErasureCheck]"
    counts: "dict[str, Any]"
    digest: str = Field(description="SHA-256 of the rest in canonical JSON.")
    dry_run: bool
    finished_at: "datetime | None"
    id: str
    joint: int
    not_covered: list[str]
    requested_by_role: "ErasureRole | str"
    signature: "str | None"
    started_at: datetime
    status: "ErasureStatus | str"


class ErasureCheck(Model):
    found: int
    probes: int
    store: str


class Event(Model):
    action: str
    at: datetime
    id: str
    kind: "EventKind | str"
    outcome: "EventOutcome | str"
    actor_client_id: "str | None" = Field(default=None, alias="actorClientId")
    actor_user_id: "str | None" = Field(default=None, alias="actorUserId")
    conversation_id: "str | None" = Field(default=None, alias="conversationId")
    count: "int | None" = None
    from_level: "AccessLevel | str | None" = Field(default=None, alias="fromLevel")
    justification: "str | None" = None
    params: "dict[str, Any] | None" = None
    role: "str | None" = None
    target_user_id: "str | None" = Field(default=None, alias="targetUserId")
    to_level: "AccessLevel | str | None" = Field(default=None, alias="toLevel")
    transfer_id: "str | None" = Field(default=None, alias="transferId")


class EventPage(Model):
    data: "list[Event]"
    next_cursor: "str | None" = Field(alias="nextCursor")
    after_cursor: "str | None" = Field(
        default=None, alias="afterCursor", description="`nextCursor` again, for who asked with it."
    )

    def __iter__(self) -> "Iterator[Event]":  # type: ignore[override]
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> "Event":
        return self.data[place]


class ExpireReport(Model):
    by_rule: "dict[str, Any]"
    deleted_count: int
    would_delete_count: int


class ExpiryPreview(Model):
    clamped: bool
    expires_at: "datetime | None"
    expiry_rule: str


class Explanation(Model):
    allowed: bool
    context: "DisclosureContext | str"
    expires_at: "datetime | None"
    expiry_rule: str
    memory_id: str
    origin: "MemoryOrigin | str"
    portable: bool
    relations: "list[AskerRelation | str]"
    rule: str
    sources: "list[ExplanationSource]"
    space: "Space"
    supersession: "list[SupersessionLink]"
    trust: "TrustLevel | str"
    score: "float | None" = None


class ExplanationSource(Model):
    id: str
    kind: "SourceKind | str"


class Fork(Model):
    conversation_id: str = Field(alias="conversationId")
    created_at: datetime = Field(alias="createdAt")
    forked_at_conversation_id: "str | None" = Field(default=None, alias="forkedAtConversationId")
    forked_at_entry_id: "str | None" = Field(default=None, alias="forkedAtEntryId")
    title: "str | None" = None
    unreadable: "Literal[True] | str | None" = Field(
        default=None,
        description="What is stored could not be decrypted: the fields that come from it are empty or absent. Readable rows lack this field.",
    )


class ForkList(Model):
    data: "list[Fork]"
    after_cursor: "str | None" = Field(
        default=None, alias="afterCursor", description="`nextCursor` again, for who asked with it."
    )
    next_cursor: "str | None" = Field(default=None, alias="nextCursor")

    def __iter__(self) -> "Iterator[Fork]":  # type: ignore[override]
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> "Fork":
        return self.data[place]


class GraphPath(Model):
    relations: "list[GraphRelation]"


class GraphRelation(Model):
    from_id: str
    id: str
    memory_id: str
    recorded_at: datetime
    relation: str
    retracted_at: "datetime | None"
    space: "Space"
    to_id: str
    valid_from: "datetime | None"
    valid_until: "datetime | None"


class Health(Model):
    status: "Literal['ok']"
    warnings: "list[str] | None" = None


class HealthReport(Model):
    database: str
    encryption: bool
    queue: "QueueReport"
    status: "Literal['ok']"
    version: str
    warnings: list[str]


class HistoryItem(Model):
    at: datetime
    by: "str | None"
    change: "VersionChange | str"
    depth: int
    memory_id: str
    superseded_by: "str | None"
    version: "int | None"
    content: "str | None" = None
    unreadable: "Literal[True] | str | None" = Field(
        default=None,
        description="What is stored could not be decrypted: the fields that come from it are empty or absent. Readable rows lack this field.",
    )
    value: "dict[str, Any] | None" = None


class HistoryItemPage(Model):
    data: "list[HistoryItem]"
    next_cursor: "str | None"

    def __iter__(self) -> "Iterator[HistoryItem]":  # type: ignore[override]
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> "HistoryItem":
        return self.data[place]


class ImportReport(Model):
    created: int
    import_id: "str | None"
    read: int
    refused: "list[RefusedLine]"
    skipped: int
    updated: int


class IndexItem(Model):
    """The text to be indexed for one entry."""

    conversation_id: str = Field(alias="conversationId")
    entry_id: str = Field(alias="entryId")
    indexed_content: str = Field(alias="indexedContent")


class IndexOutcome(Model):
    indexed: int


class Membership(Model):
    access_level: "AccessLevel | str" = Field(alias="accessLevel")
    conversation_id: str = Field(alias="conversationId")
    created_at: datetime = Field(alias="createdAt")
    user_id: str = Field(alias="userId")


class MembershipList(Model):
    data: "list[Membership]"
    after_cursor: "str | None" = Field(
        default=None, alias="afterCursor", description="`nextCursor` again, for who asked with it."
    )
    next_cursor: "str | None" = Field(default=None, alias="nextCursor")

    def __iter__(self) -> "Iterator[Membership]":  # type: ignore[override]
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> "Membership":
        return self.data[place]


class Memory(Model):
    agent_id: "str | None"
    archive_reason: "ArchiveReason | str | None"
    confidence: "float | None"
    conflicts_with: list[str]
    content: str
    created_at: datetime
    expires_at: "datetime | None"
    expiry_rule: str
    group_id: str
    id: str
    key: "str | None"
    kind: "MemoryKind | str"
    learned_in: "str | None"
    learned_in_conversation: "str | None"
    metadata: "dict[str, Any]"
    observed_at: datetime
    org_id: "str | None"
    origin: "MemoryOrigin | str"
    parent_run_id: "str | None"
    pii_tags: list[str]
    portable: bool
    repeats: int
    requested_expires_at: "datetime | None"
    retention_policy: "str | None"
    retracted_at: "datetime | None"
    run_id: "str | None"
    scope: "MemoryScope | str"
    sensitivity: "Sensitivity | str"
    source: "MemorySource | str"
    source_agent: "str | None"
    source_entries: list[str]
    source_memories: list[str]
    space: "Space"
    stated_by: "str | None"
    status: "MemoryStatus | str"
    subjects: list[str]
    superseded_by: "str | None"
    supersedes: list[str]
    tags: list[str]
    trust: "TrustLevel | str"
    type: "MemoryType | str"
    updated_at: datetime
    valid_from: "datetime | None"
    valid_until: "datetime | None"
    value: "dict[str, Any] | None"
    verified: bool
    version: int
    visibility: "Visibility | str | None"
    embedding: "list[float] | None" = None
    unreadable: "Literal[True] | str | None" = Field(
        default=None,
        description="What is stored could not be decrypted: the fields that come from it are empty or absent. Readable rows lack this field.",
    )


class MemoryEvent(Model):
    agent_slug: "str | None"
    event_type: str
    id: str
    level: "Severity | str"
    message: str
    outcome: "EventOutcome | str"
    payload: "dict[str, Any]"
    requester_id: "str | None"
    run_id: "str | None"
    timestamp: datetime


class MemoryEventPage(Model):
    data: "list[MemoryEvent]"
    next_cursor: "str | None"

    def __iter__(self) -> "Iterator[MemoryEvent]":  # type: ignore[override]
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> "MemoryEvent":
        return self.data[place]


class MemoryHit(Model):
    agent_id: "str | None"
    archive_reason: "ArchiveReason | str | None"
    confidence: "float | None"
    conflicts_with: list[str]
    content: str
    created_at: datetime
    expires_at: "datetime | None"
    expiry_rule: str
    group_id: str
    id: str
    key: "str | None"
    kind: "MemoryKind | str"
    learned_in: "str | None"
    learned_in_conversation: "str | None"
    metadata: "dict[str, Any]"
    observed_at: datetime
    org_id: "str | None"
    origin: "MemoryOrigin | str"
    parent_run_id: "str | None"
    pii_tags: list[str]
    portable: bool
    repeats: int
    requested_expires_at: "datetime | None"
    retention_policy: "str | None"
    retracted_at: "datetime | None"
    run_id: "str | None"
    scope: "MemoryScope | str"
    score: float
    sensitivity: "Sensitivity | str"
    source: "MemorySource | str"
    source_agent: "str | None"
    source_entries: list[str]
    source_memories: list[str]
    space: "Space"
    stages: "list[FindingStage | str]"
    stated_by: "str | None"
    status: "MemoryStatus | str"
    subjects: list[str]
    superseded_by: "str | None"
    supersedes: list[str]
    tags: list[str]
    trust: "TrustLevel | str"
    type: "MemoryType | str"
    updated_at: datetime
    valid_from: "datetime | None"
    valid_until: "datetime | None"
    value: "dict[str, Any] | None"
    verified: bool
    version: int
    visibility: "Visibility | str | None"
    why: str
    unreadable: "Literal[True] | str | None" = Field(
        default=None,
        description="What is stored could not be decrypted: the fields that come from it are empty or absent. Readable rows lack this field.",
    )


class MemoryHits(Model):
    data: "list[MemoryHit]"
    degraded: "list[MemorySearchComponent | str]"
    next_cursor: "str | None"
    withheld: "int | None" = None

    def __iter__(self) -> "Iterator[MemoryHit]":  # type: ignore[override]
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> "MemoryHit":
        return self.data[place]


class MemoryPage(Model):
    data: "list[Memory]"
    next_cursor: "str | None"

    def __iter__(self) -> "Iterator[Memory]":  # type: ignore[override]
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> "Memory":
        return self.data[place]


class MergedPeople(Model):
    moved: dict[str, int]
    person: "Person"


class Message(Model):
    content: str
    role: "MessageRole | str"
    created_at: "datetime | None" = None
    name: "str | None" = None
    user_id: "str | None" = None


class Neighbourhood(Model):
    entities: "list[Entity]"
    entity: "Entity"
    relations: "list[GraphRelation]"
    truncated: bool


class NewApiKey(Model):
    client_id: str = Field(alias="clientId")
    created_at: datetime = Field(alias="createdAt")
    id: str
    key: str
    expires_at: "datetime | None" = Field(default=None, alias="expiresAt")
    name: "str | None" = None


class OwnershipTransfer(Model):
    conversation_id: str = Field(alias="conversationId")
    created_at: datetime = Field(alias="createdAt")
    from_user_id: str = Field(alias="fromUserId")
    id: str
    to_user_id: str = Field(alias="toUserId")
    conversation_title: "str | None" = Field(default=None, alias="conversationTitle")
    unreadable: "Literal[True] | str | None" = Field(
        default=None,
        description="What is stored could not be decrypted: the fields that come from it are empty or absent. Readable rows lack this field.",
    )


class OwnershipTransferList(Model):
    data: "list[OwnershipTransfer]"
    after_cursor: "str | None" = Field(
        default=None, alias="afterCursor", description="`nextCursor` again, for who asked with it."
    )
    next_cursor: "str | None" = Field(default=None, alias="nextCursor")

    def __iter__(self) -> "Iterator[OwnershipTransfer]":  # type: ignore[override]
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> "OwnershipTransfer":
        return self.data[place]


class Participant(Model):
    agent_id: "str | None"
    confirmed_at: "datetime | None"
    joined_at: datetime
    left_at: "datetime | None"
    person_id: "str | None"
    user_id: "str | None"


class ParticipantPage(Model):
    data: "list[Participant]"
    next_cursor: "str | None"

    def __iter__(self) -> "Iterator[Participant]":  # type: ignore[override]
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> "Participant":
        return self.data[place]


class Person(Model):
    aliases: "list[Alias]"
    created_at: datetime
    created_by: "str | None"
    id: str
    merged_into: "str | None"
    metadata: "dict[str, Any] | None"
    name: str
    relationships: "list[Relationship]"
    time_zone: "str | None"
    updated_at: datetime
    user_id: "str | None"


class PersonCard(Model):
    id: str
    name: str
    relationships: "list[CardRelationship]"


class PersonPage(Model):
    data: "list[Person]"
    next_cursor: "str | None"

    def __iter__(self) -> "Iterator[Person]":  # type: ignore[override]
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> "Person":
        return self.data[place]


class PiiRules(Model):
    retention_rules: "dict[str, Any]" = Field(description="By risk.")
    tags: "dict[str, Any]" = Field(
        description="By tag: address, biometric, credit_card, email, financial, health, ip_address, name, phone, ssn."
    )


class QuarantinedMemory(Model):
    agent_id: "str | None"
    archive_reason: "ArchiveReason | str | None"
    confidence: "float | None"
    conflicts_with: list[str]
    content: str
    created_at: datetime
    expires_at: "datetime | None"
    expiry_rule: str
    group_id: str
    id: str
    key: "str | None"
    kind: "MemoryKind | str"
    learned_in: "str | None"
    learned_in_conversation: "str | None"
    metadata: "dict[str, Any]"
    observed_at: datetime
    org_id: "str | None"
    origin: "MemoryOrigin | str"
    parent_run_id: "str | None"
    pii_tags: list[str]
    portable: bool
    reasons: list[str]
    repeats: int
    requested_expires_at: "datetime | None"
    retention_policy: "str | None"
    retracted_at: "datetime | None"
    run_id: "str | None"
    scope: "MemoryScope | str"
    score: float
    sensitivity: "Sensitivity | str"
    source: "MemorySource | str"
    source_agent: "str | None"
    source_entries: list[str]
    source_memories: list[str]
    space: "Space"
    stated_by: "str | None"
    status: "MemoryStatus | str"
    subjects: list[str]
    superseded_by: "str | None"
    supersedes: list[str]
    tags: list[str]
    trust: "TrustLevel | str"
    type: "MemoryType | str"
    updated_at: datetime
    valid_from: "datetime | None"
    valid_until: "datetime | None"
    value: "dict[str, Any] | None"
    verified: bool
    version: int
    visibility: "Visibility | str | None"


class QuarantinedMemoryPage(Model):
    data: "list[QuarantinedMemory]"
    next_cursor: "str | None"

    def __iter__(self) -> "Iterator[QuarantinedMemory]":  # type: ignore[override]
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> "QuarantinedMemory":
        return self.data[place]


class QueueReport(Model):
    depth: int
    oldest_due_at: "datetime | None" = Field(alias="oldestDueAt")
    stuck: int


class Recall(Model):
    context: "str | None"
    degraded: "list[MemorySearchComponent | str]"
    items: "list[MemoryHit]"
    omitted: int
    people: "list[PersonCard]"
    token_budget: int
    tokens: int


class RecordOutcome(Model):
    status: "RecordOutcomeStatus | str"


class RefusedLine(Model):
    code: str
    field: "str | None"
    line: int
    message: str


class Relationship(Model):
    created_at: datetime
    id: str
    relationship: str
    stated_by: str = Field(description="A user id, or `agent:` and the id of an agent.")
    to_person_id: "str | None"


class RelationshipBody(Model):
    """What the person is to another one; without that one, to the caller."""

    relationship: str
    to_person_id: "str | None" = None


class RemovedCounts(Model):
    critical_pii: int
    ephemeral: int
    session: int


class ResolvedName(Model):
    ambiguous: bool
    candidates: "list[Person]"
    person: "Person | None"


class RetentionPolicy(Model):
    name: str
    scopes: list[str]
    ttl_seconds: "int | None"
    until_run_completes: bool


class RetentionRules(Model):
    audit: "dict[str, Any]" = Field(description="When operators are alerted.")
    backup: "BackupRules"
    default_ttl: "dict[str, Any]" = Field(description="Seconds by scope.")
    pii: "PiiRules"
    policies: "list[RetentionPolicy]"
    profile: str
    vacuum: "VacuumRules"


class RollbackReport(Model):
    archived: int
    id: "str | None"
    ids: list[str]
    restored: int
    untouched: int


class Run(Model):
    agent_id: str
    completed_at: "datetime | None"
    id: str
    metadata: "dict[str, Any]"
    parent_run_id: "str | None"
    root_run_id: str
    started_at: datetime
    status: "RunStatus | str"


class RunCompletion(Model):
    removed: "RemovedCounts"
    run: "Run"


class RunLineage(Model):
    ancestors: "list[Run]"
    descendants: "list[Run]"


class RunPage(Model):
    data: "list[Run]"
    next_cursor: "str | None"

    def __iter__(self) -> "Iterator[Run]":  # type: ignore[override]
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> "Run":
        return self.data[place]


class SearchResult(Model):
    conversation_id: str = Field(alias="conversationId")
    entry_id: str = Field(alias="entryId")
    score: float
    conversation_title: "str | None" = Field(default=None, alias="conversationTitle")
    entry: "Entry | None" = None
    highlights: "str | None" = None
    unreadable: "Literal[True] | str | None" = Field(
        default=None,
        description="What is stored could not be decrypted: the fields that come from it are empty or absent. Readable rows lack this field.",
    )


class SearchResultPage(Model):
    data: "list[SearchResult]"
    next_cursor: "str | None" = Field(alias="nextCursor")
    after_cursor: "str | None" = Field(
        default=None, alias="afterCursor", description="`nextCursor` again, for who asked with it."
    )
    degraded: "list[EntrySearchComponent | str] | None" = Field(
        default=None, description="Stages that failed."
    )

    def __iter__(self) -> "Iterator[SearchResult]":  # type: ignore[override]
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> "SearchResult":
        return self.data[place]


class SourceBody(Model):
    """Where it came from: exactly one member."""

    agent_id: "str | None" = None
    chat_id: "str | None" = None
    conversation_id: "str | None" = None
    entry_id: "str | None" = None
    import_id: "str | None" = None
    memory_id: "str | None" = None
    run_id: "str | None" = None
    stated_by: "str | None" = None


class Space(Model):
    id: str
    kind: "SpaceKind | str"


class SpaceFilter(Model):
    kind: "SpaceKind | str"
    id: "str | None" = None


class SpaceWish(Model):
    """A space to write to. The id may be left out where it follows from the request."""

    kind: "SpaceKind | str"
    id: "str | None" = None


class SupersessionLink(Model):
    id: str
    relation: "SupersessionRelation | str"


class SyncOutcome(Model):
    entry: "Entry | None"
    epoch: "int | None"
    epoch_incremented: bool = Field(alias="epochIncremented")
    no_op: bool = Field(alias="noOp")


class TidyReport(Model):
    by_step: "dict[str, Any]"
    count: int


class UnindexedEntry(Model):
    conversation_id: str = Field(alias="conversationId")
    entry: "Entry"


class UnindexedEntryPage(Model):
    cursor: "str | None"
    data: "list[UnindexedEntry]"
    after_cursor: "str | None" = Field(
        default=None, alias="afterCursor", description="`cursor` again, for who asked with it."
    )

    def __iter__(self) -> "Iterator[UnindexedEntry]":  # type: ignore[override]
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> "UnindexedEntry":
        return self.data[place]


class VacuumReport(Model):
    backup: "str | None"
    cutoff: datetime
    deleted_count: int
    dry_run: bool
    older_than_days: int
    scope: "VacuumScope | str"
    skipped_count: int
    would_delete_count: int


class VacuumRules(Model):
    after_days: "dict[str, Any]" = Field(description="Days by scope.")
    enabled: bool
    grace_days: int
    interval_hours: int


class WriteResult(Model):
    group_id: str
    id: str
    memory: "Memory"
    status: "WriteStatus | str"
    warnings: "list[WriteWarning]"


class WriteWarning(Model):
    code: str
    message: str


__all__ = [
    "AccessLevel",
    "AdminConversation",
    "AdminConversationSummary",
    "AdminConversationSummaryList",
    "AdminEntry",
    "AdminEntryPage",
    "AdminSearchResult",
    "AdminSearchResultPage",
    "Agent",
    "AgentPage",
    "Alias",
    "AliasBody",
    "AliasKind",
    "ApiKey",
    "ApiKeyPage",
    "ApiKeyState",
    "Approval",
    "ApprovalPage",
    "ApprovalStatus",
    "ArchiveReason",
    "AskerRelation",
    "BackupRules",
    "BatchError",
    "BatchItem",
    "BatchOperation",
    "BatchResult",
    "BatchResults",
    "CardRelationship",
    "Channel",
    "Chat",
    "ChatKind",
    "ChatPage",
    "Conversation",
    "ConversationSummary",
    "ConversationSummaryPage",
    "DisclosureContext",
    "DoctorCheckName",
    "DoctorFinding",
    "DoctorReport",
    "Document",
    "DuplicateReason",
    "Duplicates",
    "DuplicatesPage",
    "Entity",
    "EntityKind",
    "EntityPage",
    "Entry",
    "EntryOrder",
    "EntryPage",
    "EntrySearchComponent",
    "EntrySearchType",
    "EpochWord",
    "EraseReport",
    "ErasureCheck",
    "ErasureRole",
    "ErasureStatus",
    "Event",
    "EventKind",
    "EventOutcome",
    "EventPage",
    "EvictedResource",
    "ExpireReport",
    "ExpiryPreview",
    "Explanation",
    "ExplanationSource",
    "FindingStage",
    "Fork",
    "ForkFilter",
    "ForkList",
    "GraphPath",
    "GraphRelation",
    "Health",
    "HealthReport",
    "HistoryItem",
    "HistoryItemPage",
    "ImportMode",
    "ImportReport",
    "IncludedField",
    "IndexItem",
    "IndexOutcome",
    "ListMode",
    "Membership",
    "MembershipList",
    "MemoriesOfRemovedAgent",
    "Memory",
    "MemoryEvent",
    "MemoryEventPage",
    "MemoryHit",
    "MemoryHits",
    "MemoryKind",
    "MemoryOrigin",
    "MemoryPage",
    "MemoryScope",
    "MemorySearchComponent",
    "MemorySource",
    "MemoryStatus",
    "MemoryStatusFilter",
    "MemoryType",
    "MergedPeople",
    "Message",
    "MessageRole",
    "Model",
    "Neighbourhood",
    "NewApiKey",
    "OnConflict",
    "OwnershipTransfer",
    "OwnershipTransferList",
    "Participant",
    "ParticipantKind",
    "ParticipantPage",
    "Person",
    "PersonCard",
    "PersonPage",
    "PiiRules",
    "PiiTag",
    "QuarantinedMemory",
    "QuarantinedMemoryPage",
    "QueueReport",
    "Recall",
    "RecallFormat",
    "RecordOutcome",
    "RecordOutcomeStatus",
    "RefusedLine",
    "Relationship",
    "RelationshipBody",
    "RemovedCounts",
    "ResolvedName",
    "RetentionPolicy",
    "RetentionRules",
    "RollbackReport",
    "Run",
    "RunCompletion",
    "RunEnding",
    "RunLineage",
    "RunPage",
    "RunStatus",
    "SearchResult",
    "SearchResultPage",
    "Sensitivity",
    "Severity",
    "SourceBody",
    "SourceKind",
    "Space",
    "SpaceFilter",
    "SpaceKind",
    "SpaceMode",
    "SpaceWish",
    "SupersessionLink",
    "SupersessionRelation",
    "SyncOutcome",
    "TidyReport",
    "TrustLevel",
    "UnindexedEntry",
    "UnindexedEntryPage",
    "VacuumReport",
    "VacuumRules",
    "VacuumScope",
    "VersionChange",
    "Visibility",
    "WaitFor",
    "WriteResult",
    "WriteStatus",
    "WriteWarning",
]
