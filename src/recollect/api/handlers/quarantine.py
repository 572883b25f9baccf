"""Handlers of quarantine."""

from recollect.api.calls import Call, Handler
from recollect.api.handlers.memory_shapes import memory_to_json
from recollect.api.handlers.reading import path_memory_id
from recollect.api.memory.filters import FilterBody, filters_from_query
from recollect.api.memory.quarantine import DecisionBody
from recollect.domain.jsontext import dump
from recollect.domain.memories import MemoryStatus

# Filters for which this list has no query parameters; the status is fixed.
_FILTER_DEFAULTS = dict.fromkeys(FilterBody.model_fields) | {"status": MemoryStatus.QUARANTINED}


async def list_quarantine(call: Call) -> bytes:
    filters = filters_from_query(_FILTER_DEFAULTS | dict(call.query))
    found = await call.services.quarantine.list(
        call.required_requester, filters, after=call.page.after, limit=call.page.size
    )
    items = (
        dump(
            memory_to_json(stored, found.now)
            | {"score": stored.suspicion, "reasons": list(stored.suspicion_reasons)}
        )
        for stored in found.page.items
    )
    return call.render_page(items, found.page.next_cursor)


async def release_memory(call: Call) -> str:
    body: DecisionBody = call.body
    stored, now = await call.services.quarantine.release(
        call.required_requester, path_memory_id(call), note=body.note
    )
    return dump(memory_to_json(stored, now))


async def reject_memory(call: Call) -> None:
    body: DecisionBody = call.body
    await call.services.quarantine.reject(
        call.required_requester, path_memory_id(call), note=body.note
    )


HANDLERS: dict[str, Handler] = {
    "listQuarantine": list_quarantine,
    "releaseMemory": release_memory,
    "rejectMemory": reject_memory,
}
