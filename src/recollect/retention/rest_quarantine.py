"""Operations of quarantine: list, release, reject."""

from recollect.http.call import Call, Handler
from recollect.http.operation import LIST, Operation, memory_operation, resource
from recollect.http.params import Schema
from recollect.http.schemas import TEXT, describe
from recollect.kernel.strict_json import dump
from recollect.memories.filters import (
    FILTER_PARAMS,
    MemoryFilters,
    filters_from_query,
)
from recollect.memories.model import MemoryStatus
from recollect.memories.render import memory_to_json
from recollect.memories.rest_read import MEMORY_PROPERTIES, path_memory_id
from recollect.retention.commands import DecideQuarantine
from recollect.retention.quarantine import QuarantineService

# Quarantined rows are visible to no asker and have no past versions to read.
_UNSUPPORTED_FILTERS = ("chat_id", "asker_id", "status", "valid_at", "as_of")
FILTERS = tuple(param for param in FILTER_PARAMS if param.name not in _UNSUPPORTED_FILTERS)


RESOURCES: dict[str, Schema] = {
    "QuarantinedMemory": resource(
        MEMORY_PROPERTIES
        | {
            "score": describe(
                {"type": "number", "minimum": 0, "maximum": 1},
                "How much its text looks like orders to the assistant.",
                0.85,
            ),
            "reasons": describe(
                {"type": "array", "items": TEXT}, "What in it looks so.", ["orders"]
            ),
        }
    ),
}

_QUARANTINE_PATH = "/v1/quarantine/{memory_id}"

OPERATIONS: tuple[Operation, ...] = (
    memory_operation(
        "listQuarantine",
        "GET /v1/quarantine",
        200,
        "List memories that were set aside because their text looks like orders to the assistant, "
        "the newest first. Of spaces that the caller may write; for an admin all.",
        response="QuarantinedMemory",
        query=FILTERS,
        paging=LIST,
        refusals=(404,),
    ),
    memory_operation(
        "releaseMemory",
        f"POST {_QUARANTINE_PATH}/release",
        200,
        "Let a quarantined memory in. It is active from now on, with trust `unknown`.",
        response="Memory",
        body=DecideQuarantine,
        answered={"trust": "unknown", "version": 2},
        refusals=(409,),
    ),
    memory_operation(
        "rejectMemory",
        f"POST {_QUARANTINE_PATH}/reject",
        204,
        "Remove a quarantined memory for good.",
        body=DecideQuarantine,
        refusals=(409,),
    ),
)


# Filters for which this list has no query parameters; the status is fixed.
_FILTER_DEFAULTS = dict.fromkeys(MemoryFilters.model_fields) | {"status": MemoryStatus.QUARANTINED}


async def list_quarantine(call: Call) -> bytes:
    filters = filters_from_query(_FILTER_DEFAULTS | dict(call.query))
    found = await call.services[QuarantineService].list(
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
    stored, now = await call.services[QuarantineService].release(
        call.required_requester, path_memory_id(call), call.body
    )
    return dump(memory_to_json(stored, now))


async def reject_memory(call: Call) -> None:
    await call.services[QuarantineService].reject(
        call.required_requester, path_memory_id(call), call.body
    )


HANDLERS: dict[str, Handler] = {
    "listQuarantine": list_quarantine,
    "releaseMemory": release_memory,
    "rejectMemory": reject_memory,
}
