"""The operations of the whole API: the rows, resources and handlers of every subject.

This is the one table that every surface reads; `http/operation.py` says what a row holds and how
an operation is added.
"""

from recollect.agents import rest as agents
from recollect.agents import rest_runs
from recollect.api import system
from recollect.api_keys import rest as api_keys
from recollect.audit import rest as events
from recollect.conversations import rest as conversations
from recollect.conversations import rest_admin, rest_eviction
from recollect.conversations.entries import rest as entries
from recollect.conversations.sharing import rest as memberships
from recollect.conversations.sharing import rest_transfers
from recollect.doctor import rest as doctor
from recollect.erasure import rest as erasures
from recollect.graph import rest as graph
from recollect.http.call import Handler
from recollect.http.operation import Operation, OperationFamily
from recollect.http.params import Schema
from recollect.memories import rest as memories
from recollect.memories import rest_about_person, rest_read
from recollect.people import rest as people
from recollect.people import rest_chats
from recollect.portability import rest as portability
from recollect.recordings import rest as recordings
from recollect.retention import rest as retention
from recollect.retention import rest_approvals, rest_cleanup, rest_quarantine
from recollect.rollback import rest as rollback
from recollect.search import rest_entries, rest_memories

# Routes of the conversation API are tried in this order. Entries come first, because appends are
# the most frequent. Search comes before the modules whose paths have `{id}` in the place of its
# word `search`.
_MODULES = (
    entries,
    rest_entries,
    conversations,
    memberships,
    rest_transfers,
    recordings,
    rest_admin,
    rest_eviction,
    api_keys,
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

OPERATIONS: tuple[Operation, ...] = (
    *(row for module in _MODULES for row in module.OPERATIONS),
    *system.OPERATIONS,
)
RESOURCES: dict[str, Schema] = {
    name: schema for module in (*_MODULES, system) for name, schema in module.RESOURCES.items()
}
HANDLERS: dict[str, Handler] = {
    name: handler for module in _MODULES for name, handler in module.HANDLERS.items()
}
"""The handlers of all operations but those of `api/system.py`."""
MEMORY_OPERATIONS = tuple(row for row in OPERATIONS if row.family is OperationFamily.MEMORIES)
CONVERSATION_OPERATIONS = tuple(
    row for row in OPERATIONS if row.family is not OperationFamily.MEMORIES
)
"""The operations of the conversation, admin and system families."""
