"""Handlers of the memory family: one module a noun."""

from recollect.api.rest.dispatch import Handler
from recollect.api.rest.memory import agents

MEMORY_HANDLERS: dict[str, Handler] = {
    **agents.HANDLERS,
}
