"""Schemas and operations for reading memories, their history and explanations."""

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from recollect.http.call import Call, Handler
from recollect.http.examples import ENTRY_ID, MEMORY_ID, OTHER_MEMORY_ID, USER_ID
from recollect.http.operation import (
    ID,
    LIST,
    Operation,
    id_param,
    memory_operation,
    nullable_field,
    resource,
)
from recollect.http.params import Schema, enum_param, flag_param, instant_param, query_param
from recollect.http.paths import path_id
from recollect.http.resource import (
    InstantText,
    JsonObject,
    MarkedResource,
    OwnerText,
    Resource,
    ResourcePart,
    attribute,
    resource_schemas,
)
from recollect.http.schemas import (
    INSTANT,
    INTEGER,
    OBJECT,
    TEXT,
    UNREADABLE,
    UUID,
    describe,
    object_schema,
)
from recollect.kernel.ids import ChatId, MemoryId
from recollect.kernel.space import SpaceKind, to_chat_id
from recollect.kernel.strict_json import dump
from recollect.memories.fields import RENDERED_FIELDS, MemoryField, ValueKind
from recollect.memories.filters import FILTER_PARAMS, filters_from_query
from recollect.memories.model import (
    Memory,
    MemoryOrigin,
    MemoryReadResult,
    TrustLevel,
    VersionChange,
)
from recollect.memories.read.history import HistoryItem
from recollect.memories.read.service import MemoryReader
from recollect.memories.render import memory_to_json
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
_SPACE_SCHEMA = resource(
    {
        "kind": describe(_enum_schema(SpaceKind), "What the space belongs to.", "user"),
        "id": describe(
            ID, "The id of the agent, user, chat, run or org that it belongs to.", USER_ID
        ),
    }
)

_SCHEMAS: dict[ValueKind, Schema] = {
    ValueKind.TEXT: TEXT,
    ValueKind.NAME: TEXT,
    ValueKind.MEMORY_ID: ID,
    ValueKind.CHAT_ID: ID,
    ValueKind.CONVERSATION_ID: UUID,
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
    examples = () if field.example is None else (field.example,)
    return describe(
        nullable_field(schema) if field.nullable else schema, field.description, *examples
    )


MEMORY_PROPERTIES: dict[str, Any] = {field.name: _field_schema(field) for field in RENDERED_FIELDS}
UNREADABLE_PROPERTY: dict[str, Any] = {"unreadable": UNREADABLE}
_EMBEDDING_PROPERTIES: dict[str, Any] = {
    "embedding": describe(
        nullable_field(_list_schema(_NUMBER)),
        "The vector, with `include=embedding` and for those who may write the space.",
    )
}


class HistoryItemResource(MarkedResource):
    """A version that the viewer may not read, or that could not be decrypted: ids and times."""

    memory_id: str = Field(description="The memory that the version is of.", examples=[MEMORY_ID])
    version: int | None = Field(
        description="The number of the version; null for a memory that was removed.", examples=[1]
    )
    change: VersionChange = Field(description="What made the version.", examples=["created"])
    at: InstantText = Field(description="When it was made.")
    by: OwnerText | None = Field(
        description="Who made it; null if that is not known or not for the caller.",
        examples=[USER_ID],
    )
    superseded_by: str | None = Field(description="The memory that replaced it.")
    depth: int = Field(
        description="How many replacements lie between it and the memory that was asked for.",
        examples=[0],
    )


class ReadableHistoryItemResource(HistoryItemResource):
    """A version with its text."""

    content: str | None = Field(
        description="The text of the version.", examples=["Ann is vegetarian."]
    )
    value: JsonObject | None = Field(description="The object of a record.")


class MemorySpaceFields(ResourcePart):
    """A space."""

    kind: SpaceKind = Field(description="What the space belongs to.", examples=["user"])
    id: str = Field(
        description="The id of the agent, user, chat, run or org that it belongs to.",
        examples=[USER_ID],
    )


class MemorySourceFields(ResourcePart):
    """What a memory was derived from."""

    kind: Literal["entry", "memory"] = Field(
        description="Whether it is an entry or a memory.", examples=["entry"]
    )
    id: str = Field(description="The id of that entry or memory.", examples=[ENTRY_ID])


class SupersessionFields(ResourcePart):
    """What a memory replaced, or what replaced it."""

    relation: Literal["supersedes", "superseded_by"] = Field(
        description="Which way it goes.", examples=["supersedes"]
    )
    id: str = Field(description="The other memory.", examples=[OTHER_MEMORY_ID])


def _list_sources(memory: Memory) -> list[MemorySourceFields]:
    entries = [MemorySourceFields(kind="entry", id=id_) for id_ in memory.source_entries]
    return entries + [MemorySourceFields(kind="memory", id=id_) for id_ in memory.source_memories]


def _list_supersession(memory: Memory) -> list[SupersessionFields]:
    replaced = [SupersessionFields(relation="supersedes", id=id_) for id_ in memory.supersedes]
    if memory.superseded_by is None:
        return replaced
    return [*replaced, SupersessionFields(relation="superseded_by", id=memory.superseded_by)]


class ExplanationResource(Resource):
    """The decision and its facts, without the text of the memory."""

    memory_id: str = attribute("memory.id", description="The memory.", examples=[MEMORY_ID])
    allowed: bool = Field(description="Whether the viewer may see it here.", examples=[True])
    rule: str = Field(description="The rule that decided.", examples=["space.own"])
    context: Annotated[str, WithJsonSchema(_enum_schema(ChatKind, "direct"))] = Field(
        description="Where it was asked: outside of chats, or in a private chat or a group.",
        examples=["direct"],
    )
    relations: list[AskerRelation] = Field(
        description="How the viewer is related to the memory.", examples=[["own"]]
    )
    space: MemorySpaceFields = attribute("memory.space", description="The space of the memory.")
    origin: MemoryOrigin = attribute(
        "memory.origin", description="Whether it was learned in a chat.", examples=["direct"]
    )
    portable: bool = attribute(
        "memory.portable",
        description="Whether it may be told outside of the chat where it was learned.",
        examples=[True],
    )
    expires_at: InstantText | None = attribute(
        "memory.expires_at", description="When it expires; null for never."
    )
    expiry_rule: str = attribute(
        "memory.expiry_rule", description="The rule of its expiry.", examples=["never"]
    )
    trust: TrustLevel = attribute(
        "memory.trust", description="How reliable it is.", examples=["fact"]
    )
    sources: Annotated[list[MemorySourceFields], BeforeValidator(_list_sources)] = attribute(
        "memory", description="What it was derived from.", examples=[[]]
    )
    supersession: Annotated[list[SupersessionFields], BeforeValidator(_list_supersession)] = (
        attribute("memory", description="What it replaced, and what replaced it.", examples=[[]])
    )


class ScoredExplanationResource(ExplanationResource):
    """With the score for a query."""

    score: float = Field(description="Its score for the query, if one was sent.")


def _optional_schema(resource: type[Resource], more: type[Resource]) -> Schema:
    """The schema of a resource that has the fields of `more` only sometimes."""
    required, whole = (next(iter(resource_schemas(one).values())) for one in (resource, more))
    return whole | {"required": required["required"]}


RESOURCES: dict[str, Schema] = {
    "Memory": object_schema(MEMORY_PROPERTIES, _EMBEDDING_PROPERTIES | UNREADABLE_PROPERTY),
    "HistoryItem": _optional_schema(HistoryItemResource, ReadableHistoryItemResource),
    "Explanation": _optional_schema(ExplanationResource, ScoredExplanationResource),
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
        "Get a memory, or with `as_of` the version of that instant. One that is superseded or "
        "archived is shown too; its `status` says so.",
        response="Memory",
        query=(
            _CHAT_PARAM,
            enum_param("include", IncludedField, "The vector, for those who may write the space."),
            instant_param("as_of", "The version that was current at this instant."),
            flag_param("include_expired", "The memory also if it is due, until it is purged."),
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
        include_expired=call.query["include_expired"],
        embedding=call.query["include"] is IncludedField.EMBEDDING,
    )
    return dump(memory_to_json(found.stored, found.now) | _embedding_json(found))


async def get_history(call: Call) -> bytes:
    page = await call.services[MemoryReader].history(
        call.required_requester, path_memory_id(call), after=call.page.after, limit=call.page.size
    )
    return call.render_page((_render_item(item) for item in page.items), page.next_cursor)


async def explain_memory(call: Call) -> str:
    explanation = await call.services[MemoryReader].explain(
        call.required_requester,
        path_memory_id(call),
        chat_id=_query_chat_id(call),
        query=call.query["query"],
        as_user=call.query["as_user"],
    )
    scored = explanation.score is not None
    return (ScoredExplanationResource if scored else ExplanationResource).render(explanation)


def _render_item(item: HistoryItem) -> str:
    readable = item.is_readable
    return (ReadableHistoryItemResource if readable else HistoryItemResource).render(item)


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
