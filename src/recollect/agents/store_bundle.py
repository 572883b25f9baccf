"""AgentStores: the stores that code of this package gets."""

from dataclasses import dataclass

from recollect.agents.runs_store import RunStore
from recollect.agents.store import AgentStore
from recollect.conversations.ports import ConversationStores


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentStores(ConversationStores):
    """The stores of this package and of those below."""

    agents: AgentStore
    runs: RunStore
