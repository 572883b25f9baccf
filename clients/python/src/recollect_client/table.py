"""The operations of the server and their arguments. Generated from the OpenAPI
document: do not edit.

An argument that is left out is not sent. In a change, None clears a field.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Required, TypedDict

from recollect_client import models
from recollect_client.values import Operation


class AddAliasArguments(TypedDict, total=False):
    """Say what a person is also called."""

    value: Required[str]
    kind: models.AliasKind | str
    provider: str | None


class AddRelationshipArguments(TypedDict, total=False):
    """Say what a person is to the caller, or to somebody else."""

    relationship: Required[str]
    to_person_id: str | None


class AdminCreateApiKeyArguments(TypedDict, total=False):
    """Make an API key for a client."""

    client_id: Required[str]
    justification: str
    expires_at: datetime | str | None
    name: str | None


class AdminDeleteConversationArguments(TypedDict, total=False):
    """Soft-delete the whole tree of a conversation."""

    justification: str


class AdminEvictArguments(TypedDict, total=False):
    """Remove for good what was soft-deleted longer ago than a period."""

    resource_types: Required[Sequence[models.EvictedResource | str]]
    retention_period: Required[str]
    justification: str


class AdminGetConversationArguments(TypedDict, total=False):
    """Get anybody's conversation, a soft-deleted one too."""

    justification: str


class AdminGetHealthArguments(TypedDict, total=False):
    """Get the state of the server in detail."""

    justification: str


class AdminListApiKeysArguments(TypedDict, total=False):
    """List the API keys that were made, the newest first, without the keys themselves."""

    limit: int
    after: str
    justification: str


class AdminListConversationsArguments(TypedDict, total=False):
    """List anybody's conversations, soft-deleted ones on request."""

    mode: models.ListMode | str
    user_id: str
    include_deleted: bool
    only_deleted: bool
    deleted_after: datetime | str
    deleted_before: datetime | str
    limit: int
    after: str
    justification: str


class AdminListEntriesArguments(TypedDict, total=False):
    """List the entries of a conversation, every client's memory included."""

    channel: models.Channel | str
    epoch: models.EpochWord | str | int
    forks: models.ForkFilter | str
    order: models.EntryOrder | str
    tail: int
    limit: int
    after: str
    justification: str


class AdminListEventsArguments(TypedDict, total=False):
    """List the audit log, the newest event first."""

    kind: models.EventKind | str
    action: str
    actor_user_id: str
    target_user_id: str
    conversation_id: str
    since: datetime | str
    to: datetime | str
    limit: int
    after: str
    justification: str


class AdminListForksArguments(TypedDict, total=False):
    """List every conversation of a tree, soft-deleted ones too."""

    limit: int
    after: str
    justification: str


class AdminListMembershipsArguments(TypedDict, total=False):
    """List who belongs to the tree of a conversation."""

    limit: int
    after: str
    justification: str


class AdminRestoreConversationArguments(TypedDict, total=False):
    """Restore a soft-deleted tree."""

    justification: str


class AdminRevokeApiKeyArguments(TypedDict, total=False):
    """Revoke an API key."""

    justification: str


class AdminSearchConversationsArguments(TypedDict, total=False):
    """Search anybody's conversations, soft-deleted ones on request."""

    query: Required[str]
    justification: str
    after: str | None
    group_by_conversation: bool | None
    include_deleted: bool | None
    include_entry: bool | None
    limit: int | None
    search_type: models.EntrySearchType | str | None
    user_id: str | None


class AppendEntryOptions(TypedDict, total=False):
    """Append an entry: what may be said beside `content`, `role`."""

    channel: models.Channel | str | None
    content_type: str | None
    forked_at_conversation_id: str | None
    forked_at_entry_id: str | None
    indexed_content: str | None
    user_id: str | None


class AppendEntryArguments(AppendEntryOptions, total=False):
    """Append an entry."""

    content: Required[Sequence[Any] | str]
    role: str | None


class ApproveArguments(TypedDict, total=False):
    """Grant a request: the memory's expiry is set as asked."""

    justification: str


class BatchMemoriesArguments(TypedDict, total=False):
    """Write, change and delete many memories."""

    items: Required[Sequence[models.BatchItem | Mapping[str, Any]]]
    atomic: bool


class CollectMemoriesArguments(TypedDict, total=False):
    """Tidy up: purge what expired longer ago than the grace period, archive where a space has more than `memory.max_entries`, compact."""

    dry_run: Required[bool]
    justification: str
    older_than_days: int | None


class CompactMemoriesArguments(TypedDict, total=False):
    """Take the text out of memories that were superseded or archived long enough ago; ids, times and links stay."""

    dry_run: Required[bool]
    justification: str
    older_than_days: int | None


class CompleteRunArguments(TypedDict, total=False):
    """End a run."""

    status: Required[models.RunEnding | str]
    error: str | None


class CreateConversationArguments(TypedDict, total=False):
    """Create a conversation owned by the caller."""

    metadata: Mapping[str, Any] | None
    title: str | None


class CreateMemoryOptions(TypedDict, total=False):
    """Write a memory: what may be said beside `content`, `key`, `messages`, `value`."""

    agent_id: str | None
    agent_slug: str | None
    chat_id: str | None
    expires_at: datetime | str | None
    extract: bool | None
    id: str | None
    learned_in: str | None
    memory_id: str | None
    metadata: Mapping[str, Any] | None
    observed_at: datetime | str | None
    on_conflict: models.OnConflict | str | None
    pii_tags: Sequence[models.PiiTag | str] | None
    portable: bool | None
    request_approval: bool | None
    retention_policy: str | None
    run_id: str | None
    scope: models.MemoryScope | str | None
    sensitivity: models.Sensitivity | str | None
    source_entries: Sequence[str] | None
    space: models.SpaceWish | Mapping[str, Any] | None
    stated_by: str | None
    subjects: Sequence[str] | None
    supersedes: Sequence[str] | None
    tags: Sequence[str] | None
    time_zone: str | None
    ttl_seconds: int | None
    type: models.MemoryType | str | None
    valid_from: datetime | str | None
    valid_until: datetime | str | None
    visibility: models.Visibility | str | None
    wait: models.WaitFor | str | None
    wait_seconds: int | None


class CreateMemoryArguments(CreateMemoryOptions, total=False):
    """Write a memory."""

    content: str | None
    key: str | None
    messages: str | Sequence[models.Message | Mapping[str, Any]] | None
    value: Mapping[str, Any] | None


class CreateOwnershipTransferArguments(TypedDict, total=False):
    """Offer the ownership of a tree to one of its members."""

    conversation_id: Required[str]
    new_owner_user_id: Required[str]


class CreatePersonArguments(TypedDict, total=False):
    """Make somebody known in the caller's orgs, with what the caller claims of them."""

    name: Required[str]
    aliases: Sequence[models.AliasBody | Mapping[str, Any]] | None
    metadata: Mapping[str, Any] | None
    relationships: Sequence[models.RelationshipBody | Mapping[str, Any]] | None


class DeleteAgentArguments(TypedDict, total=False):
    """Remove an agent; what becomes of its memories must be said if it has any."""

    memories: models.MemoriesOfRemovedAgent | str


class DeleteMemoryArguments(TypedDict, total=False):
    """Delete a memory with its versions."""

    agent_id: str


class DeleteParticipantArguments(TypedDict, total=False):
    """End a stay: one's own, or as the creator or an admin anybody's."""

    kind: models.ParticipantKind | str


class DenyArguments(TypedDict, total=False):
    """Refuse a request: the memory stays as it is."""

    justification: str


class EraseArguments(TypedDict, total=False):
    """Erase a person or a user everywhere."""

    dry_run: Required[bool]
    block_relearn: bool
    justification: str | None
    person_id: str | None
    user_id: str | None


class ExamineMemoriesArguments(TypedDict, total=False):
    """Look for what is wrong in what is stored: ids of the rows, by check."""

    justification: str
    checks: Sequence[models.DoctorCheckName | str] | None
    repair: bool
    with_model: bool


class ExpireMemoriesArguments(TypedDict, total=False):
    """Remove every memory that is past its expiry now, without grace."""

    dry_run: Required[bool]
    justification: str
    scope: models.MemoryScope | str | None


class ExplainMemoryArguments(TypedDict, total=False):
    """Explain why a memory is shown."""

    chat_id: str
    query: str
    as_user: str


class ExportMemoriesArguments(TypedDict, total=False):
    """Export memories with what they refer to, one JSON object a line, in an order that never changes."""

    agent_id: str
    spaces: Sequence[str]
    visibility: models.Visibility | str
    scope: models.MemoryScope | str
    run_id: str
    user_id: str
    chat_id: str
    asker_id: str
    key: str
    tags: Sequence[str]
    types: Sequence[models.MemoryType | str]
    subjects: Sequence[str]
    stated_by: str
    sensitivity: models.Sensitivity | str
    status: models.MemoryStatusFilter | str
    include_expired: bool
    created_after: datetime | str
    created_before: datetime | str
    valid_at: datetime | str
    as_of: datetime | str
    include: models.IncludedField | str
    justification: str


class FindPathArguments(TypedDict, total=False):
    """Find a shortest way between two entities, over relations that the caller may see."""

    since: Required[str]
    to: Required[str]
    max_hops: int


class ForkConversationArguments(TypedDict, total=False):
    """Fork a conversation at an entry."""

    title: str | None


class GetEntityArguments(TypedDict, total=False):
    """Get an entity and what lies around it, nearest first."""

    hops: int
    chat_id: str
    as_of: datetime | str
    valid_at: datetime | str
    limit: int


class GetHistoryArguments(TypedDict, total=False):
    """Get all versions of a memory and of what it replaced, breadth first."""

    limit: int
    after: str


class GetMemoryArguments(TypedDict, total=False):
    """Get a memory, or with `as_of` the version of that instant."""

    chat_id: str
    include: models.IncludedField | str
    as_of: datetime | str
    include_expired: bool


class GetPersonArguments(TypedDict, total=False):
    """Get a person; an id that was merged away answers with the person it leads to."""

    as_of: datetime | str


class ImportMemoriesOptions(TypedDict, total=False):
    """Import lines of an export: what may be said beside `dry_run`."""

    mode: models.ImportMode | str
    justification: str


class ImportMemoriesArguments(ImportMemoriesOptions, total=False):
    """Import lines of an export."""

    dry_run: Required[bool]


class IndexEntriesArguments(TypedDict, total=False):
    """Give history entries the texts that search shall find them by."""

    items: Required[Sequence[models.IndexItem | Mapping[str, Any]]]


class ListAgentsArguments(TypedDict, total=False):
    """List the agents of the caller's orgs and those that the caller owns: the newest first, or by match with `query`."""

    query: str
    owner_id: str
    limit: int
    after: str


class ListApprovalsArguments(TypedDict, total=False):
    """List the caller's own requests, the newest first; an admin sees all."""

    status: models.ApprovalStatus | str
    limit: int
    after: str


class ListChatsArguments(TypedDict, total=False):
    """List the chats where the caller takes part, conversations among them, the newest first."""

    limit: int
    after: str


class ListConversationsArguments(TypedDict, total=False):
    """List the caller's conversations, the most recently updated first."""

    mode: models.ListMode | str
    query: str
    limit: int
    after: str


class ListDuplicatePeopleArguments(TypedDict, total=False):
    """List pairs of people who may be one, among those whom the caller may change."""

    limit: int
    after: str


class ListEntitiesArguments(TypedDict, total=False):
    """List the entities that memories name which the caller may read, the latest to appear first."""

    query: str
    kind: models.EntityKind | str
    limit: int
    after: str


class ListEntriesArguments(TypedDict, total=False):
    """List the entries of a conversation by position, inherited ones included."""

    channel: models.Channel | str
    epoch: models.EpochWord | str | int
    forks: models.ForkFilter | str
    order: models.EntryOrder | str
    tail: int
    limit: int
    after: str


class ListEventsArguments(TypedDict, total=False):
    """List what happened in the caller's own spaces, the newest first; an auditor sees all."""

    event_type: str
    memory_id: str
    agent_id: str
    run_id: str
    since: datetime | str
    to: datetime | str
    justification: str
    limit: int
    after: str


class ListForksArguments(TypedDict, total=False):
    """List every conversation of the tree, the root first."""

    limit: int
    after: str


class ListMembershipsArguments(TypedDict, total=False):
    """List who belongs to the tree of a conversation."""

    limit: int
    after: str


class ListMemoriesArguments(TypedDict, total=False):
    """List memories, the newest first."""

    agent_id: str
    spaces: Sequence[str]
    visibility: models.Visibility | str
    scope: models.MemoryScope | str
    run_id: str
    user_id: str
    chat_id: str
    asker_id: str
    key: str
    tags: Sequence[str]
    types: Sequence[models.MemoryType | str]
    subjects: Sequence[str]
    stated_by: str
    sensitivity: models.Sensitivity | str
    status: models.MemoryStatus | str
    include_expired: bool
    created_after: datetime | str
    created_before: datetime | str
    valid_at: datetime | str
    as_of: datetime | str
    limit: int
    after: str


class ListOwnershipTransfersArguments(TypedDict, total=False):
    """List the pending transfers that the caller takes part in, the newest first."""

    role: str
    limit: int
    after: str


class ListParticipantsArguments(TypedDict, total=False):
    """List who takes part, by when they joined."""

    include_left: bool
    limit: int
    after: str


class ListPeopleArguments(TypedDict, total=False):
    """List the people whose names the caller may see: the newest first, or with `query` those with it in their name or in an alias that the caller may see, the closest first."""

    query: str
    as_of: datetime | str
    limit: int
    after: str


class ListPersonMemoriesArguments(TypedDict, total=False):
    """List what spaces of users and chats hold about a person, as far as it may be told to the caller here, the newest first."""

    exclude_owner_user_id: str
    chat_id: str
    asker_id: str
    key: str
    tags: Sequence[str]
    types: Sequence[models.MemoryType | str]
    stated_by: str
    sensitivity: models.Sensitivity | str
    status: models.MemoryStatus | str
    include_expired: bool
    created_after: datetime | str
    created_before: datetime | str
    valid_at: datetime | str
    as_of: datetime | str
    limit: int
    after: str


class ListQuarantineArguments(TypedDict, total=False):
    """List memories that were set aside because their text looks like orders to the assistant, the newest first."""

    agent_id: str
    spaces: Sequence[str]
    visibility: models.Visibility | str
    scope: models.MemoryScope | str
    run_id: str
    user_id: str
    key: str
    tags: Sequence[str]
    types: Sequence[models.MemoryType | str]
    subjects: Sequence[str]
    stated_by: str
    sensitivity: models.Sensitivity | str
    include_expired: bool
    created_after: datetime | str
    created_before: datetime | str
    limit: int
    after: str


class ListRunsArguments(TypedDict, total=False):
    """List the runs that the caller may see, the latest start first."""

    agent_id: str
    status: models.RunStatus | str
    limit: int
    after: str


class ListUnindexedArguments(TypedDict, total=False):
    """List history entries that have no text to be found by, the oldest first."""

    limit: int
    cursor: str
    after: str


class MergePeopleArguments(TypedDict, total=False):
    """Make one person of two."""

    primary_id: Required[str]
    secondary_id: Required[str]
    dry_run: bool | None
    link_users: bool | None


class MoveMemoryArguments(TypedDict, total=False):
    """Move a memory to another space, under a new id."""

    space: models.SpaceWish | Mapping[str, Any] | None
    visibility: models.Visibility | str | None


class PreviewRetentionArguments(TypedDict, total=False):
    """When such a memory would expire, by which rule, and whether a longer wish was cut."""

    scope: Required[models.MemoryScope | str]
    created_at: datetime | str | None
    pii_tags: Sequence[str] | None
    retention_policy: str | None
    ttl_seconds: int | None
    type: models.MemoryType | str | None


class PutChatOptions(TypedDict, total=False):
    """Make a chat (201) or change it (200): what may be said beside `kind`."""

    provider: str | None
    title: str | None


class PutChatArguments(PutChatOptions, total=False):
    """Make a chat (201) or change it (200)."""

    kind: Required[models.ChatKind | str]


class PutParticipantOptions(TypedDict, total=False):
    """Bring a user, person or agent in; who takes part already stays as is: what may be said beside `kind`."""

    confirmed: bool | None
    joined_at: datetime | str | None


class PutParticipantArguments(PutParticipantOptions, total=False):
    """Bring a user, person or agent in; who takes part already stays as is."""

    kind: Required[models.ParticipantKind | str]


class RecallMemoriesOptions(TypedDict, total=False):
    """Recall what an agent should be told now, as a block for its prompt of at most `token_budget` tokens: what may be said beside `query`."""

    agent_id: str | None
    as_of: datetime | str | None
    asker_id: str | None
    chat_id: str | None
    created_after: datetime | str | None
    created_before: datetime | str | None
    format: models.RecallFormat | str
    include_expired: bool
    include_people: bool
    key: str | None
    max_items: int
    messages: str | Sequence[models.Message | Mapping[str, Any]] | None
    run_id: str | None
    scope: models.MemoryScope | str | None
    sensitivity: models.Sensitivity | str | None
    spaces: Sequence[models.SpaceFilter | Mapping[str, Any]] | Literal["all"] | None
    stated_by: str | None
    status: models.MemoryStatus | str
    subjects: Sequence[str] | None
    tags: Sequence[str] | None
    token_budget: int
    types: Sequence[models.MemoryType | str] | None
    user_id: str | None
    valid_at: datetime | str | None
    visibility: models.Visibility | str | None


class RecallMemoriesArguments(RecallMemoriesOptions, total=False):
    """Recall what an agent should be told now, as a block for its prompt of at most `token_budget` tokens."""

    query: str | None


class RegisterAgentArguments(TypedDict, total=False):
    """Register an agent."""

    description: str | None
    id: str | None
    metadata: Mapping[str, Any] | None
    name: str | None
    org_id: str | None
    owner_id: str | None
    space_mode: models.SpaceMode | str | None


class RejectMemoryArguments(TypedDict, total=False):
    """Remove a quarantined memory for good."""

    note: str | None


class ReleaseMemoryArguments(TypedDict, total=False):
    """Let a quarantined memory in."""

    note: str | None


class ResolvePersonArguments(TypedDict, total=False):
    """Whom a name means when the caller says it, in a chat or outside."""

    name: Required[str]
    chat_id: str | None


class RollBackArguments(TypedDict, total=False):
    """Archive every memory that came from a source, straight or through other memories, and make active again what they had replaced."""

    dry_run: Required[bool]
    source: Required[models.SourceBody | Mapping[str, Any]]
    justification: str | None
    since: datetime | str | None
    until: datetime | str | None


class SearchConversationsOptions(TypedDict, total=False):
    """Search the history of the caller's conversations, by words, by meaning or by both: what may be said beside `query`."""

    after: str | None
    group_by_conversation: bool | None
    include_entry: bool | None
    limit: int | None
    search_type: models.EntrySearchType | str | None


class SearchConversationsArguments(SearchConversationsOptions, total=False):
    """Search the history of the caller's conversations, by words, by meaning or by both."""

    query: Required[str]


class SearchMemoriesOptions(TypedDict, total=False):
    """Search memories by words, by meaning, by the people and the times that a query names: what may be said beside `query`."""

    after: str | None
    agent_id: str | None
    as_of: datetime | str | None
    asker_id: str | None
    chat_id: str | None
    created_after: datetime | str | None
    created_before: datetime | str | None
    explain: bool
    include_expired: bool
    key: str | None
    limit: int
    min_score: float | None
    mode: models.EntrySearchType | str
    run_id: str | None
    scope: models.MemoryScope | str | None
    sensitivity: models.Sensitivity | str | None
    spaces: Sequence[models.SpaceFilter | Mapping[str, Any]] | Literal["all"] | None
    stated_by: str | None
    status: models.MemoryStatus | str
    subjects: Sequence[str] | None
    tags: Sequence[str] | None
    types: Sequence[models.MemoryType | str] | None
    user_id: str | None
    valid_at: datetime | str | None
    visibility: models.Visibility | str | None


class SearchMemoriesArguments(SearchMemoriesOptions, total=False):
    """Search memories by words, by meaning, by the people and the times that a query names."""

    query: Required[str]


class SetAgentOwnerArguments(TypedDict, total=False):
    """Hand an agent to another owner, and with it the agent's private memories."""

    owner_id: Required[str]


class ShareConversationArguments(TypedDict, total=False):
    """Share the tree of a conversation."""

    access_level: Required[models.AccessLevel | str]
    user_id: Required[str]
    confirmed: bool | None


class StartRunArguments(TypedDict, total=False):
    """Start a run."""

    agent_id: Required[str]
    id: str | None
    metadata: Mapping[str, Any] | None
    parent_run_id: str | None


class SyncEntriesOptions(TypedDict, total=False):
    """Make a client's memory equal to a list: what may be said beside `content`."""

    content_type: Required[str]
    channel: models.Channel | str | None
    forked_at_conversation_id: str | None
    forked_at_entry_id: str | None
    indexed_content: str | None
    user_id: str | None


class SyncEntriesArguments(SyncEntriesOptions, total=False):
    """Make a client's memory equal to a list."""

    content: Required[Sequence[Any]]


class UndoRollbackArguments(TypedDict, total=False):
    """Give rows back what a rollback took from them."""

    justification: str | None


class UnmergePeopleArguments(TypedDict, total=False):
    """Undo a merge: what it moved goes back, as far as it is still there."""

    secondary_id: Required[str]


class UpdateAgentArguments(TypedDict, total=False):
    """Change an agent."""

    description: str | None
    metadata: Mapping[str, Any] | None
    name: str | None
    space_mode: models.SpaceMode | str | None


class UpdateConversationArguments(TypedDict, total=False):
    """Change title and metadata of a conversation."""

    metadata: Mapping[str, Any] | None
    title: str | None


class UpdateMembershipArguments(TypedDict, total=False):
    """Change a member's level."""

    access_level: Required[models.AccessLevel | str]


class UpdateMemoryArguments(TypedDict, total=False):
    """Change a memory; earlier versions stay in its history."""

    content: str | None
    expires_at: datetime | str | None
    metadata: Mapping[str, Any] | None
    pii_tags: Sequence[models.PiiTag | str] | None
    portable: bool | None
    retention_policy: str | None
    sensitivity: models.Sensitivity | str | None
    subjects: Sequence[str] | None
    tags: Sequence[str] | None
    ttl_seconds: int | None
    type: models.MemoryType | str | None
    valid_from: datetime | str | None
    valid_until: datetime | str | None
    value: Mapping[str, Any] | None
    version: int | None


class UpdatePersonArguments(TypedDict, total=False):
    """Change a person."""

    metadata: Mapping[str, Any] | None
    name: str | None
    time_zone: str | None


class VacuumMemoriesArguments(TypedDict, total=False):
    """Remove memories that expired longer ago than the grace period, and records older than `older_than_days` that neither a live policy nor an expiry of their own keeps."""

    dry_run: Required[bool]
    justification: str
    older_than_days: int
    scope: models.MemoryScope | str | None


class VerifyErasureArguments(TypedDict, total=False):
    """Search everything once more for the given names, within 30 days."""

    identifiers: Required[Sequence[str]]


OPERATIONS: dict[str, Operation] = {
    "acceptOwnershipTransfer": Operation(
        "acceptOwnershipTransfer",
        "POST",
        "/v1/ownership-transfers/{transferId}/accept",
        takes_key=True,
    ),
    "addAlias": Operation(
        "addAlias",
        "POST",
        "/v1/people/{person_id}/aliases",
        response=models.Alias,
        body={"value": "value", "kind": "kind", "provider": "provider"},
        takes_key=True,
    ),
    "addRelationship": Operation(
        "addRelationship",
        "POST",
        "/v1/people/{person_id}/relationships",
        response=models.Relationship,
        body={"relationship": "relationship", "to_person_id": "to_person_id"},
        takes_key=True,
    ),
    "adminCreateApiKey": Operation(
        "adminCreateApiKey",
        "POST",
        "/v1/admin/api-keys",
        response=models.NewApiKey,
        query={"justification": "justification"},
        body={"client_id": "clientId", "expires_at": "expiresAt", "name": "name"},
    ),
    "adminDeleteConversation": Operation(
        "adminDeleteConversation",
        "DELETE",
        "/v1/admin/conversations/{id}",
        query={"justification": "justification"},
    ),
    "adminEvict": Operation(
        "adminEvict",
        "POST",
        "/v1/admin/evict",
        query={"justification": "justification"},
        body={"resource_types": "resourceTypes", "retention_period": "retentionPeriod"},
    ),
    "adminGetConversation": Operation(
        "adminGetConversation",
        "GET",
        "/v1/admin/conversations/{id}",
        response=models.AdminConversation,
        query={"justification": "justification"},
    ),
    "adminGetHealth": Operation(
        "adminGetHealth",
        "GET",
        "/v1/admin/health",
        response=models.HealthReport,
        query={"justification": "justification"},
    ),
    "adminListApiKeys": Operation(
        "adminListApiKeys",
        "GET",
        "/v1/admin/api-keys",
        response=models.ApiKeyPage,
        query={"limit": "limit", "after": "after", "justification": "justification"},
    ),
    "adminListConversations": Operation(
        "adminListConversations",
        "GET",
        "/v1/admin/conversations",
        response=models.AdminConversationSummaryList,
        query={
            "mode": "mode",
            "user_id": "userId",
            "include_deleted": "includeDeleted",
            "only_deleted": "onlyDeleted",
            "deleted_after": "deletedAfter",
            "deleted_before": "deletedBefore",
            "limit": "limit",
            "after": "after",
            "justification": "justification",
        },
    ),
    "adminListEntries": Operation(
        "adminListEntries",
        "GET",
        "/v1/admin/conversations/{id}/entries",
        response=models.AdminEntryPage,
        query={
            "channel": "channel",
            "epoch": "epoch",
            "forks": "forks",
            "order": "order",
            "tail": "tail",
            "limit": "limit",
            "after": "after",
            "justification": "justification",
        },
    ),
    "adminListEvents": Operation(
        "adminListEvents",
        "GET",
        "/v1/admin/events",
        response=models.EventPage,
        query={
            "kind": "kind",
            "action": "action",
            "actor_user_id": "actorUserId",
            "target_user_id": "targetUserId",
            "conversation_id": "conversationId",
            "since": "from",
            "to": "to",
            "limit": "limit",
            "after": "after",
            "justification": "justification",
        },
    ),
    "adminListForks": Operation(
        "adminListForks",
        "GET",
        "/v1/admin/conversations/{id}/forks",
        response=models.ForkList,
        query={"limit": "limit", "after": "after", "justification": "justification"},
    ),
    "adminListMemberships": Operation(
        "adminListMemberships",
        "GET",
        "/v1/admin/conversations/{id}/memberships",
        response=models.MembershipList,
        query={"limit": "limit", "after": "after", "justification": "justification"},
    ),
    "adminRestoreConversation": Operation(
        "adminRestoreConversation",
        "POST",
        "/v1/admin/conversations/{id}/restore",
        response=models.AdminConversation,
        query={"justification": "justification"},
    ),
    "adminRevokeApiKey": Operation(
        "adminRevokeApiKey",
        "DELETE",
        "/v1/admin/api-keys/{keyId}",
        query={"justification": "justification"},
    ),
    "adminSearchConversations": Operation(
        "adminSearchConversations",
        "POST",
        "/v1/admin/conversations/search",
        response=models.AdminSearchResultPage,
        query={"justification": "justification"},
        body={
            "query": "query",
            "after": "after",
            "group_by_conversation": "groupByConversation",
            "include_deleted": "includeDeleted",
            "include_entry": "includeEntry",
            "limit": "limit",
            "search_type": "searchType",
            "user_id": "userId",
        },
    ),
    "appendEntry": Operation(
        "appendEntry",
        "POST",
        "/v1/conversations/{id}/entries",
        response=models.Entry,
        body={
            "content": "content",
            "channel": "channel",
            "content_type": "contentType",
            "forked_at_conversation_id": "forkedAtConversationId",
            "forked_at_entry_id": "forkedAtEntryId",
            "indexed_content": "indexedContent",
            "role": "role",
            "user_id": "userId",
        },
        takes_key=True,
    ),
    "approve": Operation(
        "approve",
        "POST",
        "/v1/approvals/{approval_id}/approve",
        response=models.Approval,
        query={"justification": "justification"},
        takes_key=True,
    ),
    "batchMemories": Operation(
        "batchMemories",
        "POST",
        "/v1/memories/batch",
        response=models.BatchResults,
        body={"items": "items", "atomic": "atomic"},
        takes_key=True,
    ),
    "cancelResponse": Operation("cancelResponse", "DELETE", "/v1/conversations/{id}/response"),
    "collectMemories": Operation(
        "collectMemories",
        "POST",
        "/v1/admin/gc",
        response=models.TidyReport,
        query={"justification": "justification"},
        body={"dry_run": "dry_run", "older_than_days": "older_than_days"},
        takes_key=True,
    ),
    "compactMemories": Operation(
        "compactMemories",
        "POST",
        "/v1/admin/compact",
        response=models.TidyReport,
        query={"justification": "justification"},
        body={"dry_run": "dry_run", "older_than_days": "older_than_days"},
        takes_key=True,
    ),
    "completeRun": Operation(
        "completeRun",
        "POST",
        "/v1/runs/{run_id}/complete",
        response=models.RunCompletion,
        body={"status": "status", "error": "error"},
        takes_key=True,
    ),
    "createConversation": Operation(
        "createConversation",
        "POST",
        "/v1/conversations",
        response=models.Conversation,
        body={"metadata": "metadata", "title": "title"},
        takes_key=True,
    ),
    "createMemory": Operation(
        "createMemory",
        "POST",
        "/v1/memories",
        response=models.WriteResult,
        body={
            "agent_id": "agent_id",
            "agent_slug": "agent_slug",
            "chat_id": "chat_id",
            "content": "content",
            "expires_at": "expires_at",
            "extract": "extract",
            "id": "id",
            "key": "key",
            "learned_in": "learned_in",
            "memory_id": "memory_id",
            "messages": "messages",
            "metadata": "metadata",
            "observed_at": "observed_at",
            "on_conflict": "on_conflict",
            "pii_tags": "pii_tags",
            "portable": "portable",
            "request_approval": "request_approval",
            "retention_policy": "retention_policy",
            "run_id": "run_id",
            "scope": "scope",
            "sensitivity": "sensitivity",
            "source_entries": "source_entries",
            "space": "space",
            "stated_by": "stated_by",
            "subjects": "subjects",
            "supersedes": "supersedes",
            "tags": "tags",
            "time_zone": "time_zone",
            "ttl_seconds": "ttl_seconds",
            "type": "type",
            "valid_from": "valid_from",
            "valid_until": "valid_until",
            "value": "value",
            "visibility": "visibility",
            "wait": "wait",
            "wait_seconds": "wait_seconds",
        },
        takes_key=True,
    ),
    "createOwnershipTransfer": Operation(
        "createOwnershipTransfer",
        "POST",
        "/v1/ownership-transfers",
        response=models.OwnershipTransfer,
        body={"conversation_id": "conversationId", "new_owner_user_id": "newOwnerUserId"},
        takes_key=True,
    ),
    "createPerson": Operation(
        "createPerson",
        "POST",
        "/v1/people",
        response=models.Person,
        body={
            "name": "name",
            "aliases": "aliases",
            "metadata": "metadata",
            "relationships": "relationships",
        },
        takes_key=True,
    ),
    "deleteAgent": Operation(
        "deleteAgent", "DELETE", "/v1/agents/{agent_id}", query={"memories": "memories"}
    ),
    "deleteAlias": Operation("deleteAlias", "DELETE", "/v1/people/{person_id}/aliases/{value}"),
    "deleteConversation": Operation("deleteConversation", "DELETE", "/v1/conversations/{id}"),
    "deleteEntry": Operation("deleteEntry", "DELETE", "/v1/conversations/{id}/entries/{entryId}"),
    "deleteMembership": Operation(
        "deleteMembership", "DELETE", "/v1/conversations/{id}/memberships/{userId}"
    ),
    "deleteMemory": Operation(
        "deleteMemory", "DELETE", "/v1/memories/{memory_id}", query={"agent_id": "agent_id"}
    ),
    "deleteOwnershipTransfer": Operation(
        "deleteOwnershipTransfer", "DELETE", "/v1/ownership-transfers/{transferId}"
    ),
    "deleteParticipant": Operation(
        "deleteParticipant",
        "DELETE",
        "/v1/chats/{chat_id}/participants/{member_id}",
        query={"kind": "kind"},
    ),
    "deletePerson": Operation("deletePerson", "DELETE", "/v1/people/{person_id}"),
    "deleteRelationship": Operation(
        "deleteRelationship", "DELETE", "/v1/people/{person_id}/relationships/{claim_id}"
    ),
    "deny": Operation(
        "deny",
        "POST",
        "/v1/approvals/{approval_id}/deny",
        response=models.Approval,
        query={"justification": "justification"},
        takes_key=True,
    ),
    "erase": Operation(
        "erase",
        "POST",
        "/v1/erasures",
        response=models.EraseReport,
        body={
            "dry_run": "dry_run",
            "block_relearn": "block_relearn",
            "justification": "justification",
            "person_id": "person_id",
            "user_id": "user_id",
        },
        takes_key=True,
    ),
    "examineMemories": Operation(
        "examineMemories",
        "POST",
        "/v1/admin/doctor",
        response=models.DoctorReport,
        query={"justification": "justification"},
        body={"checks": "checks", "repair": "repair", "with_model": "with_model"},
        takes_key=True,
    ),
    "expireMemories": Operation(
        "expireMemories",
        "POST",
        "/v1/admin/expire",
        response=models.ExpireReport,
        query={"justification": "justification"},
        body={"dry_run": "dry_run", "scope": "scope"},
        takes_key=True,
    ),
    "explainMemory": Operation(
        "explainMemory",
        "GET",
        "/v1/memories/{memory_id}/explain",
        response=models.Explanation,
        query={"chat_id": "chat_id", "query": "query", "as_user": "as_user"},
    ),
    "exportMemories": Operation(
        "exportMemories",
        "GET",
        "/v1/export",
        query={
            "agent_id": "agent_id",
            "spaces": "spaces",
            "visibility": "visibility",
            "scope": "scope",
            "run_id": "run_id",
            "user_id": "user_id",
            "chat_id": "chat_id",
            "asker_id": "asker_id",
            "key": "key",
            "tags": "tags",
            "types": "types",
            "subjects": "subjects",
            "stated_by": "stated_by",
            "sensitivity": "sensitivity",
            "status": "status",
            "include_expired": "include_expired",
            "created_after": "created_after",
            "created_before": "created_before",
            "valid_at": "valid_at",
            "as_of": "as_of",
            "include": "include",
            "justification": "justification",
        },
    ),
    "findPath": Operation(
        "findPath",
        "GET",
        "/v1/graph/path",
        response=models.GraphPath,
        query={"since": "from", "to": "to", "max_hops": "max_hops"},
    ),
    "forkConversation": Operation(
        "forkConversation",
        "POST",
        "/v1/conversations/{id}/entries/{entryId}/fork",
        response=models.Conversation,
        body={"title": "title"},
        takes_key=True,
    ),
    "getAdminOpenapi": Operation(
        "getAdminOpenapi", "GET", "/openapi-admin.json", response=models.Document
    ),
    "getAgent": Operation("getAgent", "GET", "/v1/agents/{agent_id}", response=models.Agent),
    "getApproval": Operation(
        "getApproval", "GET", "/v1/approvals/{approval_id}", response=models.Approval
    ),
    "getAsset": Operation("getAsset", "GET", "/assets/{asset}"),
    "getChat": Operation("getChat", "GET", "/v1/chats/{chat_id}", response=models.Chat),
    "getConversation": Operation(
        "getConversation", "GET", "/v1/conversations/{id}", response=models.Conversation
    ),
    "getEntity": Operation(
        "getEntity",
        "GET",
        "/v1/graph/entities/{entity_id}",
        response=models.Neighbourhood,
        query={
            "hops": "hops",
            "chat_id": "chat_id",
            "as_of": "as_of",
            "valid_at": "valid_at",
            "limit": "limit",
        },
    ),
    "getErasure": Operation(
        "getErasure", "GET", "/v1/erasures/{erasure_id}", response=models.EraseReport
    ),
    "getHealth": Operation("getHealth", "GET", "/v1/health", response=models.Health),
    "getHistory": Operation(
        "getHistory",
        "GET",
        "/v1/memories/{memory_id}/history",
        response=models.HistoryItemPage,
        query={"limit": "limit", "after": "after"},
    ),
    "getLlmsText": Operation("getLlmsText", "GET", "/llms.txt"),
    "getMemoriesOpenapi": Operation(
        "getMemoriesOpenapi", "GET", "/openapi-memories.json", response=models.Document
    ),
    "getMemory": Operation(
        "getMemory",
        "GET",
        "/v1/memories/{memory_id}",
        response=models.Memory,
        query={
            "chat_id": "chat_id",
            "include": "include",
            "as_of": "as_of",
            "include_expired": "include_expired",
        },
    ),
    "getMergedOpenapi": Operation(
        "getMergedOpenapi", "GET", "/openapi-merged.json", response=models.Document
    ),
    "getMetrics": Operation("getMetrics", "GET", "/metrics"),
    "getOpenapi": Operation("getOpenapi", "GET", "/openapi.json", response=models.Document),
    "getOwnershipTransfer": Operation(
        "getOwnershipTransfer",
        "GET",
        "/v1/ownership-transfers/{transferId}",
        response=models.OwnershipTransfer,
    ),
    "getPerson": Operation(
        "getPerson",
        "GET",
        "/v1/people/{person_id}",
        response=models.Person,
        query={"as_of": "as_of"},
    ),
    "getReference": Operation("getReference", "GET", "/docs"),
    "getRetentionPolicies": Operation(
        "getRetentionPolicies", "GET", "/v1/retention/policies", response=models.RetentionRules
    ),
    "getRun": Operation("getRun", "GET", "/v1/runs/{run_id}", response=models.Run),
    "getRunLineage": Operation(
        "getRunLineage", "GET", "/v1/runs/{run_id}/lineage", response=models.RunLineage
    ),
    "getStart": Operation("getStart", "GET", "/", response=models.Start),
    "importMemories": Operation(
        "importMemories",
        "POST",
        "/v1/import",
        response=models.ImportReport,
        query={"dry_run": "dry_run", "mode": "mode", "justification": "justification"},
        takes_key=True,
    ),
    "indexEntries": Operation(
        "indexEntries",
        "POST",
        "/v1/conversations/index",
        response=models.IndexOutcome,
        body={"items": ""},
        takes_key=True,
        body_is_list=True,
    ),
    "listAgents": Operation(
        "listAgents",
        "GET",
        "/v1/agents",
        response=models.AgentPage,
        query={"query": "query", "owner_id": "owner_id", "limit": "limit", "after": "after"},
    ),
    "listApprovals": Operation(
        "listApprovals",
        "GET",
        "/v1/approvals",
        response=models.ApprovalPage,
        query={"status": "status", "limit": "limit", "after": "after"},
    ),
    "listChats": Operation(
        "listChats",
        "GET",
        "/v1/chats",
        response=models.ChatPage,
        query={"limit": "limit", "after": "after"},
    ),
    "listConversations": Operation(
        "listConversations",
        "GET",
        "/v1/conversations",
        response=models.ConversationSummaryPage,
        query={"mode": "mode", "query": "query", "limit": "limit", "after": "after"},
    ),
    "listDuplicatePeople": Operation(
        "listDuplicatePeople",
        "GET",
        "/v1/people/duplicates",
        response=models.DuplicatesPage,
        query={"limit": "limit", "after": "after"},
    ),
    "listEntities": Operation(
        "listEntities",
        "GET",
        "/v1/graph/entities",
        response=models.EntityPage,
        query={"query": "query", "kind": "kind", "limit": "limit", "after": "after"},
    ),
    "listEntries": Operation(
        "listEntries",
        "GET",
        "/v1/conversations/{id}/entries",
        response=models.EntryPage,
        query={
            "channel": "channel",
            "epoch": "epoch",
            "forks": "forks",
            "order": "order",
            "tail": "tail",
            "limit": "limit",
            "after": "after",
        },
    ),
    "listEvents": Operation(
        "listEvents",
        "GET",
        "/v1/events",
        response=models.MemoryEventPage,
        query={
            "event_type": "event_type",
            "memory_id": "memory_id",
            "agent_id": "agent_id",
            "run_id": "run_id",
            "since": "from",
            "to": "to",
            "justification": "justification",
            "limit": "limit",
            "after": "after",
        },
    ),
    "listForks": Operation(
        "listForks",
        "GET",
        "/v1/conversations/{id}/forks",
        response=models.ForkList,
        query={"limit": "limit", "after": "after"},
    ),
    "listMemberships": Operation(
        "listMemberships",
        "GET",
        "/v1/conversations/{id}/memberships",
        response=models.MembershipList,
        query={"limit": "limit", "after": "after"},
    ),
    "listMemories": Operation(
        "listMemories",
        "GET",
        "/v1/memories",
        response=models.MemoryPage,
        query={
            "agent_id": "agent_id",
            "spaces": "spaces",
            "visibility": "visibility",
            "scope": "scope",
            "run_id": "run_id",
            "user_id": "user_id",
            "chat_id": "chat_id",
            "asker_id": "asker_id",
            "key": "key",
            "tags": "tags",
            "types": "types",
            "subjects": "subjects",
            "stated_by": "stated_by",
            "sensitivity": "sensitivity",
            "status": "status",
            "include_expired": "include_expired",
            "created_after": "created_after",
            "created_before": "created_before",
            "valid_at": "valid_at",
            "as_of": "as_of",
            "limit": "limit",
            "after": "after",
        },
    ),
    "listOwnershipTransfers": Operation(
        "listOwnershipTransfers",
        "GET",
        "/v1/ownership-transfers",
        response=models.OwnershipTransferList,
        query={"role": "role", "limit": "limit", "after": "after"},
    ),
    "listParticipants": Operation(
        "listParticipants",
        "GET",
        "/v1/chats/{chat_id}/participants",
        response=models.ParticipantPage,
        query={"include_left": "include_left", "limit": "limit", "after": "after"},
    ),
    "listPeople": Operation(
        "listPeople",
        "GET",
        "/v1/people",
        response=models.PersonPage,
        query={"query": "query", "as_of": "as_of", "limit": "limit", "after": "after"},
    ),
    "listPersonMemories": Operation(
        "listPersonMemories",
        "GET",
        "/v1/people/{person_id}/memories",
        response=models.MemoryPage,
        query={
            "exclude_owner_user_id": "exclude_owner_user_id",
            "chat_id": "chat_id",
            "asker_id": "asker_id",
            "key": "key",
            "tags": "tags",
            "types": "types",
            "stated_by": "stated_by",
            "sensitivity": "sensitivity",
            "status": "status",
            "include_expired": "include_expired",
            "created_after": "created_after",
            "created_before": "created_before",
            "valid_at": "valid_at",
            "as_of": "as_of",
            "limit": "limit",
            "after": "after",
        },
    ),
    "listQuarantine": Operation(
        "listQuarantine",
        "GET",
        "/v1/quarantine",
        response=models.QuarantinedMemoryPage,
        query={
            "agent_id": "agent_id",
            "spaces": "spaces",
            "visibility": "visibility",
            "scope": "scope",
            "run_id": "run_id",
            "user_id": "user_id",
            "key": "key",
            "tags": "tags",
            "types": "types",
            "subjects": "subjects",
            "stated_by": "stated_by",
            "sensitivity": "sensitivity",
            "include_expired": "include_expired",
            "created_after": "created_after",
            "created_before": "created_before",
            "limit": "limit",
            "after": "after",
        },
    ),
    "listRuns": Operation(
        "listRuns",
        "GET",
        "/v1/runs",
        response=models.RunPage,
        query={"agent_id": "agent_id", "status": "status", "limit": "limit", "after": "after"},
    ),
    "listUnindexed": Operation(
        "listUnindexed",
        "GET",
        "/v1/conversations/unindexed",
        response=models.UnindexedEntryPage,
        query={"limit": "limit", "cursor": "cursor", "after": "after"},
    ),
    "mergePeople": Operation(
        "mergePeople",
        "POST",
        "/v1/people/merge",
        response=models.MergedPeople,
        body={
            "primary_id": "primary_id",
            "secondary_id": "secondary_id",
            "dry_run": "dry_run",
            "link_users": "link_users",
        },
        takes_key=True,
    ),
    "moveMemory": Operation(
        "moveMemory",
        "POST",
        "/v1/memories/{memory_id}/move",
        response=models.WriteResult,
        body={"space": "space", "visibility": "visibility"},
        takes_key=True,
    ),
    "previewRetention": Operation(
        "previewRetention",
        "POST",
        "/v1/retention/preview",
        response=models.ExpiryPreview,
        body={
            "scope": "scope",
            "created_at": "created_at",
            "pii_tags": "pii_tags",
            "retention_policy": "retention_policy",
            "ttl_seconds": "ttl_seconds",
            "type": "type",
        },
        only_reads=True,
    ),
    "putChat": Operation(
        "putChat",
        "PUT",
        "/v1/chats/{chat_id}",
        response=models.Chat,
        body={"kind": "kind", "provider": "provider", "title": "title"},
    ),
    "putParticipant": Operation(
        "putParticipant",
        "PUT",
        "/v1/chats/{chat_id}/participants/{member_id}",
        response=models.Participant,
        body={"kind": "kind", "confirmed": "confirmed", "joined_at": "joined_at"},
    ),
    "recallMemories": Operation(
        "recallMemories",
        "POST",
        "/v1/memories/recall",
        response=models.Recall,
        body={
            "agent_id": "agent_id",
            "as_of": "as_of",
            "asker_id": "asker_id",
            "chat_id": "chat_id",
            "created_after": "created_after",
            "created_before": "created_before",
            "format": "format",
            "include_expired": "include_expired",
            "include_people": "include_people",
            "key": "key",
            "max_items": "max_items",
            "messages": "messages",
            "query": "query",
            "run_id": "run_id",
            "scope": "scope",
            "sensitivity": "sensitivity",
            "spaces": "spaces",
            "stated_by": "stated_by",
            "status": "status",
            "subjects": "subjects",
            "tags": "tags",
            "token_budget": "token_budget",
            "types": "types",
            "user_id": "user_id",
            "valid_at": "valid_at",
            "visibility": "visibility",
        },
        only_reads=True,
    ),
    "recordResponse": Operation(
        "recordResponse", "POST", "/v1/conversations/{id}/response", response=models.RecordOutcome
    ),
    "registerAgent": Operation(
        "registerAgent",
        "POST",
        "/v1/agents",
        response=models.Agent,
        body={
            "description": "description",
            "id": "id",
            "metadata": "metadata",
            "name": "name",
            "org_id": "org_id",
            "owner_id": "owner_id",
            "space_mode": "space_mode",
        },
        takes_key=True,
    ),
    "rejectMemory": Operation(
        "rejectMemory",
        "POST",
        "/v1/quarantine/{memory_id}/reject",
        body={"note": "note"},
        takes_key=True,
    ),
    "releaseMemory": Operation(
        "releaseMemory",
        "POST",
        "/v1/quarantine/{memory_id}/release",
        response=models.Memory,
        body={"note": "note"},
        takes_key=True,
    ),
    "replayResponse": Operation("replayResponse", "GET", "/v1/conversations/{id}/response"),
    "resolvePerson": Operation(
        "resolvePerson",
        "POST",
        "/v1/people/resolve",
        response=models.ResolvedName,
        body={"name": "name", "chat_id": "chat_id"},
        only_reads=True,
    ),
    "rollBack": Operation(
        "rollBack",
        "POST",
        "/v1/rollbacks",
        response=models.RollbackReport,
        body={
            "dry_run": "dry_run",
            "source": "source",
            "justification": "justification",
            "since": "since",
            "until": "until",
        },
        takes_key=True,
    ),
    "searchConversations": Operation(
        "searchConversations",
        "POST",
        "/v1/conversations/search",
        response=models.SearchResultPage,
        body={
            "query": "query",
            "after": "after",
            "group_by_conversation": "groupByConversation",
            "include_entry": "includeEntry",
            "limit": "limit",
            "search_type": "searchType",
        },
        only_reads=True,
    ),
    "searchMemories": Operation(
        "searchMemories",
        "POST",
        "/v1/memories/search",
        response=models.MemoryHits,
        body={
            "query": "query",
            "after": "after",
            "agent_id": "agent_id",
            "as_of": "as_of",
            "asker_id": "asker_id",
            "chat_id": "chat_id",
            "created_after": "created_after",
            "created_before": "created_before",
            "explain": "explain",
            "include_expired": "include_expired",
            "key": "key",
            "limit": "limit",
            "min_score": "min_score",
            "mode": "mode",
            "run_id": "run_id",
            "scope": "scope",
            "sensitivity": "sensitivity",
            "spaces": "spaces",
            "stated_by": "stated_by",
            "status": "status",
            "subjects": "subjects",
            "tags": "tags",
            "types": "types",
            "user_id": "user_id",
            "valid_at": "valid_at",
            "visibility": "visibility",
        },
        only_reads=True,
    ),
    "setAgentOwner": Operation(
        "setAgentOwner",
        "PUT",
        "/v1/agents/{agent_id}/owner",
        response=models.Agent,
        body={"owner_id": "owner_id"},
    ),
    "shareConversation": Operation(
        "shareConversation",
        "POST",
        "/v1/conversations/{id}/memberships",
        response=models.Membership,
        body={"access_level": "accessLevel", "user_id": "userId", "confirmed": "confirmed"},
        takes_key=True,
    ),
    "startRun": Operation(
        "startRun",
        "POST",
        "/v1/runs",
        response=models.Run,
        body={
            "agent_id": "agent_id",
            "id": "id",
            "metadata": "metadata",
            "parent_run_id": "parent_run_id",
        },
        takes_key=True,
    ),
    "syncEntries": Operation(
        "syncEntries",
        "POST",
        "/v1/conversations/{id}/entries/sync",
        response=models.SyncOutcome,
        body={
            "content": "content",
            "content_type": "contentType",
            "channel": "channel",
            "forked_at_conversation_id": "forkedAtConversationId",
            "forked_at_entry_id": "forkedAtEntryId",
            "indexed_content": "indexedContent",
            "user_id": "userId",
        },
        takes_key=True,
    ),
    "undoRollback": Operation(
        "undoRollback",
        "POST",
        "/v1/rollbacks/{rollback_id}/undo",
        response=models.RollbackReport,
        body={"justification": "justification"},
        takes_key=True,
    ),
    "unmergePeople": Operation(
        "unmergePeople",
        "POST",
        "/v1/people/{person_id}/unmerge",
        response=models.MergedPeople,
        body={"secondary_id": "secondary_id"},
        takes_key=True,
    ),
    "updateAgent": Operation(
        "updateAgent",
        "PATCH",
        "/v1/agents/{agent_id}",
        response=models.Agent,
        body={
            "description": "description",
            "metadata": "metadata",
            "name": "name",
            "space_mode": "space_mode",
        },
    ),
    "updateConversation": Operation(
        "updateConversation",
        "PATCH",
        "/v1/conversations/{id}",
        response=models.Conversation,
        body={"metadata": "metadata", "title": "title"},
    ),
    "updateMembership": Operation(
        "updateMembership",
        "PATCH",
        "/v1/conversations/{id}/memberships/{userId}",
        response=models.Membership,
        body={"access_level": "accessLevel"},
    ),
    "updateMemory": Operation(
        "updateMemory",
        "PATCH",
        "/v1/memories/{memory_id}",
        response=models.Memory,
        body={
            "content": "content",
            "expires_at": "expires_at",
            "metadata": "metadata",
            "pii_tags": "pii_tags",
            "portable": "portable",
            "retention_policy": "retention_policy",
            "sensitivity": "sensitivity",
            "subjects": "subjects",
            "tags": "tags",
            "ttl_seconds": "ttl_seconds",
            "type": "type",
            "valid_from": "valid_from",
            "valid_until": "valid_until",
            "value": "value",
            "version": "version",
        },
    ),
    "updatePerson": Operation(
        "updatePerson",
        "PATCH",
        "/v1/people/{person_id}",
        response=models.Person,
        body={"metadata": "metadata", "name": "name", "time_zone": "time_zone"},
    ),
    "vacuumMemories": Operation(
        "vacuumMemories",
        "POST",
        "/v1/admin/vacuum",
        response=models.VacuumReport,
        query={"justification": "justification"},
        body={"dry_run": "dry_run", "older_than_days": "older_than_days", "scope": "scope"},
        takes_key=True,
    ),
    "verifyErasure": Operation(
        "verifyErasure",
        "POST",
        "/v1/erasures/{erasure_id}/verify",
        response=models.EraseReport,
        body={"identifiers": "identifiers"},
        only_reads=True,
    ),
}
