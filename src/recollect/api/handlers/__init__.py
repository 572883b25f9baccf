"""Handlers of the memory API, one module for each resource, and the table of all of them."""

from recollect.api.calls import Handler
from recollect.api.handlers import (
    agents,
    approvals,
    chats,
    doctor,
    erasures,
    events,
    graph,
    housekeeping,
    memories,
    people,
    portability,
    quarantine,
    reading,
    retention,
    rollback,
    runs,
    search,
)

MEMORY_HANDLERS: dict[str, Handler] = {
    **agents.HANDLERS,
    **people.HANDLERS,
    **chats.HANDLERS,
    **events.HANDLERS,
    **graph.HANDLERS,
    **runs.HANDLERS,
    **memories.HANDLERS,
    **reading.HANDLERS,
    **search.HANDLERS,
    **approvals.HANDLERS,
    **housekeeping.HANDLERS,
    **doctor.HANDLERS,
    **erasures.HANDLERS,
    **retention.HANDLERS,
    **quarantine.HANDLERS,
    **rollback.HANDLERS,
    **portability.HANDLERS,
}
