"""JSON Schemas of the responses, for the OpenAPI documents.

They are written by hand: responses are rendered to bytes directly, so a model would be a second
renderer. Tests validate rendered responses against these schemas.
"""

from typing import Any

from recollect.audit.model import AuditOutcome, EventKind
from recollect.conversations.entries.entry import Channel
from recollect.http.params import Schema
from recollect.http.schemas import (
    INSTANT,
    INTEGER,
    OBJECT,
    TEXT,
    UUID,
    nullable_schema,
    object_schema,
    schema_ref,
)
from recollect.kernel.access_level import Level
from recollect.recordings.model import RecordOutcome
from recollect.search.model import EntrySearchComponent, SearchType

SEARCH_TYPE: Schema = {
    "type": "string",
    "enum": [str(kind) for kind in SearchType if kind is not SearchType.AUTO],
}
STAGE: Schema = {"type": "string", "enum": [str(stage) for stage in EntrySearchComponent]}
LEVEL: Schema = {"type": "string", "enum": [level.word for level in Level]}


_SUMMARY = {
    "id": UUID,
    "ownerUserId": TEXT,
    "createdAt": INSTANT,
    "updatedAt": INSTANT,
    "accessLevel": LEVEL,
}
_SUMMARY_OPTIONAL: dict[str, Any] = {
    "title": TEXT,
    "lastMessagePreview": TEXT,
    "metadata": OBJECT,
}
_FORK_POINT = {"forkedAtEntryId": UUID, "forkedAtConversationId": UUID}
_DELETED = {"deletedAt": INSTANT}
_ENTRY = {
    "id": UUID,
    "conversationId": UUID,
    "channel": {"type": "string", "enum": [str(channel) for channel in Channel]},
    "contentType": TEXT,
    "content": {"type": "array", "items": {}},
    "createdAt": INSTANT,
}
_ENTRY_OPTIONAL = {"userId": TEXT, "epoch": INTEGER | {"minimum": 1}}
_HIT = {"conversationId": UUID, "entryId": UUID, "score": {"type": "number"}}
_HIT_OPTIONAL = {"conversationTitle": TEXT, "highlights": TEXT}

RESOURCES: dict[str, Schema] = {
    "Health": object_schema({"status": {"type": "string", "const": "ok"}}),
    "HealthReport": object_schema(
        {
            "status": {"type": "string", "const": "ok"},
            "version": TEXT,
            "database": TEXT,
            "encryption": {"type": "boolean"},
            "queue": object_schema(
                {"depth": INTEGER, "stuck": INTEGER, "oldestDueAt": nullable_schema(INSTANT)}
            ),
        }
    ),
    "Document": OBJECT,
    "ConversationSummary": object_schema(_SUMMARY, _SUMMARY_OPTIONAL),
    "Conversation": object_schema(_SUMMARY, _SUMMARY_OPTIONAL | _FORK_POINT),
    "AdminConversationSummary": object_schema(_SUMMARY, _SUMMARY_OPTIONAL | _DELETED),
    "AdminConversation": object_schema(_SUMMARY, _SUMMARY_OPTIONAL | _FORK_POINT | _DELETED),
    "Fork": object_schema(
        {"conversationId": UUID, "createdAt": INSTANT}, _FORK_POINT | {"title": TEXT}
    ),
    "Entry": object_schema(_ENTRY, _ENTRY_OPTIONAL),
    "AdminEntry": object_schema(_ENTRY, _ENTRY_OPTIONAL | {"clientId": TEXT}),
    "SyncOutcome": object_schema(
        {
            "epoch": nullable_schema(INTEGER | {"minimum": 1}),
            "noOp": {"type": "boolean"},
            "epochIncremented": {"type": "boolean"},
            "entry": nullable_schema(schema_ref("Entry")),
        }
    ),
    "RecordOutcome": object_schema(
        {"status": TEXT | {"enum": [str(word) for word in RecordOutcome]}}
    ),
    "SearchResult": object_schema(_HIT, _HIT_OPTIONAL | {"entry": schema_ref("Entry")}),
    "AdminSearchResult": object_schema(_HIT, _HIT_OPTIONAL | {"entry": schema_ref("AdminEntry")}),
    "UnindexedEntry": object_schema({"conversationId": UUID, "entry": schema_ref("Entry")}),
    "IndexOutcome": object_schema({"indexed": INTEGER}),
    "Membership": object_schema(
        {"conversationId": UUID, "userId": TEXT, "accessLevel": LEVEL, "createdAt": INSTANT}
    ),
    "OwnershipTransfer": object_schema(
        {
            "id": UUID,
            "conversationId": UUID,
            "fromUserId": TEXT,
            "toUserId": TEXT,
            "createdAt": INSTANT,
        },
        {"conversationTitle": TEXT},
    ),
    "Event": object_schema(
        {
            "id": UUID,
            "at": INSTANT,
            "kind": {"type": "string", "enum": [str(kind) for kind in EventKind]},
            "action": TEXT,
            "outcome": {"type": "string", "enum": [str(outcome) for outcome in AuditOutcome]},
        },
        {
            "actorUserId": TEXT,
            "actorClientId": TEXT,
            "role": TEXT,
            "conversationId": TEXT,
            "targetUserId": TEXT,
            "fromLevel": LEVEL,
            "toLevel": LEVEL,
            "transferId": UUID,
            "params": OBJECT,
            "count": INTEGER,
            "justification": TEXT,
        },
    ),
}
