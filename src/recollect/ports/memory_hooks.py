"""What a write of a memory sets in motion, in its own transaction."""

from datetime import datetime
from typing import Protocol

from recollect.domain.agents import AgentId
from recollect.domain.disclosure import PersonId
from recollect.domain.expiry import Approval
from recollect.domain.memories import MemoryId
from recollect.domain.runs import Run
from recollect.domain.search import IndexedWords
from recollect.domain.spaces import ChatId, RunId
from recollect.policy.requesters import Requester
from recollect.ports.database import Tx
from recollect.ports.memories import Stored


class MemoryIndexing(Protocol):
    """By what memories are found."""

    def write(self, tx: Tx, stored: Stored, found: IndexedWords | None = None) -> None:
        """Index a new or changed memory; `found` are its words, where somebody has them."""
        ...

    def drop(self, tx: Tx, memory_id: MemoryId) -> None:
        """Forget a memory that is removed or set aside."""
        ...


class GraphDrawing(Protocol):
    """What memories say of people and things, as edges."""

    def draw(self, tx: Tx, stored: Stored) -> None:
        """The edges of a memory that is new or found again, in place of those it had."""
        ...

    def redraw(self, tx: Tx, before: Stored, stored: Stored) -> None:
        """The edges of a changed memory, if it says something else than before."""
        ...

    def erase(self, tx: Tx, memory_id: MemoryId) -> None:
        """Remove the edges of a memory."""
        ...


class RunEntering(Protocol):
    """Runs, as far as a write needs them."""

    def enter(
        self, tx: Tx, requester: Requester, run_id: RunId, *, agent_id: AgentId, at: datetime
    ) -> Run:
        """The run to write to; an unknown one starts. Forbidden for a run of another agent,
        Conflict for a completed one."""
        ...


class ApprovalRequests(Protocol):
    """Requests to let a memory live past its cap."""

    def request(
        self, tx: Tx, requester: Requester, stored: Stored, *, wish: datetime, at: datetime
    ) -> Approval:
        """Ask for it; `wish` may be `FOREVER`."""
        ...


class SubjectResolving(Protocol):
    """Whom a memory is about."""

    def resolve(
        self, tx: Tx, requester: Requester, names: tuple[str, ...], chat_id: ChatId | None
    ) -> tuple[PersonId, ...]:
        """The people meant by these ids and names; who is unknown by name is made."""
        ...

    def canonical(self, tx: Tx, person_ids: tuple[PersonId, ...]) -> tuple[PersonId, ...]:
        """The same people after all merges."""
        ...
