"""Operations of the memory API: one module for each resource, with its bodies and schemas."""

from recollect.agents import rest as agents
from recollect.agents import rest_runs
from recollect.audit import rest as events
from recollect.doctor import rest as doctor
from recollect.erasure import rest as erasures
from recollect.graph import rest as graph
from recollect.http.call import Handler
from recollect.http.operation import Operation
from recollect.http.params import Schema
from recollect.memories import rest as memories
from recollect.memories import rest_about_person, rest_read
from recollect.people import rest as people
from recollect.people import rest_chats
from recollect.portability import rest as portability
from recollect.retention import rest as retention
from recollect.retention import rest_approvals, rest_cleanup, rest_quarantine
from recollect.rollback import rest as rollback
from recollect.search import rest_memories

_NOUNS = (
    agents,
    people,
    rest_about_person,
    rest_chats,
    rest_runs,
    events,
    memories,
    rest_read,
    graph,
    rest_memories,
    rest_approvals,
    rest_cleanup,
    doctor,
    erasures,
    retention,
    rest_quarantine,
    rollback,
    portability,
)

MEMORY_OPERATIONS: tuple[Operation, ...] = tuple(row for noun in _NOUNS for row in noun.OPERATIONS)
MEMORY_RESOURCES: dict[str, Schema] = {
    name: shape for noun in _NOUNS for name, shape in noun.RESOURCES.items()
}


MEMORY_HANDLERS: dict[str, Handler] = {
    name: handler for noun in _NOUNS for name, handler in noun.HANDLERS.items()
}
