"""Handlers of quarantine."""

from recollect.api.calls import Call, Handler
from recollect.api.handlers.memory_shapes import to_memory
from recollect.api.handlers.reading import memory_of
from recollect.api.memory.filters import FilterBody, from_query
from recollect.api.memory.quarantine import DecisionBody
from recollect.domain.jsontext import dump
from recollect.domain.memories import Status

# Filters for which this list has no query parameters; the status is fixed.
_UNSENT = dict.fromkeys(FilterBody.model_fields) | {"status": Status.QUARANTINED}


async def list_quarantine(call: Call) -> bytes:
    filters = from_query(_UNSENT | dict(call.query))
    found = await call.services.quarantine.list(
        call.asker, filters, after=call.page.after, limit=call.page.size
    )
    items = (
        dump(
            to_memory(stored, found.now)
            | {"score": stored.suspicion, "reasons": list(stored.suspicion_reasons)}
        )
        for stored in found.page.items
    )
    return call.to_page(items, found.page.next_cursor)


async def release_memory(call: Call) -> str:
    body: DecisionBody = call.body
    stored, now = await call.services.quarantine.release(
        call.asker, memory_of(call), note=body.note
    )
    return dump(to_memory(stored, now))


async def reject_memory(call: Call) -> None:
    body: DecisionBody = call.body
    await call.services.quarantine.reject(call.asker, memory_of(call), note=body.note)


HANDLERS: dict[str, Handler] = {
    "listQuarantine": list_quarantine,
    "releaseMemory": release_memory,
    "rejectMemory": reject_memory,
}
