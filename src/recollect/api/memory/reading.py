"""Schemas and operations for reading memories, their history and explanations."""

from enum import StrEnum
from typing import Any

from recollect.api.memory.filters import FILTER_PARAMS
from recollect.api.memory.rows import ID, LIST, OWNER, id_param, optional, resource, row
from recollect.api.operation import Operation
from recollect.api.params import Schema, instant, one_of, query
from recollect.api.resources import INSTANT, OBJECT, TEXT, WHOLE, shape
from recollect.domain.disclosure import ChatKind, Relation
from recollect.domain.memories import (
    ArchiveReason,
    Kind,
    MemoryType,
    Origin,
    Sensitivity,
    Source,
    Status,
    Trust,
)
from recollect.domain.retention import MemoryScope
from recollect.domain.spaces import SpaceKind, Visibility
from recollect.ports.memories import Change


class Included(StrEnum):
    """Fields that a response has only on request."""

    EMBEDDING = "embedding"


def _word(kind: type[StrEnum], *more: str) -> Schema:
    return {"type": "string", "enum": [*more, *(str(member) for member in kind)]}


def _list_of(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}


_TRUTH: Schema = {"type": "boolean"}
_NUMBER: Schema = {"type": "number"}
_SPACE = resource({"kind": _word(SpaceKind), "id": ID})

MEMORY: dict[str, Any] = {
    "id": ID,
    "kind": _word(Kind),
    "content": TEXT,
    "key": optional(TEXT),
    "value": optional(OBJECT),
    "space": _SPACE,
    "group_id": TEXT,
    "visibility": optional(_word(Visibility)),
    "scope": _word(MemoryScope),
    "agent_id": optional(ID),
    "org_id": optional(ID),
    "type": _word(MemoryType),
    "sensitivity": _word(Sensitivity),
    "portable": _TRUTH,
    "subjects": _list_of(ID),
    "stated_by": optional(ID),
    "learned_in": optional(ID),
    "origin": _word(Origin),
    "observed_at": INSTANT,
    "confidence": optional(_NUMBER),
    "verified": _TRUTH,
    "trust": _word(Trust),
    "tags": _list_of(TEXT),
    "metadata": OBJECT,
    "pii_tags": _list_of(TEXT),
    "retention_policy": optional(TEXT),
    "expires_at": optional(INSTANT),
    "expiry_rule": TEXT,
    "requested_expires_at": optional(INSTANT),
    "valid_from": optional(INSTANT),
    "valid_until": optional(INSTANT),
    "created_at": INSTANT,
    "updated_at": INSTANT,
    "retracted_at": optional(INSTANT),
    "supersedes": _list_of(ID),
    "superseded_by": optional(ID),
    "conflicts_with": _list_of(ID),
    "repeats": WHOLE,
    "version": WHOLE | {"minimum": 1},
    "source": _word(Source),
    "source_entries": _list_of(ID),
    "source_memories": _list_of(ID),
    "source_agent": optional(ID),
    "run_id": optional(ID),
    "parent_run_id": optional(ID),
    "status": _word(Status),
    "archive_reason": optional(_word(ArchiveReason)),
}
_EMBEDDING: dict[str, Any] = {"embedding": optional(_list_of(_NUMBER))}

RESOURCES: dict[str, Schema] = {
    "Memory": shape(MEMORY, _EMBEDDING),
    "HistoryItem": shape(
        {
            "memory_id": ID,
            "version": optional(WHOLE),
            "change": _word(Change),
            "at": INSTANT,
            "by": optional(OWNER),
            "superseded_by": optional(ID),
            "depth": WHOLE,
        },
        {"content": optional(TEXT), "value": optional(OBJECT)},
    ),
    "Explanation": shape(
        {
            "memory_id": ID,
            "allowed": _TRUTH,
            "rule": TEXT,
            "context": _word(ChatKind, "direct"),
            "relations": _list_of(_word(Relation)),
            "space": _SPACE,
            "origin": _word(Origin),
            "portable": _TRUTH,
            "expires_at": optional(INSTANT),
            "expiry_rule": TEXT,
            "trust": _word(Trust),
            "sources": _list_of(
                resource({"kind": {"type": "string", "enum": ["entry", "memory"]}, "id": ID})
            ),
            "supersession": _list_of(
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

_ONE = "/v1/memories/{memory_id}"
_CHAT = id_param("chat_id", "The chat in whose context is asked.")

OPERATIONS: tuple[Operation, ...] = (
    row(
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
    row(
        "getMemory",
        f"GET {_ONE}",
        200,
        "Get a memory, or with `as_of` the version of that instant.",
        response="Memory",
        query=(
            _CHAT,
            one_of("include", Included, "The vector, for those who may write the space."),
            instant("as_of", "The version that was current at this instant."),
        ),
    ),
    row(
        "getHistory",
        f"GET {_ONE}/history",
        200,
        "Get all versions of a memory and of what it replaced, breadth first. What the caller may "
        "not read is there without its text.",
        response="HistoryItem",
        paging=LIST,
    ),
    row(
        "explainMemory",
        f"GET {_ONE}/explain",
        200,
        "Explain why a memory is shown. A hidden one is explained to an auditor with `as_user`.",
        response="Explanation",
        query=(
            _CHAT,
            query("A query whose score of this memory is wanted."),
            id_param("as_user", "As this user would see it; for auditors."),
        ),
    ),
)
