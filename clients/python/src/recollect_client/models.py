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

ServerCondition = Literal["degraded", "ok"]

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
    access_level: "AccessLevel | str" = Field(
        alias="accessLevel", description="What the caller may do in its tree."
    )
    created_at: datetime = Field(alias="createdAt", description="When it was created.")
    id: str = Field(description="The id of the conversation.")
    owner_user_id: str = Field(alias="ownerUserId", description="The user who owns its tree.")
    updated_at: datetime = Field(
        alias="updatedAt", description="When something in it last changed."
    )
    deleted_at: "datetime | None" = Field(
        default=None,
        alias="deletedAt",
        description="When its tree was deleted; absent while it is not.",
    )
    forked_at_conversation_id: "str | None" = Field(
        default=None,
        alias="forkedAtConversationId",
        description="The conversation that a fork branches off.",
    )
    forked_at_entry_id: "str | None" = Field(
        default=None,
        alias="forkedAtEntryId",
        description="The last entry that a fork shares with its parent; absent if it shares none.",
    )
    last_message_preview: "str | None" = Field(
        default=None, alias="lastMessagePreview", description="The beginning of its last message."
    )
    metadata: "dict[str, Any] | None" = Field(default=None, description="Your own data.")
    title: "str | None" = Field(default=None, description="What it is called.")
    unreadable: "Literal[True] | str | None" = Field(
        default=None,
        description="What is stored could not be decrypted: the fields that come from it are empty or absent. Readable rows lack this field.",
    )


class AdminConversationSummary(Model):
    access_level: "AccessLevel | str" = Field(
        alias="accessLevel", description="What the caller may do in its tree."
    )
    created_at: datetime = Field(alias="createdAt", description="When it was created.")
    id: str = Field(description="The id of the conversation.")
    owner_user_id: str = Field(alias="ownerUserId", description="The user who owns its tree.")
    updated_at: datetime = Field(
        alias="updatedAt", description="When something in it last changed."
    )
    deleted_at: "datetime | None" = Field(
        default=None,
        alias="deletedAt",
        description="When its tree was deleted; absent while it is not.",
    )
    last_message_preview: "str | None" = Field(
        default=None, alias="lastMessagePreview", description="The beginning of its last message."
    )
    metadata: "dict[str, Any] | None" = Field(default=None, description="Your own data.")
    title: "str | None" = Field(default=None, description="What it is called.")
    unreadable: "Literal[True] | str | None" = Field(
        default=None,
        description="What is stored could not be decrypted: the fields that come from it are empty or absent. Readable rows lack this field.",
    )


class AdminConversationSummaryList(Model):
    data: "list[AdminConversationSummary]" = Field(description="The items of the page.")
    after_cursor: "str | None" = Field(
        default=None, alias="afterCursor", description="`nextCursor` again, for who asked with it."
    )
    next_cursor: "str | None" = Field(
        default=None,
        alias="nextCursor",
        description="Where the next page begins; null or absent on the last page.",
    )

    def __iter__(self) -> "Iterator[AdminConversationSummary]":  # type: ignore[override]
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> "AdminConversationSummary":
        return self.data[place]


class AdminEntry(WithText, Model):
    channel: "Channel | str" = Field(
        description="`history` is for all members, `memory` for the client alone."
    )
    content: "list[Any]" = Field(description="The messages, or the client's own items.")
    content_type: str = Field(
        alias="contentType",
        description="What `content` is: `history` for messages, else a name of the client's.",
    )
    conversation_id: str = Field(
        alias="conversationId", description="The conversation that it was written in."
    )
    created_at: datetime = Field(alias="createdAt", description="When it was written.")
    id: str = Field(description="The id of the entry.")
    client_id: "str | None" = Field(
        default=None, alias="clientId", description="The client that wrote it."
    )
    epoch: "int | None" = Field(default=None, description="The epoch of a memory entry.")
    removed: "bool | None" = Field(
        default=None, description="That the entry was deleted: `content` has only roles."
    )
    unreadable: "Literal[True] | str | None" = Field(
        default=None,
        description="What is stored could not be decrypted: the fields that come from it are empty or absent. Readable rows lack this field.",
    )
    user_id: "str | None" = Field(default=None, alias="userId", description="Whose entry it is.")


class AdminEntryPage(Model):
    data: "list[AdminEntry]" = Field(description="The items of the page.")
    next_cursor: "str | None" = Field(
        alias="nextCursor",
        description="Where the next page begins; null or absent on the last page.",
    )
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
    conversation_id: str = Field(
        alias="conversationId", description="The conversation of the entry."
    )
    entry_id: str = Field(alias="entryId", description="The entry that was found.")
    score: float = Field(description="How well it fits; comparable within one answer.")
    conversation_title: "str | None" = Field(
        default=None, alias="conversationTitle", description="What that conversation is called."
    )
    entry: "AdminEntry | None" = Field(
        default=None, description="The entry itself, unless `includeEntry` is false."
    )
    highlights: "str | None" = Field(default=None, description="The words around what was found.")
    unreadable: "Literal[True] | str | None" = Field(
        default=None,
        description="What is stored could not be decrypted: the fields that come from it are empty or absent. Readable rows lack this field.",
    )


class AdminSearchResultPage(Model):
    data: "list[AdminSearchResult]" = Field(description="The items of the page.")
    next_cursor: "str | None" = Field(
        alias="nextCursor",
        description="Where the next page begins; null or absent on the last page.",
    )
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
    created_at: datetime = Field(description="When it was registered.")
    created_by: str = Field(description="Who registered it.")
    description: "str | None" = Field(description="What it is for.")
    id: str = Field(description="The id of the agent.")
    metadata: "dict[str, Any]" = Field(description="Your own data.")
    name: "str | None" = Field(description="Its name for people.")
    org_id: str = Field(description="The org that it belongs to.")
    owner_id: str = Field(description="Who owns it.")
    space_mode: "SpaceMode | str | None" = Field(
        description="Whether it has one space or two; null for the server's default."
    )
    updated_at: datetime = Field(description="When it was last changed.")


class AgentPage(Model):
    data: "list[Agent]" = Field(description="The items of the page.")
    next_cursor: "str | None" = Field(
        description="Where the next page begins; null or absent on the last page."
    )

    def __iter__(self) -> "Iterator[Agent]":  # type: ignore[override]
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> "Agent":
        return self.data[place]


class Alias(Model):
    added_by: str = Field(description="Who said so.")
    created_at: datetime = Field(description="When it was said.")
    kind: "AliasKind | str" = Field(description="Another name, or a handle.")
    provider: "str | None" = Field(description="Where a handle is one, such as `slack`.")
    value: str = Field(description="The name or the handle.")


class AliasBody(Model):
    """Another name, or a handle at a provider."""

    value: str = Field(description="The name or the handle.")
    kind: "AliasKind | str | None" = Field(default=None, description="Another name, or a handle.")
    provider: "str | None" = Field(
        default=None, description="Where a handle is one, such as `slack`."
    )


class ApiKey(Model):
    client_id: str = Field(alias="clientId", description="The client that it is for.")
    created_at: datetime = Field(alias="createdAt", description="When it was made.")
    id: str = Field(description="The id of the key.")
    state: "ApiKeyState | str" = Field(description="Whether it works.")
    created_by: "str | None" = Field(
        default=None, alias="createdBy", description="Who made it; absent if the command line did."
    )
    expires_at: "datetime | None" = Field(
        default=None, alias="expiresAt", description="When it ends; absent for never."
    )
    name: "str | None" = Field(default=None, description="What it is called.")
    revoked_at: "datetime | None" = Field(
        default=None, alias="revokedAt", description="When it was revoked; absent while it was not."
    )


class ApiKeyPage(Model):
    data: "list[ApiKey]" = Field(description="The items of the page.")
    next_cursor: "str | None" = Field(
        alias="nextCursor",
        description="Where the next page begins; null or absent on the last page.",
    )
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
    decided_at: "datetime | None" = Field(description="When it was decided; null while it is open.")
    decided_by: "str | None" = Field(description="Who decided; null while it is open.")
    id: str = Field(description="The id of the request.")
    memory_id: str = Field(description="The memory that is to live longer.")
    requested_by: str = Field(description="Who asked.")
    requested_expires_at: "datetime | None" = Field(
        description="The expiry that is asked for. Null: the memory is to live for ever."
    )
    status: "ApprovalStatus | str" = Field(description="Whether it is open, or how it was decided.")
    valid_until: datetime = Field(description="Until when it can be decided.")


class ApprovalPage(Model):
    data: "list[Approval]" = Field(description="The items of the page.")
    next_cursor: "str | None" = Field(
        description="Where the next page begins; null or absent on the last page."
    )

    def __iter__(self) -> "Iterator[Approval]":  # type: ignore[override]
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> "Approval":
        return self.data[place]


class BackupRules(Model):
    before_vacuum: bool = Field(
        description="Whether a vacuum writes what it removes to a file first."
    )
    format: str = Field(description="The format of that file.")
    keep_days: int = Field(description="How long these files are kept.")


class BatchError(Model):
    code: str = Field(description="The same for programs.")
    details: "dict[str, Any]" = Field(description="More about it, by code.")
    error: str = Field(description="What was wrong.")


class BatchItem(Model):
    op: "BatchOperation | str" = Field(description="What to do.")
    id: "str | None" = Field(default=None, description="The memory to change or to delete.")
    version: "int | None" = Field(
        default=None, description="Do it only if the memory still has this version."
    )


class BatchResult(Model):
    index: int = Field(description="The place of the item in the batch.")
    status: int = Field(description="The HTTP status that it has alone.")
    error: "BatchError | None" = Field(default=None, description="Why it failed.")
    id: "str | None" = Field(default=None, description="The memory that it wrote.")
    warnings: "list[WriteWarning] | None" = Field(
        default=None, description="What the caller should know about a write that succeeded."
    )


class BatchResults(Model):
    results: "list[BatchResult]" = Field(description="What became of each item, in order.")


class CardRelationship(Model):
    created_at: datetime = Field(description="When it was said.")
    relationship: str = Field(description="What the person is to the other one.")
    stated_by: "str | None" = Field(description="The person who said so; null for an agent.")
    to_person_id: "str | None" = Field(description="The other person, if the caller may know.")


class Chat(Model):
    created_at: datetime = Field(description="When it was made.")
    created_by: str = Field(description="Who made it.")
    id: str = Field(description="The id of the chat in the outside system, or of a conversation.")
    kind: "ChatKind | str" = Field(description="Whether it has one human or may have several.")
    provider: "str | None" = Field(description="The outside system.")
    title: "str | None" = Field(description="What it is called.")
    tree: bool = Field(description="Whether it is a conversation of this server.")
    unreadable: "Literal[True] | str | None" = Field(
        default=None,
        description="What is stored could not be decrypted: the fields that come from it are empty or absent. Readable rows lack this field.",
    )


class ChatPage(Model):
    data: "list[Chat]" = Field(description="The items of the page.")
    next_cursor: "str | None" = Field(
        description="Where the next page begins; null or absent on the last page."
    )

    def __iter__(self) -> "Iterator[Chat]":  # type: ignore[override]
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> "Chat":
        return self.data[place]


class Conversation(Model):
    access_level: "AccessLevel | str" = Field(
        alias="accessLevel", description="What the caller may do in its tree."
    )
    created_at: datetime = Field(alias="createdAt", description="When it was created.")
    id: str = Field(description="The id of the conversation.")
    owner_user_id: str = Field(alias="ownerUserId", description="The user who owns its tree.")
    updated_at: datetime = Field(
        alias="updatedAt", description="When something in it last changed."
    )
    forked_at_conversation_id: "str | None" = Field(
        default=None,
        alias="forkedAtConversationId",
        description="The conversation that a fork branches off.",
    )
    forked_at_entry_id: "str | None" = Field(
        default=None,
        alias="forkedAtEntryId",
        description="The last entry that a fork shares with its parent; absent if it shares none.",
    )
    last_message_preview: "str | None" = Field(
        default=None, alias="lastMessagePreview", description="The beginning of its last message."
    )
    metadata: "dict[str, Any] | None" = Field(default=None, description="Your own data.")
    title: "str | None" = Field(default=None, description="What it is called.")
    unreadable: "Literal[True] | str | None" = Field(
        default=None,
        description="What is stored could not be decrypted: the fields that come from it are empty or absent. Readable rows lack this field.",
    )


class ConversationSummary(Model):
    access_level: "AccessLevel | str" = Field(
        alias="accessLevel", description="What the caller may do in its tree."
    )
    created_at: datetime = Field(alias="createdAt", description="When it was created.")
    id: str = Field(description="The id of the conversation.")
    owner_user_id: str = Field(alias="ownerUserId", description="The user who owns its tree.")
    updated_at: datetime = Field(
        alias="updatedAt", description="When something in it last changed."
    )
    last_message_preview: "str | None" = Field(
        default=None, alias="lastMessagePreview", description="The beginning of its last message."
    )
    metadata: "dict[str, Any] | None" = Field(default=None, description="Your own data.")
    title: "str | None" = Field(default=None, description="What it is called.")
    unreadable: "Literal[True] | str | None" = Field(
        default=None,
        description="What is stored could not be decrypted: the fields that come from it are empty or absent. Readable rows lack this field.",
    )


class ConversationSummaryPage(Model):
    data: "list[ConversationSummary]" = Field(description="The items of the page.")
    next_cursor: "str | None" = Field(
        alias="nextCursor",
        description="Where the next page begins; null or absent on the last page.",
    )
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
    count: int = Field(description="How many rows it found.")
    name: "DoctorCheckName | str" = Field(description="The name of the check.")
    repairable: bool = Field(description="Whether `repair` can mend them.")
    repaired: int = Field(description="How many were mended.")
    sample_ids: list[str] = Field(description="The ids of some of these rows.")
    severity: "Severity | str" = Field(description="How bad a finding of this check is.")


class DoctorReport(Model):
    checks: "list[DoctorFinding]" = Field(description="What each check found.")
    ok: bool = Field(description="Whether no warning and no error is left.")


class Document(Model):
    pass


class Duplicates(Model):
    people: "list[Person]" = Field(description="The two.")
    reason: "DuplicateReason | str" = Field(description="What they have in common.")


class DuplicatesPage(Model):
    data: "list[Duplicates]" = Field(description="The items of the page.")
    next_cursor: "str | None" = Field(
        description="Where the next page begins; null or absent on the last page."
    )

    def __iter__(self) -> "Iterator[Duplicates]":  # type: ignore[override]
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> "Duplicates":
        return self.data[place]


class Entity(Model):
    id: str = Field(description="The id of the entity. That of a person is the person's id.")
    kind: "EntityKind | str" = Field(description="What it is.")
    name: "str | None" = Field(description="Its name, as a memory spells it.")
    space: "Space | None" = Field(
        description="The space whose memories name it; null for a person."
    )
    unreadable: "Literal[True] | str | None" = Field(
        default=None,
        description="What is stored could not be decrypted: the fields that come from it are empty or absent. Readable rows lack this field.",
    )


class EntityPage(Model):
    data: "list[Entity]" = Field(description="The items of the page.")
    next_cursor: "str | None" = Field(
        description="Where the next page begins; null or absent on the last page."
    )

    def __iter__(self) -> "Iterator[Entity]":  # type: ignore[override]
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> "Entity":
        return self.data[place]


class Entry(WithText, Model):
    channel: "Channel | str" = Field(
        description="`history` is for all members, `memory` for the client alone."
    )
    content: "list[Any]" = Field(description="The messages, or the client's own items.")
    content_type: str = Field(
        alias="contentType",
        description="What `content` is: `history` for messages, else a name of the client's.",
    )
    conversation_id: str = Field(
        alias="conversationId", description="The conversation that it was written in."
    )
    created_at: datetime = Field(alias="createdAt", description="When it was written.")
    id: str = Field(description="The id of the entry.")
    epoch: "int | None" = Field(default=None, description="The epoch of a memory entry.")
    removed: "bool | None" = Field(
        default=None, description="That the entry was deleted: `content` has only roles."
    )
    unreadable: "Literal[True] | str | None" = Field(
        default=None,
        description="What is stored could not be decrypted: the fields that come from it are empty or absent. Readable rows lack this field.",
    )
    user_id: "str | None" = Field(default=None, alias="userId", description="Whose entry it is.")


class EntryPage(Model):
    data: "list[Entry]" = Field(description="The items of the page.")
    next_cursor: "str | None" = Field(
        alias="nextCursor",
        description="Where the next page begins; null or absent on the last page.",
    )
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
    checks: "list[ErasureCheck]" = Field(
        description="What the search for traces found afterwards, by store."
    )
    counts: "dict[str, Any]" = Field(description="How many rows are linked to them, by store.")
    digest: str = Field(description="SHA-256 of the rest in canonical JSON.")
    dry_run: bool = Field(description="Whether it only tells what would go.")
    finished_at: "datetime | None" = Field(description="When it was done; null before.")
    id: str = Field(description="The id of the erasure.")
    joint: int = Field(description="How many of the deleted memories were also about other people.")
    not_covered: list[str] = Field(description="Places that the server can't search.")
    requested_by_role: "ErasureRole | str" = Field(
        description="Whether the person or an admin asked."
    )
    signature: "str | None" = Field(
        description="HMAC-SHA-256 of the same, if the server has `erase.signing_key`."
    )
    started_at: datetime = Field(description="When it was asked for.")
    status: "ErasureStatus | str" = Field(description="How far it is; `planned` in a dry run.")


class ErasureCheck(Model):
    found: int = Field(description="How many rows they found.")
    probes: int = Field(description="How many searches were made.")
    store: str = Field(description="The store that was searched.")


class Event(Model):
    action: str = Field(description="What was done.")
    at: datetime = Field(description="When it happened.")
    id: str = Field(description="The id of the event.")
    kind: "EventKind | str" = Field(description="What sort of event it is.")
    outcome: "EventOutcome | str" = Field(description="Whether it was allowed.")
    actor_client_id: "str | None" = Field(
        default=None, alias="actorClientId", description="The client that called for them."
    )
    actor_user_id: "str | None" = Field(
        default=None, alias="actorUserId", description="The user who did it."
    )
    conversation_id: "str | None" = Field(
        default=None, alias="conversationId", description="The conversation that it was done to."
    )
    count: "int | None" = Field(default=None, description="How many rows it was about.")
    from_level: "AccessLevel | str | None" = Field(
        default=None, alias="fromLevel", description="The level before."
    )
    justification: "str | None" = Field(default=None, description="The reason that was given.")
    params: "dict[str, Any] | None" = Field(default=None, description="What was asked for.")
    role: "str | None" = Field(default=None, description="The role by which it was allowed.")
    target_user_id: "str | None" = Field(
        default=None, alias="targetUserId", description="The user that it was done to."
    )
    to_level: "AccessLevel | str | None" = Field(
        default=None, alias="toLevel", description="The level after."
    )
    transfer_id: "str | None" = Field(
        default=None, alias="transferId", description="The ownership transfer that it belongs to."
    )


class EventPage(Model):
    data: "list[Event]" = Field(description="The items of the page.")
    next_cursor: "str | None" = Field(
        alias="nextCursor",
        description="Where the next page begins; null or absent on the last page.",
    )
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
    by_rule: "dict[str, Any]" = Field(description="How many of them, by the rule of their expiry.")
    deleted_count: int = Field(description="How many memories were removed.")
    would_delete_count: int = Field(description="How many memories are due, in a dry run and else.")


class ExpiryPreview(Model):
    clamped: bool = Field(description="Whether a longer wish was cut.")
    expires_at: "datetime | None" = Field(description="When it would expire; null for never.")
    expiry_rule: str = Field(description="The rule that says so.")


class Explanation(Model):
    allowed: bool = Field(description="Whether the viewer may see it here.")
    context: "DisclosureContext | str" = Field(
        description="Where it was asked: outside of chats, or in a private chat or a group."
    )
    expires_at: "datetime | None" = Field(description="When it expires; null for never.")
    expiry_rule: str = Field(description="The rule of its expiry.")
    memory_id: str = Field(description="The memory.")
    origin: "MemoryOrigin | str" = Field(description="Whether it was learned in a chat.")
    portable: bool = Field(
        description="Whether it may be told outside of the chat where it was learned."
    )
    relations: "list[AskerRelation | str]" = Field(
        description="How the viewer is related to the memory."
    )
    rule: str = Field(description="The rule that decided.")
    sources: "list[ExplanationSource]" = Field(description="What it was derived from.")
    space: "Space" = Field(description="The space of the memory.")
    supersession: "list[SupersessionLink]" = Field(
        description="What it replaced, and what replaced it."
    )
    trust: "TrustLevel | str" = Field(description="How reliable it is.")
    score: "float | None" = Field(
        default=None, description="Its score for the query, if one was sent."
    )


class ExplanationSource(Model):
    id: str = Field(description="The id of that entry or memory.")
    kind: "SourceKind | str" = Field(description="Whether it is an entry or a memory.")


class Fork(Model):
    conversation_id: str = Field(alias="conversationId", description="The id of the conversation.")
    created_at: datetime = Field(alias="createdAt", description="When it was created.")
    forked_at_conversation_id: "str | None" = Field(
        default=None,
        alias="forkedAtConversationId",
        description="The conversation that it branches off; the root has none.",
    )
    forked_at_entry_id: "str | None" = Field(
        default=None,
        alias="forkedAtEntryId",
        description="The last entry that it shares with its parent; absent if it shares none.",
    )
    title: "str | None" = Field(default=None, description="What it is called.")
    unreadable: "Literal[True] | str | None" = Field(
        default=None,
        description="What is stored could not be decrypted: the fields that come from it are empty or absent. Readable rows lack this field.",
    )


class ForkList(Model):
    data: "list[Fork]" = Field(description="The items of the page.")
    after_cursor: "str | None" = Field(
        default=None, alias="afterCursor", description="`nextCursor` again, for who asked with it."
    )
    next_cursor: "str | None" = Field(
        default=None,
        alias="nextCursor",
        description="Where the next page begins; null or absent on the last page.",
    )

    def __iter__(self) -> "Iterator[Fork]":  # type: ignore[override]
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> "Fork":
        return self.data[place]


class GraphPath(Model):
    relations: "list[GraphRelation]" = Field(
        description="The steps of a shortest way, in order; none if there is no way."
    )


class GraphRelation(Model):
    from_id: str = Field(description="The entity that it leads from.")
    id: str = Field(description="The id of the relation.")
    memory_id: str = Field(description="The memory that says so.")
    recorded_at: datetime = Field(description="When it was stored.")
    relation: str = Field(description="What the one is to the other.")
    retracted_at: "datetime | None" = Field(
        description="When it stopped counting as true; null while it counts."
    )
    space: "Space" = Field(description="The space of that memory.")
    to_id: str = Field(description="The entity that it leads to.")
    valid_from: "datetime | None" = Field(
        description="From when on it is true; null if nobody said."
    )
    valid_until: "datetime | None" = Field(
        description="Until when it is true; null if nobody said."
    )


class Health(Model):
    status: "ServerCondition | str" = Field(
        description="`degraded` if searches can't find all that they should."
    )
    advice: "list[str] | None" = Field(default=None, description="What to do about each warning.")
    warnings: "list[str] | None" = Field(
        default=None, description="What is wrong all the same, if anything is."
    )


class HealthReport(Model):
    advice: list[str] = Field(description="What to do about each warning.")
    database: str = Field(description="The engine of the database.")
    encryption: bool = Field(description="Whether texts are stored encrypted.")
    queue: "QueueReport" = Field(description="The jobs that wait.")
    status: "ServerCondition | str" = Field(
        description="`degraded` if searches can't find all that they should."
    )
    version: str = Field(description="The version of the server.")
    warnings: list[str] = Field(description="What is wrong all the same.")


class HistoryItem(Model):
    at: datetime = Field(description="When it was made.")
    by: "str | None" = Field(
        description="Who made it; null if that is not known or not for the caller."
    )
    change: "VersionChange | str" = Field(description="What made the version.")
    depth: int = Field(
        description="How many replacements lie between it and the memory that was asked for."
    )
    memory_id: str = Field(description="The memory that the version is of.")
    superseded_by: "str | None" = Field(description="The memory that replaced it.")
    version: "int | None" = Field(
        description="The number of the version; null for a memory that was removed."
    )
    content: "str | None" = Field(default=None, description="The text of the version.")
    unreadable: "Literal[True] | str | None" = Field(
        default=None,
        description="What is stored could not be decrypted: the fields that come from it are empty or absent. Readable rows lack this field.",
    )
    value: "dict[str, Any] | None" = Field(default=None, description="The object of a record.")


class HistoryItemPage(Model):
    data: "list[HistoryItem]" = Field(description="The items of the page.")
    next_cursor: "str | None" = Field(
        description="Where the next page begins; null or absent on the last page."
    )

    def __iter__(self) -> "Iterator[HistoryItem]":  # type: ignore[override]
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> "HistoryItem":
        return self.data[place]


class ImportReport(Model):
    created: int = Field(description="How many made something new.")
    import_id: "str | None" = Field(
        description="The id by which it can be rolled back; null in a dry run."
    )
    read: int = Field(description="How many lines were read.")
    refused: "list[RefusedLine]" = Field(description="The lines that are not stored.")
    skipped: int = Field(description="How many had nothing new.")
    updated: int = Field(description="How many changed something.")


class IndexItem(Model):
    """The text to be indexed for one entry."""

    conversation_id: str = Field(
        alias="conversationId", description="The conversation of the entry."
    )
    entry_id: str = Field(alias="entryId", description="The entry.")
    indexed_content: str = Field(
        alias="indexedContent", description="The text that search shall find it by."
    )


class IndexOutcome(Model):
    indexed: int = Field(description="How many entries got their text.")


class Membership(Model):
    access_level: "AccessLevel | str" = Field(
        alias="accessLevel", description="What they may do in the tree."
    )
    conversation_id: str = Field(
        alias="conversationId",
        description="The conversation that was asked about; the membership is in its whole tree.",
    )
    created_at: datetime = Field(alias="createdAt", description="Since when they are a member.")
    user_id: str = Field(alias="userId", description="The member.")


class MembershipList(Model):
    data: "list[Membership]" = Field(description="The items of the page.")
    after_cursor: "str | None" = Field(
        default=None, alias="afterCursor", description="`nextCursor` again, for who asked with it."
    )
    next_cursor: "str | None" = Field(
        default=None,
        alias="nextCursor",
        description="Where the next page begins; null or absent on the last page.",
    )

    def __iter__(self) -> "Iterator[Membership]":  # type: ignore[override]
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> "Membership":
        return self.data[place]


class Memory(Model):
    agent_id: "str | None" = Field(description="The agent that it belongs to.")
    archive_reason: "ArchiveReason | str | None" = Field(description="Why it was archived.")
    confidence: "float | None" = Field(
        description="How sure an extraction was, from 0 to 1; 1 for what was sent."
    )
    conflicts_with: list[str] = Field(description="Memories that seem to say something else.")
    content: str = Field(description="The text; of a record the words of its key and value.")
    created_at: datetime = Field(description="When it was stored.")
    expires_at: "datetime | None" = Field(description="When it expires; null for never.")
    expiry_rule: str = Field(description="The rule that set its expiry.")
    group_id: str = Field(description="The name of that space.")
    id: str = Field(description="The id of the memory.")
    key: "str | None" = Field(description="The key of a record.")
    kind: "MemoryKind | str" = Field(
        description="A statement is a text, a record is a key with an object."
    )
    learned_in: "str | None" = Field(description="The chat where it was learned.")
    learned_in_conversation: "str | None" = Field(
        description="The fork where it was learned, if that is not the whole tree."
    )
    metadata: "dict[str, Any]" = Field(description="Your own data.")
    observed_at: datetime = Field(description="When it was said.")
    org_id: "str | None" = Field(description="The org that it belongs to.")
    origin: "MemoryOrigin | str" = Field(description="Whether it was learned in a chat.")
    parent_run_id: "str | None" = Field(description="The run that started that run.")
    pii_tags: list[str] = Field(description="The kinds of personal data in it.")
    portable: bool = Field(
        description="Whether it may be told outside of the chat where it was learned."
    )
    repeats: int = Field(description="How often the same was written again.")
    requested_expires_at: "datetime | None" = Field(
        description="The expiry that was asked for, if a cap made it shorter."
    )
    retention_policy: "str | None" = Field(description="The name of its retention policy.")
    retracted_at: "datetime | None" = Field(description="When it stopped counting as true.")
    run_id: "str | None" = Field(description="The run that wrote it.")
    scope: "MemoryScope | str" = Field(description="The scope of the space.")
    sensitivity: "Sensitivity | str" = Field(description="How private it is.")
    source: "MemorySource | str" = Field(description="The surface or process that wrote it.")
    source_agent: "str | None" = Field(description="The agent that wrote it.")
    source_entries: list[str] = Field(
        description="The entries of conversations that it was derived from."
    )
    source_memories: list[str] = Field(description="The memories that it was derived from.")
    space: "Space" = Field(description="The space that it is in.")
    stated_by: "str | None" = Field(description="The person who said it.")
    status: "MemoryStatus | str" = Field(description="Whether it is active, or why not.")
    subjects: list[str] = Field(description="The people that it is about: ids of people.")
    superseded_by: "str | None" = Field(description="The memory that replaced it.")
    supersedes: list[str] = Field(description="The memories that it replaced.")
    tags: list[str] = Field(description="Words to filter by.")
    trust: "TrustLevel | str" = Field(description="How reliable it is.")
    type: "MemoryType | str" = Field(description="What sort of fact it is.")
    updated_at: datetime = Field(description="When it was last changed.")
    valid_from: "datetime | None" = Field(
        description="From when on it is true; null if nobody said."
    )
    valid_until: "datetime | None" = Field(
        description="Until when it is true; null if nobody said."
    )
    value: "dict[str, Any] | None" = Field(description="The object of a record.")
    verified: bool = Field(description="Whether it was sent, and not extracted.")
    version: int = Field(description="The number of its version; each change adds one.")
    visibility: "Visibility | str | None" = Field(
        description="Whether anyone may read the agent's space; null in other spaces."
    )
    embedding: "list[float] | None" = Field(
        default=None,
        description="The vector, with `include=embedding` and for those who may write the space.",
    )
    unreadable: "Literal[True] | str | None" = Field(
        default=None,
        description="What is stored could not be decrypted: the fields that come from it are empty or absent. Readable rows lack this field.",
    )


class MemoryEvent(Model):
    agent_slug: "str | None" = Field(description="The agent that it belongs to.")
    event_type: str = Field(description="What happened: a kind and an action.")
    id: str = Field(description="The id of the event.")
    level: "Severity | str" = Field(description="How much it matters to an operator.")
    message: str = Field(description="What happened, for people.")
    outcome: "EventOutcome | str" = Field(description="Whether it was allowed.")
    payload: "dict[str, Any]" = Field(description="Ids and counts, by type; never a text.")
    requester_id: "str | None" = Field(description="Who asked for it.")
    run_id: "str | None" = Field(description="The run that it belongs to.")
    timestamp: datetime = Field(description="When it happened.")


class MemoryEventPage(Model):
    data: "list[MemoryEvent]" = Field(description="The items of the page.")
    next_cursor: "str | None" = Field(
        description="Where the next page begins; null or absent on the last page."
    )

    def __iter__(self) -> "Iterator[MemoryEvent]":  # type: ignore[override]
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> "MemoryEvent":
        return self.data[place]


class MemoryHit(Model):
    agent_id: "str | None" = Field(description="The agent that it belongs to.")
    archive_reason: "ArchiveReason | str | None" = Field(description="Why it was archived.")
    confidence: "float | None" = Field(
        description="How sure an extraction was, from 0 to 1; 1 for what was sent."
    )
    conflicts_with: list[str] = Field(description="Memories that seem to say something else.")
    content: str = Field(description="The text; of a record the words of its key and value.")
    created_at: datetime = Field(description="When it was stored.")
    expires_at: "datetime | None" = Field(description="When it expires; null for never.")
    expiry_rule: str = Field(description="The rule that set its expiry.")
    group_id: str = Field(description="The name of that space.")
    id: str = Field(description="The id of the memory.")
    key: "str | None" = Field(description="The key of a record.")
    kind: "MemoryKind | str" = Field(
        description="A statement is a text, a record is a key with an object."
    )
    learned_in: "str | None" = Field(description="The chat where it was learned.")
    learned_in_conversation: "str | None" = Field(
        description="The fork where it was learned, if that is not the whole tree."
    )
    metadata: "dict[str, Any]" = Field(description="Your own data.")
    observed_at: datetime = Field(description="When it was said.")
    org_id: "str | None" = Field(description="The org that it belongs to.")
    origin: "MemoryOrigin | str" = Field(description="Whether it was learned in a chat.")
    parent_run_id: "str | None" = Field(description="The run that started that run.")
    pii_tags: list[str] = Field(description="The kinds of personal data in it.")
    portable: bool = Field(
        description="Whether it may be told outside of the chat where it was learned."
    )
    repeats: int = Field(description="How often the same was written again.")
    requested_expires_at: "datetime | None" = Field(
        description="The expiry that was asked for, if a cap made it shorter."
    )
    retention_policy: "str | None" = Field(description="The name of its retention policy.")
    retracted_at: "datetime | None" = Field(description="When it stopped counting as true.")
    run_id: "str | None" = Field(description="The run that wrote it.")
    scope: "MemoryScope | str" = Field(description="The scope of the space.")
    score: float = Field(description="How well it fits, from 0 to 1.")
    sensitivity: "Sensitivity | str" = Field(description="How private it is.")
    source: "MemorySource | str" = Field(description="The surface or process that wrote it.")
    source_agent: "str | None" = Field(description="The agent that wrote it.")
    source_entries: list[str] = Field(
        description="The entries of conversations that it was derived from."
    )
    source_memories: list[str] = Field(description="The memories that it was derived from.")
    space: "Space" = Field(description="The space that it is in.")
    stages: "list[FindingStage | str]" = Field(description="What found it.")
    stated_by: "str | None" = Field(description="The person who said it.")
    status: "MemoryStatus | str" = Field(description="Whether it is active, or why not.")
    subjects: list[str] = Field(description="The people that it is about: ids of people.")
    superseded_by: "str | None" = Field(description="The memory that replaced it.")
    supersedes: list[str] = Field(description="The memories that it replaced.")
    tags: list[str] = Field(description="Words to filter by.")
    trust: "TrustLevel | str" = Field(description="How reliable it is.")
    type: "MemoryType | str" = Field(description="What sort of fact it is.")
    updated_at: datetime = Field(description="When it was last changed.")
    valid_from: "datetime | None" = Field(
        description="From when on it is true; null if nobody said."
    )
    valid_until: "datetime | None" = Field(
        description="Until when it is true; null if nobody said."
    )
    value: "dict[str, Any] | None" = Field(description="The object of a record.")
    verified: bool = Field(description="Whether it was sent, and not extracted.")
    version: int = Field(description="The number of its version; each change adds one.")
    visibility: "Visibility | str | None" = Field(
        description="Whether anyone may read the agent's space; null in other spaces."
    )
    why: str = Field(description="Why it was found, in a sentence.")
    unreadable: "Literal[True] | str | None" = Field(
        default=None,
        description="What is stored could not be decrypted: the fields that come from it are empty or absent. Readable rows lack this field.",
    )


class MemoryHits(Model):
    data: "list[MemoryHit]" = Field(description="The memories, the best first.")
    degraded: "list[MemorySearchComponent | str]" = Field(
        description="The parts of the search that failed."
    )
    next_cursor: "str | None" = Field(
        description="Where the next page begins; null or absent on the last page."
    )
    withheld: "int | None" = Field(
        default=None, description="With `explain`: how many matches a group chat hides."
    )

    def __iter__(self) -> "Iterator[MemoryHit]":  # type: ignore[override]
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> "MemoryHit":
        return self.data[place]


class MemoryPage(Model):
    data: "list[Memory]" = Field(description="The items of the page.")
    next_cursor: "str | None" = Field(
        description="Where the next page begins; null or absent on the last page."
    )

    def __iter__(self) -> "Iterator[Memory]":  # type: ignore[override]
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> "Memory":
        return self.data[place]


class MergedPeople(Model):
    moved: dict[str, int] = Field(description="How much moved, by kind.")
    person: "Person" = Field(description="The person that is left.")


class Message(Model):
    content: str = Field(description="The text.")
    role: "MessageRole | str" = Field(
        description="Who said it: the person, the assistant, the system or a tool."
    )
    created_at: "datetime | None" = Field(default=None, description="When it was said.")
    name: "str | None" = Field(default=None, description="The name of who said it.")
    user_id: "str | None" = Field(default=None, description="The user who said it.")


class Neighbourhood(Model):
    entities: "list[Entity]" = Field(description="The entities around it, nearest first.")
    entity: "Entity" = Field(description="The entity that was asked for.")
    relations: "list[GraphRelation]" = Field(description="The relations between them.")
    truncated: bool = Field(description="Whether there are more than `limit` relations.")


class NewApiKey(Model):
    client_id: str = Field(alias="clientId", description="The client that it is for.")
    created_at: datetime = Field(alias="createdAt", description="When it was made.")
    id: str = Field(description="The id of the key.")
    key: str = Field(description="The key itself. No other answer has it.")
    expires_at: "datetime | None" = Field(
        default=None, alias="expiresAt", description="When it ends; absent for never."
    )
    name: "str | None" = Field(default=None, description="What it is called.")


class OwnershipTransfer(Model):
    conversation_id: str = Field(
        alias="conversationId", description="The root conversation of the tree."
    )
    created_at: datetime = Field(alias="createdAt", description="When it was offered.")
    from_user_id: str = Field(alias="fromUserId", description="The owner who offers it.")
    id: str = Field(description="The id of the transfer.")
    to_user_id: str = Field(alias="toUserId", description="The member who may accept.")
    conversation_title: "str | None" = Field(
        default=None, alias="conversationTitle", description="What that conversation is called."
    )
    unreadable: "Literal[True] | str | None" = Field(
        default=None,
        description="What is stored could not be decrypted: the fields that come from it are empty or absent. Readable rows lack this field.",
    )


class OwnershipTransferList(Model):
    data: "list[OwnershipTransfer]" = Field(description="The items of the page.")
    after_cursor: "str | None" = Field(
        default=None, alias="afterCursor", description="`nextCursor` again, for who asked with it."
    )
    next_cursor: "str | None" = Field(
        default=None,
        alias="nextCursor",
        description="Where the next page begins; null or absent on the last page.",
    )

    def __iter__(self) -> "Iterator[OwnershipTransfer]":  # type: ignore[override]
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> "OwnershipTransfer":
        return self.data[place]


class Participant(Model):
    agent_id: "str | None" = Field(description="The agent, for an agent.")
    confirmed_at: "datetime | None" = Field(
        description="When they agreed to take part; null for who is only invited."
    )
    joined_at: datetime = Field(description="Since when they take part.")
    left_at: "datetime | None" = Field(description="Until when they took part; null while they do.")
    person_id: "str | None" = Field(description="The person, if the caller may know.")
    user_id: "str | None" = Field(description="The user, for a user.")


class ParticipantPage(Model):
    data: "list[Participant]" = Field(description="The items of the page.")
    next_cursor: "str | None" = Field(
        description="Where the next page begins; null or absent on the last page."
    )

    def __iter__(self) -> "Iterator[Participant]":  # type: ignore[override]
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> "Participant":
        return self.data[place]


class Person(Model):
    aliases: "list[Alias]" = Field(
        description="Their other names and handles, as far as the caller may see them."
    )
    created_at: datetime = Field(description="When they became known.")
    created_by: "str | None" = Field(description="Who made them known, if the caller may know.")
    id: str = Field(description="The id of the person.")
    merged_into: "str | None" = Field(description="The person that they were merged into.")
    metadata: "dict[str, Any] | None" = Field(
        description="The creator's own data, if the caller may see it."
    )
    name: str = Field(description="Their name.")
    relationships: "list[Relationship]" = Field(
        description="What they are to others, as far as the caller may see it."
    )
    time_zone: "str | None" = Field(description="Their time zone, as the IANA database has it.")
    updated_at: datetime = Field(description="When something about them last changed.")
    user_id: "str | None" = Field(description="The user that they are, if the caller may know.")


class PersonCard(Model):
    id: str = Field(description="The id of the person.")
    name: str = Field(description="Their name.")
    relationships: "list[CardRelationship]" = Field(
        description="What they are to others, as far as the caller may know."
    )


class PersonPage(Model):
    data: "list[Person]" = Field(description="The items of the page.")
    next_cursor: "str | None" = Field(
        description="Where the next page begins; null or absent on the last page."
    )

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
    agent_id: "str | None" = Field(description="The agent that it belongs to.")
    archive_reason: "ArchiveReason | str | None" = Field(description="Why it was archived.")
    confidence: "float | None" = Field(
        description="How sure an extraction was, from 0 to 1; 1 for what was sent."
    )
    conflicts_with: list[str] = Field(description="Memories that seem to say something else.")
    content: str = Field(description="The text; of a record the words of its key and value.")
    created_at: datetime = Field(description="When it was stored.")
    expires_at: "datetime | None" = Field(description="When it expires; null for never.")
    expiry_rule: str = Field(description="The rule that set its expiry.")
    group_id: str = Field(description="The name of that space.")
    id: str = Field(description="The id of the memory.")
    key: "str | None" = Field(description="The key of a record.")
    kind: "MemoryKind | str" = Field(
        description="A statement is a text, a record is a key with an object."
    )
    learned_in: "str | None" = Field(description="The chat where it was learned.")
    learned_in_conversation: "str | None" = Field(
        description="The fork where it was learned, if that is not the whole tree."
    )
    metadata: "dict[str, Any]" = Field(description="Your own data.")
    observed_at: datetime = Field(description="When it was said.")
    org_id: "str | None" = Field(description="The org that it belongs to.")
    origin: "MemoryOrigin | str" = Field(description="Whether it was learned in a chat.")
    parent_run_id: "str | None" = Field(description="The run that started that run.")
    pii_tags: list[str] = Field(description="The kinds of personal data in it.")
    portable: bool = Field(
        description="Whether it may be told outside of the chat where it was learned."
    )
    reasons: list[str] = Field(description="What in it looks so.")
    repeats: int = Field(description="How often the same was written again.")
    requested_expires_at: "datetime | None" = Field(
        description="The expiry that was asked for, if a cap made it shorter."
    )
    retention_policy: "str | None" = Field(description="The name of its retention policy.")
    retracted_at: "datetime | None" = Field(description="When it stopped counting as true.")
    run_id: "str | None" = Field(description="The run that wrote it.")
    scope: "MemoryScope | str" = Field(description="The scope of the space.")
    score: float = Field(description="How much its text looks like orders to the assistant.")
    sensitivity: "Sensitivity | str" = Field(description="How private it is.")
    source: "MemorySource | str" = Field(description="The surface or process that wrote it.")
    source_agent: "str | None" = Field(description="The agent that wrote it.")
    source_entries: list[str] = Field(
        description="The entries of conversations that it was derived from."
    )
    source_memories: list[str] = Field(description="The memories that it was derived from.")
    space: "Space" = Field(description="The space that it is in.")
    stated_by: "str | None" = Field(description="The person who said it.")
    status: "MemoryStatus | str" = Field(description="Whether it is active, or why not.")
    subjects: list[str] = Field(description="The people that it is about: ids of people.")
    superseded_by: "str | None" = Field(description="The memory that replaced it.")
    supersedes: list[str] = Field(description="The memories that it replaced.")
    tags: list[str] = Field(description="Words to filter by.")
    trust: "TrustLevel | str" = Field(description="How reliable it is.")
    type: "MemoryType | str" = Field(description="What sort of fact it is.")
    updated_at: datetime = Field(description="When it was last changed.")
    valid_from: "datetime | None" = Field(
        description="From when on it is true; null if nobody said."
    )
    valid_until: "datetime | None" = Field(
        description="Until when it is true; null if nobody said."
    )
    value: "dict[str, Any] | None" = Field(description="The object of a record.")
    verified: bool = Field(description="Whether it was sent, and not extracted.")
    version: int = Field(description="The number of its version; each change adds one.")
    visibility: "Visibility | str | None" = Field(
        description="Whether anyone may read the agent's space; null in other spaces."
    )


class QuarantinedMemoryPage(Model):
    data: "list[QuarantinedMemory]" = Field(description="The items of the page.")
    next_cursor: "str | None" = Field(
        description="Where the next page begins; null or absent on the last page."
    )

    def __iter__(self) -> "Iterator[QuarantinedMemory]":  # type: ignore[override]
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> "QuarantinedMemory":
        return self.data[place]


class QueueReport(Model):
    depth: int = Field(description="How many there are.")
    oldest_due_at: "datetime | None" = Field(
        alias="oldestDueAt", description="Since when the oldest one could run; null without any."
    )
    stuck: int = Field(description="How many have failed too often.")


class Recall(Model):
    context: "str | None" = Field(description="The text for the prompt; null with `format: items`.")
    degraded: "list[MemorySearchComponent | str]" = Field(
        description="The parts of the search that failed."
    )
    items: "list[MemoryHit]" = Field(description="The memories, the best first.")
    omitted: int = Field(description="How many found memories did not fit.")
    people: "list[PersonCard]" = Field(description="The people that they are about.")
    token_budget: int = Field(description="How many it may have at most.")
    tokens: int = Field(description="How many tokens the text has, by an estimate.")


class RecordOutcome(Model):
    status: "RecordOutcomeStatus | str" = Field(description="How it ended.")


class RefusedLine(Model):
    code: str = Field(description="Why, for programs: the code of a refused write.")
    field: "str | None" = Field(description="The field that was wrong, if it is one.")
    line: int = Field(description="The number of the line, from 1.")
    message: str = Field(description="Why, for people.")


class Relationship(Model):
    created_at: datetime = Field(description="When it was said.")
    id: str = Field(description="The id of the claim.")
    relationship: str = Field(description="What the person is to the other one.")
    stated_by: str = Field(description="Who said so.")
    to_person_id: "str | None" = Field(description="The other person, if the caller may know.")


class RelationshipBody(Model):
    """What the person is to another one; without that one, to the caller."""

    relationship: str = Field(description="What the person is to the other one.")
    to_person_id: "str | None" = Field(
        default=None, description="The other person; the caller if absent."
    )


class RemovedCounts(Model):
    critical_pii: int = Field(description="How many with critical personal data.")
    ephemeral: int = Field(description="How many with the policy `ephemeral`.")
    session: int = Field(description="How many others of the session.")


class ResolvedName(Model):
    ambiguous: bool = Field(description="Whether several people fit as well.")
    candidates: "list[Person]" = Field(description="The people who fit, if there are several.")
    person: "Person | None" = Field(
        description="Whom the name means; null for nobody and for several."
    )


class RetentionPolicy(Model):
    name: str = Field(description="The name of the policy.")
    scopes: list[str] = Field(description="The scopes that it is for.")
    ttl_seconds: "int | None" = Field(
        description="How long its memories live; null for ever, or until their run ends."
    )
    until_run_completes: bool = Field(description="Whether its memories go when their run ends.")


class RetentionRules(Model):
    audit: "dict[str, Any]" = Field(description="When operators are alerted.")
    backup: "BackupRules" = Field(description="What a vacuum writes first.")
    default_ttl: "dict[str, Any]" = Field(description="Seconds by scope.")
    pii: "PiiRules" = Field(description="The rules for personal data.")
    policies: "list[RetentionPolicy]" = Field(description="The policies that a memory may name.")
    profile: str = Field(
        description="Whether records have a default time to live: `records` or `none`."
    )
    vacuum: "VacuumRules" = Field(description="When a vacuum runs, and what it removes.")


class RollbackReport(Model):
    archived: int = Field(description="How many memories were archived, or would be.")
    id: "str | None" = Field(
        description="The id by which the rollback can be undone; null in a dry run."
    )
    ids: list[str] = Field(description="The memories that were archived or restored, or would be.")
    restored: int = Field(description="How many memories are active again, or would be.")
    untouched: int = Field(
        description="How many were left as they are: the caller may not write them, or they were changed since."
    )


class Run(Model):
    agent_id: str = Field(description="The agent that runs.")
    completed_at: "datetime | None" = Field(description="When it ended; null while it runs.")
    id: str = Field(description="The id of the run.")
    metadata: "dict[str, Any]" = Field(description="Your own data.")
    parent_run_id: "str | None" = Field(
        description="The run that started this one; null for a root."
    )
    root_run_id: str = Field(description="The run at the top of the lineage.")
    started_at: datetime = Field(description="When it was started.")
    status: "RunStatus | str" = Field(description="Whether it runs, or how it ended.")


class RunCompletion(Model):
    removed: "RemovedCounts" = Field(description="How many memories went with it.")
    run: "Run" = Field(description="The run, as it is now.")


class RunLineage(Model):
    ancestors: "list[Run]" = Field(description="The runs above it.")
    descendants: "list[Run]" = Field(description="The runs below it.")


class RunPage(Model):
    data: "list[Run]" = Field(description="The items of the page.")
    next_cursor: "str | None" = Field(
        description="Where the next page begins; null or absent on the last page."
    )

    def __iter__(self) -> "Iterator[Run]":  # type: ignore[override]
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> "Run":
        return self.data[place]


class SearchResult(Model):
    conversation_id: str = Field(
        alias="conversationId", description="The conversation of the entry."
    )
    entry_id: str = Field(alias="entryId", description="The entry that was found.")
    score: float = Field(description="How well it fits; comparable within one answer.")
    conversation_title: "str | None" = Field(
        default=None, alias="conversationTitle", description="What that conversation is called."
    )
    entry: "Entry | None" = Field(
        default=None, description="The entry itself, unless `includeEntry` is false."
    )
    highlights: "str | None" = Field(default=None, description="The words around what was found.")
    unreadable: "Literal[True] | str | None" = Field(
        default=None,
        description="What is stored could not be decrypted: the fields that come from it are empty or absent. Readable rows lack this field.",
    )


class SearchResultPage(Model):
    data: "list[SearchResult]" = Field(description="The items of the page.")
    next_cursor: "str | None" = Field(
        alias="nextCursor",
        description="Where the next page begins; null or absent on the last page.",
    )
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

    agent_id: "str | None" = Field(default=None, description="Memories that this agent wrote.")
    chat_id: "str | None" = Field(
        default=None, description="Memories that were learned in this chat."
    )
    conversation_id: "str | None" = Field(
        default=None, description="Memories from this conversation."
    )
    entry_id: "str | None" = Field(
        default=None, description="Memories from this entry of a conversation."
    )
    import_id: "str | None" = Field(default=None, description="Memories of this import.")
    memory_id: "str | None" = Field(default=None, description="This memory, and what came of it.")
    run_id: "str | None" = Field(default=None, description="Memories of this run.")
    stated_by: "str | None" = Field(default=None, description="Memories that this person stated.")


class Space(Model):
    id: str = Field(description="The id of the agent, user, chat, run or org that it belongs to.")
    kind: "SpaceKind | str" = Field(description="What the space belongs to.")


class SpaceFilter(Model):
    kind: "SpaceKind | str" = Field(description="What the space belongs to.")
    id: "str | None" = Field(
        default=None,
        description="The id of that agent, user, chat, run or org; every one of the kind if absent.",
    )


class SpaceWish(Model):
    """A space to write to. The id may be left out where it follows from the request."""

    kind: "SpaceKind | str" = Field(description="What the space belongs to.")
    id: "str | None" = Field(
        default=None,
        description="The id of that agent, user, chat, run or org, unless it follows from the request.",
    )


class Start(Model):
    links: "dict[str, Any]" = Field(description="The paths of pages and documents.")
    mode: str = Field(description="How callers say who they are: `local` or `jwt`.")
    name: str = Field(description="What this is.")
    status: str = Field(description="`ok`, or `unavailable` with 503.")
    version: "str | None" = Field(
        default=None, description="The version of the server, in local mode."
    )
    warnings: "list[str] | None" = Field(default=None, description="As in the health check.")


class SupersessionLink(Model):
    id: str = Field(description="The other memory.")
    relation: "SupersessionRelation | str" = Field(description="Which way it goes.")


class SyncOutcome(Model):
    entry: "Entry | None" = Field(description="The entry that was stored.")
    epoch: "int | None" = Field(description="The epoch that is current now.")
    epoch_incremented: bool = Field(
        alias="epochIncremented", description="Whether a new epoch began."
    )
    no_op: bool = Field(alias="noOp", description="Whether nothing had to be stored.")


class TidyReport(Model):
    by_step: "dict[str, Any]" = Field(description="How many rows each step changed.")
    count: int = Field(description="How many rows were changed in all.")


class UnindexedEntry(Model):
    conversation_id: str = Field(
        alias="conversationId", description="The conversation of the entry."
    )
    entry: "Entry" = Field(description="The entry.")


class UnindexedEntryPage(Model):
    cursor: "str | None" = Field(
        description="Where the next page begins; null or absent on the last page."
    )
    data: "list[UnindexedEntry]" = Field(description="The items of the page.")
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
    backup: "str | None" = Field(
        description="The file that they were written to first; null in a dry run."
    )
    cutoff: datetime = Field(description="Records from before this instant go.")
    deleted_count: int = Field(description="How many memories were removed.")
    dry_run: bool = Field(description="Whether it only tells what would go.")
    older_than_days: int = Field(description="From which age on records go.")
    scope: "VacuumScope | str" = Field(description="Which scope was asked for.")
    skipped_count: int = Field(
        description="How many are old enough and were kept, by a live policy or an expiry of their own."
    )
    would_delete_count: int = Field(description="How many memories are due, in a dry run and else.")


class VacuumRules(Model):
    after_days: "dict[str, Any]" = Field(description="Days by scope.")
    enabled: bool = Field(description="Whether it runs by itself.")
    grace_days: int = Field(description="How long an expired memory is still kept.")
    interval_hours: int = Field(description="How often it runs.")


class WriteResult(Model):
    group_id: str = Field(description="The name of its space.")
    id: str = Field(description="The id of the memory, or of an equal one.")
    memory: "Memory" = Field(description="The memory as it is stored.")
    status: "WriteStatus | str" = Field(description="What became of the write.")
    warnings: "list[WriteWarning]" = Field(
        description="What the caller should know about a write that succeeded."
    )


class WriteWarning(Model):
    code: str = Field(description="What it warns of.")
    message: str = Field(description="The same for people.")


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
    "ServerCondition",
    "Severity",
    "SourceBody",
    "SourceKind",
    "Space",
    "SpaceFilter",
    "SpaceKind",
    "SpaceMode",
    "SpaceWish",
    "Start",
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
