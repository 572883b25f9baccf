"""Schemas and operations for reading memories, their history and explanations."""

from enum import StrEnum
from typing import Any

from recollect.api.memory.filters import FILTER_PARAMS
from recollect.api.memory.rows import (
    ID,
    LIST,
    OWNER,
    id_param,
    memory_operation,
    nullable_field,
    resource,
)
from recollect.api.operation import Operation
from recollect.api.params import Schema, enum_param, instant_param, query_param
from recollect.api.resources import INSTANT, INTEGER, OBJECT, TEXT, object_schema
from recollect.domain.disclosure import AskerRelation, ChatKind
from recollect.domain.memories import (
    ArchiveReason,
    MemoryKind,
    MemoryOrigin,
    MemorySource,
    MemoryStatus,
    MemoryType,
    Sensitivity,
    TrustLevel,
)
from recollect.domain.retention import MemoryScope
from recollect.domain.spaces import SpaceKind, Visibility
from recollect.ports.memories import VersionChange


class IncludedField(StrEnum):
    """Fields that a response has only on request."""

    EMBEDDING = "embedding"


def _enum_schema(kind: type[StrEnum], *more: str) -> Schema:
    return {"type": "string", "enum": [*more, *(str(member) for member in kind)]}


def _list_schema(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}


_BOOLEAN: Schema = {"type": "boolean"}
_NUMBER: Schema = {"type": "number"}
_SPACE_SCHEMA = resource({"kind": _enum_schema(SpaceKind), "id": ID})

MEMORY_PROPERTIES: dict[str, Any] = {
    "id": ID,
    "kind": _enum_schema(MemoryKind),
    "content": TEXT,
    "key": nullable_field(TEXT),
    "value": nullable_field(OBJECT),
    "space": _SPACE_SCHEMA,
    "group_id": TEXT,
    "visibility": nullable_field(_enum_schema(Visibility)),
    "scope": _enum_schema(MemoryScope),
    "agent_id": nullable_field(ID),
    "org_id": nullable_field(ID),
    "type": _enum_schema(MemoryType),
    "sensitivity": _enum_schema(Sensitivity),
    "portable": _BOOLEAN,
    "subjects": _list_schema(ID),
    "stated_by": nullable_field(ID),
    "learned_in": nullable_field(ID),
    "origin": _enum_schema(MemoryOrigin),
    "observed_at": INSTANT,
    "confidence": nullable_field(_NUMBER),
    "verified": _BOOLEAN,
    "trust": _enum_schema(TrustLevel),
    "tags": _list_schema(TEXT),
    "metadata": OBJECT,
    "pii_tags": _list_schema(TEXT),
    "retention_policy": nullable_field(TEXT),
    "expires_at": nullable_field(INSTANT),
    "expiry_rule": TEXT,
    "requested_expires_at": nullable_field(INSTANT),
    "valid_from": nullable_field(INSTANT),
    "valid_until": nullable_field(INSTANT),
    "created_at": INSTANT,
    "updated_at": INSTANT,
    "retracted_at": nullable_field(INSTANT),
    "supersedes": _list_schema(ID),
    "superseded_by": nullable_field(ID),
    "conflicts_with": _list_schema(ID),
    "repeats": INTEGER,
    "version": INTEGER | {"minimum": 1},
    "source": _enum_schema(MemorySource),
    "source_entries": _list_schema(ID),
    "source_memories": _list_schema(ID),
    "source_agent": nullable_field(ID),
    "run_id": nullable_field(ID),
    "parent_run_id": nullable_field(ID),
    "status": _enum_schema(MemoryStatus),
    "archive_reason": nullable_field(_enum_schema(ArchiveReason)),
}
_EMBEDDING_PROPERTIES: dict[str, Any] = {"embedding": nullable_field(_list_schema(_NUMBER))}

RESOURCES: dict[str, Schema] = {
    "Memory": object_schema(MEMORY_PROPERTIES, _EMBEDDING_PROPERTIES),
    "HistoryItem": object_schema(
        {
            "memory_id": ID,
            "version": nullable_field(INTEGER),
            "change": _enum_schema(VersionChange),
            "at": INSTANT,
            "by": nullable_field(OWNER),
            "superseded_by": nullable_field(ID),
            "depth": INTEGER,
        },
        {"content": nullable_field(TEXT), "value": nullable_field(OBJECT)},
    ),
    "Explanation": object_schema(
        {
            "memory_id": ID,
            "allowed": _BOOLEAN,
            "rule": TEXT,
            "context": _enum_schema(ChatKind, "direct"),
            "relations": _list_schema(_enum_schema(AskerRelation)),
            "space": _SPACE_SCHEMA,
            "origin": _enum_schema(MemoryOrigin),
            "portable": _BOOLEAN,
            "expires_at": nullable_field(INSTANT),
            "expiry_rule": TEXT,
            "trust": _enum_schema(TrustLevel),
            "sources": _list_schema(
                resource({"kind": {"type": "string", "enum": ["entry", "memory"]}, "id": ID})
            ),
            "supersession": _list_schema(
                resource(
                    {
                        "relation": {"type": "string", "enum": ["supersedes", "superseded_by"]},
                        "id": ID,
                    }
                )
            ),
        },
        {"score": _NUMBER},
    ),
}

_MEMORY_PATH = "/v1/memories/{memory_id}"
_CHAT_PARAM = id_param("chat_id", "The chat in whose context is asked.")

OPERATIONS: tuple[Operation, ...] = (
    memory_operation(
        "listMemories",
        "GET /v1/memories",
        200,
        "List memories, the newest first. At least one of `agent_id`, `spaces`, `chat_id`, "
        "`run_id`, `scope` and `user_id` says where to look.",
        response="Memory",
        query=FILTER_PARAMS,
        paging=LIST,
        refusals=(404,),
    ),
    memory_operation(
        "getMemory",
        f"GET {_MEMORY_PATH}",
        200,
        "Get a memory, or with `as_of` the version of that instant.",
        response="Memory",
        query=(
            _CHAT_PARAM,
            enum_param("include", IncludedField, "The vector, for those who may write the space."),
            instant_param("as_of", "The version that was current at this instant."),
        ),
    ),
    memory_operation(
        "getHistory",
        f"GET {_MEMORY_PATH}/history",
        200,
        "Get all versions of a memory and of what it replaced, breadth first. What the caller may "
        "not read is there without its text.",
        response="HistoryItem",
        paging=LIST,
    ),
    memory_operation(
        "explainMemory",
        f"GET {_MEMORY_PATH}/explain",
        200,
        "Explain why a memory is shown. A hidden one is explained to an auditor with `as_user`.",
        response="Explanation",
        query=(
            _CHAT_PARAM,
            query_param("A query whose score of this memory is wanted."),
            id_param("as_user", "As this user would see it; for auditors."),
        ),
    ),
)
