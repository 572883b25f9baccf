"""Operations of the memory API: one module for each resource, with its bodies and schemas."""

from recollect.api.memory import (
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
from recollect.api.operation import Operation
from recollect.api.params import Schema

_NOUNS = (
    agents,
    people,
    chats,
    runs,
    events,
    memories,
    reading,
    graph,
    search,
    approvals,
    housekeeping,
    doctor,
    erasures,
    retention,
    quarantine,
    rollback,
    portability,
)

MEMORY_OPERATIONS: tuple[Operation, ...] = tuple(row for noun in _NOUNS for row in noun.OPERATIONS)
MEMORY_RESOURCES: dict[str, Schema] = {
    name: shape for noun in _NOUNS for name, shape in noun.RESOURCES.items()
}
