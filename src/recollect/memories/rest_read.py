"""Schemas and operations for reading memories, their history and explanations."""

from enum import StrEnum
from typing import Any

from recollect.http.call import Call, Handler
from recollect.http.operation import (
    ID,
    LIST,
    OWNER,
    Operation,
    id_param,
    memory_operation,
    nullable_field,
    resource,
)
from recollect.http.params import Schema, enum_param, instant_param, query_param
from recollect.http.paths import path_id
from recollect.http.schemas import INSTANT, INTEGER, OBJECT, TEXT, object_schema
from recollect.kernel.ids import ChatId, MemoryId
from recollect.kernel.space import SpaceKind, to_chat_id
from recollect.kernel.strict_json import dump
from recollect.memories.fields import RENDERED_FIELDS, MemoryField, ValueKind
from recollect.memories.filters import FILTER_PARAMS, filters_from_query
from recollect.memories.model import (
    MemoryOrigin,
    MemoryReadResult,
    TrustLevel,
    VersionChange,
)
from recollect.memories.read.service import MemoryReader
from recollect.memories.render import (
    explanation_to_json,
    history_item_to_json,
    memory_to_json,
)
from recollect.people.chat import ChatKind
from recollect.visibility.disclosure import AskerRelation


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

_SCHEMAS: dict[ValueKind, Schema] = {
    ValueKind.TEXT: TEXT,
    ValueKind.NAME: TEXT,
    ValueKind.MEMORY_ID: ID,
    ValueKind.CHAT_ID: ID,
    ValueKind.FLAG: _BOOLEAN,
    ValueKind.COUNT: INTEGER,
    ValueKind.VERSION: INTEGER | {"minimum": 1},
    ValueKind.RATIO: _NUMBER,
    ValueKind.INSTANT: INSTANT,
    ValueKind.OBJECT: OBJECT,
    ValueKind.NAMES: _list_schema(TEXT),
    ValueKind.MEMORY_IDS: _list_schema(ID),
    ValueKind.SPACE: _SPACE_SCHEMA,
}


def _field_schema(field: MemoryField) -> Schema:
    kind = field.kind
    schema = _SCHEMAS[kind] if isinstance(kind, ValueKind) else _enum_schema(kind)
    return nullable_field(schema) if field.nullable else schema


MEMORY_PROPERTIES: dict[str, Any] = {field.name: _field_schema(field) for field in RENDERED_FIELDS}
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


async def list_memories(call: Call) -> bytes:
    found = await call.services[MemoryReader].list(
        call.required_requester,
        filters_from_query(call.query),
        after=call.page.after,
        limit=call.page.size,
    )
    items = (dump(memory_to_json(stored, found.now)) for stored in found.page.items)
    return call.render_page(items, found.page.next_cursor)


async def get_memory(call: Call) -> str:
    found = await call.services[MemoryReader].get(
        call.required_requester,
        path_memory_id(call),
        chat_id=_query_chat_id(call),
        as_of=call.query["as_of"],
        embedding=call.query["include"] is IncludedField.EMBEDDING,
    )
    return dump(memory_to_json(found.stored, found.now) | _embedding_json(found))


async def get_history(call: Call) -> bytes:
    page = await call.services[MemoryReader].history(
        call.required_requester, path_memory_id(call), after=call.page.after, limit=call.page.size
    )
    return call.render_page(
        (dump(history_item_to_json(item)) for item in page.items), page.next_cursor
    )


async def explain_memory(call: Call) -> str:
    explanation = await call.services[MemoryReader].explain(
        call.required_requester,
        path_memory_id(call),
        chat_id=_query_chat_id(call),
        query=call.query["query"],
        as_user=call.query["as_user"],
    )
    return dump(explanation_to_json(explanation))


def path_memory_id(call: Call) -> MemoryId:
    """The memory id of the path; raises NotFound if it can't be one."""
    return MemoryId(path_id(call, "memory_id", "memory"))


def _query_chat_id(call: Call) -> ChatId | None:
    chat_id = call.query["chat_id"]
    return None if chat_id is None else to_chat_id(chat_id)


def _embedding_json(found: MemoryReadResult) -> dict[str, Any]:
    """The vector, if it was asked for by a writer: null while there is none."""
    return {} if found.embedding is None else {"embedding": list(found.embedding) or None}


HANDLERS: dict[str, Handler] = {
    "listMemories": list_memories,
    "getMemory": get_memory,
    "getHistory": get_history,
    "explainMemory": explain_memory,
}
