"""What a write of a memory calls in its own transaction: index, graph, runs, approvals, people."""

from datetime import datetime
from typing import Protocol

from recollect.agents.run import Run
from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel.ids import AgentId, ChatId, MemoryId, PersonId, RunId
from recollect.memories.expiry import Approval
from recollect.memories.model import StoredMemory
from recollect.people.subject_resolver import ResolvedSubjects
from recollect.search.model import IndexedWords


class MemoryIndexing(Protocol):
    """The search index of memories."""

    def write(self, tx: Tx, stored: StoredMemory, found: IndexedWords | None = None) -> None:
        """Index a new or changed memory; `found` are its words, if they were computed before."""
        ...

    def drop(self, tx: Tx, memory_id: MemoryId) -> None:
        """Remove a memory from the index, because it was deleted or quarantined."""
        ...


class GraphDrawing(Protocol):
    """The graph: statements of memories about people and things, as edges."""

    def write_edges(self, tx: Tx, stored: StoredMemory) -> None:
        """Replace the edges of a memory with those of its present text."""
        ...

    def update_edges(self, tx: Tx, before: StoredMemory, stored: StoredMemory) -> None:
        """Replace the edges of a changed memory, if its statement changed."""
        ...

    def delete_edges(self, tx: Tx, memory_id: MemoryId) -> None:
        """Remove the edges of a memory."""
        ...


class RunEntering(Protocol):
    """Looks up or starts the run that a memory is written to."""

    def enter_run(
        self, tx: Tx, requester: Requester, run_id: RunId, *, agent_id: AgentId, at: datetime
    ) -> Run:
        """The run to write to; an unknown one is started. Raises Forbidden for a run of another
        agent, Conflict for a completed one."""
        ...


class ApprovalRequests(Protocol):
    """Requests to let a memory expire later than its cap allows."""

    def request(
        self,
        tx: Tx,
        requester: Requester,
        stored: StoredMemory,
        *,
        until: datetime,
        at: datetime,
    ) -> Approval:
        """Create the request; `until` is the wanted expiry, which may be `FOREVER`."""
        ...


class SubjectResolving(Protocol):
    """Finds the people that a memory is about."""

    def resolve(
        self, tx: Tx, requester: Requester, names: tuple[str, ...], chat_id: ChatId | None
    ) -> ResolvedSubjects:
        """The people with these ids or names. An unknown name creates a person."""
        ...

    def canonical_ids(self, tx: Tx, person_ids: tuple[PersonId, ...]) -> tuple[PersonId, ...]:
        """The people that these ones were merged into, or they themselves."""
        ...
