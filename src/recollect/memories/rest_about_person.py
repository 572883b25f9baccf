"""The operation that lists the memories about a person."""

from typing import Any

from recollect.http.call import Call, Handler
from recollect.http.operation import LIST, Operation, id_param, memory_operation
from recollect.http.params import Schema
from recollect.kernel.strict_json import dump
from recollect.memories.filters import FILTER_PARAMS, filters_from_query
from recollect.memories.read.about_person import PersonMemories
from recollect.memories.render import memory_to_json
from recollect.people.rest import path_person_id

# Filters that this list sets itself: the subject is the person, and the spaces are fixed.
_FIXED_FILTERS = {"subjects", "agent_id", "spaces", "visibility", "scope", "run_id", "user_id"}
MEMORY_PARAMS = tuple(param for param in FILTER_PARAMS if param.name not in _FIXED_FILTERS)
# Defaults of those filters that `listPersonMemories` does not accept.
_FILTER_DEFAULTS: dict[str, Any] = {
    param.name: param.default for param in FILTER_PARAMS if param not in MEMORY_PARAMS
}

OPERATIONS: tuple[Operation, ...] = (
    memory_operation(
        "listPersonMemories",
        "GET /v1/people/{person_id}/memories",
        200,
        "List what spaces of users and chats hold about a person, as far as it may be told to the "
        "caller here, the newest first.",
        response="Memory",
        query=(
            id_param("exclude_owner_user_id", "Leave out the space of this user."),
            *MEMORY_PARAMS,
        ),
        paging=LIST,
    ),
)


async def list_person_memories(call: Call) -> bytes:
    found = await call.services[PersonMemories].list(
        call.required_requester,
        path_person_id(call),
        filters_from_query({**_FILTER_DEFAULTS, **call.query}),
        outside_user=call.query["exclude_owner_user_id"],
        after=call.page.after,
        limit=call.page.size,
    )
    items = (dump(memory_to_json(stored, found.now)) for stored in found.page.items)
    return call.render_page(items, found.page.next_cursor)


RESOURCES: dict[str, Schema] = {}
HANDLERS: dict[str, Handler] = {"listPersonMemories": list_person_memories}
