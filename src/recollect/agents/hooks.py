"""Interfaces of what agents and runs call in `memories`, which passes its implementations in."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from recollect.agents.model import Agent, MemoriesOfRemoved
from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel.ids import MemoryId, OrgId, RunId, UserId
from recollect.memories.model import CleanupRow


class HandleTakeover(Protocol):
    """Gives users what was said of them before they were known."""

    def take_over(self, tx: Tx, user_id: UserId, orgs: frozenset[OrgId]) -> None:
        """Merge the people of these orgs who stand for this user into the user's person."""
        ...


class AgentRemoval(Protocol):
    """Removes an agent with its memories and participations."""

    def remove(
        self, tx: Tx, requester: Requester, agent: Agent, *, memories: MemoriesOfRemoved
    ) -> None:
        """Conflict if there are unexpired memories and `memories` is `refuse`."""
        ...


class RunMemories(Protocol):
    """The memories in the spaces of runs."""

    def lock_in_runs(self, tx: Tx, run_ids: Sequence[RunId]) -> list[CleanupRow]:
        """All rows in the spaces of these runs, locked until the transaction ends."""
        ...

    def remove(self, tx: Tx, memory_ids: Sequence[MemoryId], *, at: datetime) -> int:
        """Delete rows with everything that belongs to them; returns their number."""
        ...
