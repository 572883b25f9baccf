"""Handlers of the operations that read memories, for REST and gRPC."""

from typing import Any

from recollect.api.calls import Call, Handler
from recollect.api.handlers.memory_shapes import (
    explanation_to_json,
    history_item_to_json,
    memory_to_json,
)
from recollect.api.handlers.paths import path_id
from recollect.api.memory.filters import filters_from_query
from recollect.api.memory.reading import IncludedField
from recollect.domain.jsontext import dump
from recollect.domain.memories import MemoryId
from recollect.domain.spaces import ChatId, to_chat_id
from recollect.services.memory_reading import MemoryReadResult


async def list_memories(call: Call) -> bytes:
    found = await call.services.memory_reader.list(
        call.required_requester,
        filters_from_query(call.query),
        after=call.page.after,
        limit=call.page.size,
    )
    items = (dump(memory_to_json(stored, found.now)) for stored in found.page.items)
    return call.render_page(items, found.page.next_cursor)


async def get_memory(call: Call) -> str:
    found = await call.services.memory_reader.get(
        call.required_requester,
        path_memory_id(call),
        chat_id=_query_chat_id(call),
        as_of=call.query["as_of"],
        embedding=call.query["include"] is IncludedField.EMBEDDING,
    )
    return dump(memory_to_json(found.stored, found.now) | _embedding_json(found))


async def get_history(call: Call) -> bytes:
    page = await call.services.memory_reader.history(
        call.required_requester, path_memory_id(call), after=call.page.after, limit=call.page.size
    )
    return call.render_page(
        (dump(history_item_to_json(item)) for item in page.items), page.next_cursor
    )


async def explain_memory(call: Call) -> str:
    told = await call.services.memory_reader.explain(
        call.required_requester,
        path_memory_id(call),
        chat_id=_query_chat_id(call),
        query=call.query["query"],
        as_user=call.query["as_user"],
    )
    return dump(explanation_to_json(told))


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
