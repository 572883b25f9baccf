"""JSON Schemas of the responses, for the OpenAPI documents.

They are written by hand: responses are rendered to bytes directly, so a model would be a second
renderer. Tests validate rendered responses against these schemas.
"""

from typing import Any

from recollect.api.params import Schema
from recollect.domain.entries import Channel
from recollect.domain.events import EventKind, Outcome
from recollect.domain.memberships import Level
from recollect.domain.recordings import RecordOutcome
from recollect.domain.search import SearchType, Stage

TEXT: Schema = {"type": "string"}
UUID: Schema = {"type": "string", "format": "uuid"}
INSTANT: Schema = {
    "type": "string",
    "format": "date-time",
    "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$",
}
WHOLE: Schema = {"type": "integer"}
SEARCH_TYPE: Schema = {
    "type": "string",
    "enum": [str(kind) for kind in SearchType if kind is not SearchType.AUTO],
}
STAGE: Schema = {"type": "string", "enum": [str(stage) for stage in Stage]}
LEVEL: Schema = {"type": "string", "enum": [level.word for level in Level]}
OBJECT: Schema = {"type": "object"}


def shape(required: dict[str, Schema], optional: dict[str, Schema] | None = None) -> Schema:
    """An object schema. Optional fields are left out of a response if they have no value."""
    return {
        "type": "object",
        "required": list(required),
        "properties": required | (optional or {}),
    }


def nullable(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def ref(name: str) -> Schema:
    """A reference to a named schema of the document."""
    return {"$ref": f"#/components/schemas/{name}"}


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
_ENTRY_OPTIONAL = {"userId": TEXT, "epoch": WHOLE | {"minimum": 1}}
_HIT = {"conversationId": UUID, "entryId": UUID, "score": {"type": "number"}}
_HIT_OPTIONAL = {"conversationTitle": TEXT, "highlights": TEXT}

RESOURCES: dict[str, Schema] = {
    "Health": shape({"status": {"type": "string", "const": "ok"}}),
    "HealthReport": shape(
        {
            "status": {"type": "string", "const": "ok"},
            "version": TEXT,
            "database": TEXT,
            "encryption": {"type": "boolean"},
            "queue": shape({"depth": WHOLE, "stuck": WHOLE, "oldestDueAt": nullable(INSTANT)}),
        }
    ),
    "Document": OBJECT,
    "ConversationSummary": shape(_SUMMARY, _SUMMARY_OPTIONAL),
    "Conversation": shape(_SUMMARY, _SUMMARY_OPTIONAL | _FORK_POINT),
    "AdminConversationSummary": shape(_SUMMARY, _SUMMARY_OPTIONAL | _DELETED),
    "AdminConversation": shape(_SUMMARY, _SUMMARY_OPTIONAL | _FORK_POINT | _DELETED),
    "Fork": shape({"conversationId": UUID, "createdAt": INSTANT}, _FORK_POINT | {"title": TEXT}),
    "Entry": shape(_ENTRY, _ENTRY_OPTIONAL),
    "AdminEntry": shape(_ENTRY, _ENTRY_OPTIONAL | {"clientId": TEXT}),
    "SyncOutcome": shape(
        {
            "epoch": nullable(WHOLE | {"minimum": 1}),
            "noOp": {"type": "boolean"},
            "epochIncremented": {"type": "boolean"},
            "entry": nullable(ref("Entry")),
        }
    ),
    "RecordOutcome": shape({"status": TEXT | {"enum": [str(word) for word in RecordOutcome]}}),
    "SearchResult": shape(_HIT, _HIT_OPTIONAL | {"entry": ref("Entry")}),
    "AdminSearchResult": shape(_HIT, _HIT_OPTIONAL | {"entry": ref("AdminEntry")}),
    "UnindexedEntry": shape({"conversationId": UUID, "entry": ref("Entry")}),
    "IndexOutcome": shape({"indexed": WHOLE}),
    "Membership": shape(
        {"conversationId": UUID, "userId": TEXT, "accessLevel": LEVEL, "createdAt": INSTANT}
    ),
    "OwnershipTransfer": shape(
        {
            "id": UUID,
            "conversationId": UUID,
            "fromUserId": TEXT,
            "toUserId": TEXT,
            "createdAt": INSTANT,
        },
        {"conversationTitle": TEXT},
    ),
    "Event": shape(
        {
            "id": UUID,
            "at": INSTANT,
            "kind": {"type": "string", "enum": [str(kind) for kind in EventKind]},
            "action": TEXT,
            "outcome": {"type": "string", "enum": [str(outcome) for outcome in Outcome]},
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
            "count": WHOLE,
            "justification": TEXT,
        },
    ),
}
