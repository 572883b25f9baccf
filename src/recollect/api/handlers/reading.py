"""Handlers of the operations that read memories, for REST and gRPC."""

from typing import Any

from recollect.api.calls import Call, Handler
from recollect.api.handlers.memory_shapes import to_explanation, to_history_item, to_memory
from recollect.api.handlers.paths import path_id
from recollect.api.memory.filters import from_query
from recollect.api.memory.reading import Included
from recollect.domain.jsontext import dump
from recollect.domain.memories import MemoryId
from recollect.domain.spaces import ChatId, as_chat_id
from recollect.services.memory_reading import MemoryRead


async def list_memories(call: Call) -> bytes:
    found = await call.services.memory_reader.list(
        call.asker, from_query(call.query), after=call.page.after, limit=call.page.size
    )
    items = (dump(to_memory(stored, found.now)) for stored in found.page.items)
    return call.to_page(items, found.page.next_cursor)


async def get_memory(call: Call) -> str:
    found = await call.services.memory_reader.get(
        call.asker,
        memory_of(call),
        chat_id=_chat_of(call),
        as_of=call.query["as_of"],
        embedding=call.query["include"] is Included.EMBEDDING,
    )
    return dump(to_memory(found.stored, found.now) | _to_embedding(found))


async def get_history(call: Call) -> bytes:
    page = await call.services.memory_reader.history(
        call.asker, memory_of(call), after=call.page.after, limit=call.page.size
    )
    return call.to_page((dump(to_history_item(item)) for item in page.items), page.next_cursor)


async def explain_memory(call: Call) -> str:
    told = await call.services.memory_reader.explain(
        call.asker,
        memory_of(call),
        chat_id=_chat_of(call),
        query=call.query["query"],
        as_user=call.query["as_user"],
    )
    return dump(to_explanation(told))


def memory_of(call: Call) -> MemoryId:
    """The memory id of the path; raises NotFound if it can't be one."""
    return MemoryId(path_id(call, "memory_id", "memory"))


def _chat_of(call: Call) -> ChatId | None:
    chat_id = call.query["chat_id"]
    return None if chat_id is None else as_chat_id(chat_id)


def _to_embedding(found: MemoryRead) -> dict[str, Any]:
    """The vector, if it was asked for by a writer: null while there is none."""
    return {} if found.embedding is None else {"embedding": list(found.embedding) or None}


HANDLERS: dict[str, Handler] = {
    "listMemories": list_memories,
    "getMemory": get_memory,
    "getHistory": get_history,
    "explainMemory": explain_memory,
}
