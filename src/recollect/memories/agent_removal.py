"""Removes an agent: its memories, its participations and, if nothing refers to it, its id."""

from dataclasses import replace
from datetime import datetime

from recollect.agents.model import Agent, MemoriesOfRemoved
from recollect.audit.memory_recorder import MemoryAudit, record_memory_event
from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel.errors import Conflict
from recollect.kernel.ids import MemoryId
from recollect.kernel.runtime import Runtime
from recollect.memories.model import ArchiveReason, MemoryStatus, VersionChange
from recollect.memories.store.bundle import MemoryStores

_ROWS_AT_ONCE = 500


class AgentWithMemoriesRemoval:
    """Works in the transaction of the caller.

    Memories of the agent are those of its agent spaces and runs, and what it wrote to its org. What
    it wrote to spaces of users and chats belongs to these and stays.
    """

    def __init__(self, stores: MemoryStores, runtime: Runtime, audit: MemoryAudit) -> None:
        self._stores = stores
        self._runtime = runtime
        self._audit = audit

    def remove(
        self, tx: Tx, requester: Requester, agent: Agent, *, memories: MemoriesOfRemoved
    ) -> None:
        """Conflict if there are unexpired memories and `memories` is `refuse`."""
        at = self._runtime.clock.now()
        if memories is MemoriesOfRemoved.ARCHIVE:
            count = self._archive_memories(tx, requester, agent, at)
        else:
            if memories is MemoriesOfRemoved.REFUSE:
                self._require_no_memories(tx, agent, at)
            # After `refuse` there can be expired memories only; they go with the agent.
            count = self._delete_memories(tx, requester, agent, at)
        payload = {"memories": str(memories), "count": count}
        self._audit.record(tx, requester, "agent.remove", agent_id=agent.id, payload=payload)
        self._retire_agent(tx, agent, at)

    def _require_no_memories(self, tx: Tx, agent: Agent, at: datetime) -> None:
        if self._stores.agents.has_memories(tx, agent.id, now=at):
            raise Conflict(
                "the agent has memories: say with `memories` whether to archive or delete them",
                details={"reason": "has_memories"},
            )

    def _archive_memories(self, tx: Tx, requester: Requester, agent: Agent, at: datetime) -> int:
        count = 0
        # No cursor is needed: an archived memory is not on the next page.
        while ids := self._page_memories(tx, agent, archived=False):
            for memory_id in ids:
                self._archive_memory(tx, requester, memory_id, at)
            count += len(ids)
        return count

    def _archive_memory(
        self, tx: Tx, requester: Requester, memory_id: MemoryId, at: datetime
    ) -> None:
        before = self._stores.memories.fetch(tx, memory_id, lock=True)
        if before is None:
            return
        after = replace(
            before.memory,
            status=MemoryStatus.ARCHIVED,
            archive_reason=ArchiveReason.AGENT_REMOVED,
            version=before.memory.version + 1,
            updated_at=at,
        )
        self._stores.memories.update(
            tx, before, after, change=VersionChange.UPDATED, by=requester.identity, at=at
        )
        record_memory_event(
            self._audit,
            tx,
            requester,
            event_type="memory.update",
            memory=after,
            fields=["archive_reason", "status"],
            reason=str(ArchiveReason.AGENT_REMOVED),
        )

    def _delete_memories(self, tx: Tx, requester: Requester, agent: Agent, at: datetime) -> int:
        count = 0
        while ids := self._page_memories(tx, agent, archived=True):
            for memory_id in ids:
                self._delete_memory(tx, requester, memory_id, at)
            count += len(ids)
        return count

    def _delete_memory(
        self, tx: Tx, requester: Requester, memory_id: MemoryId, at: datetime
    ) -> None:
        stored = self._stores.memories.fetch(tx, memory_id, lock=True)
        if stored is None:
            return
        self._stores.memories.delete(tx, memory_id, at=at)
        record_memory_event(
            self._audit,
            tx,
            requester,
            event_type="memory.delete",
            memory=stored.memory,
            reason=str(ArchiveReason.AGENT_REMOVED),
        )

    def _page_memories(self, tx: Tx, agent: Agent, *, archived: bool) -> list[MemoryId]:
        return self._stores.agents.page_memories(
            tx, agent.id, archived=archived, limit=_ROWS_AT_ONCE
        )

    def _retire_agent(self, tx: Tx, agent: Agent, at: datetime) -> None:
        """Delete the row, or mark it as removed while something refers to the id: a new agent of
        that id would inherit it."""
        self._stores.agents.leave_chats(tx, agent.id, at=at)
        if self._stores.agents.is_referenced(tx, agent.id):
            self._stores.agents.update(tx, replace(agent, removed_at=at, updated_at=at))
        else:
            self._stores.agents.delete(tx, agent.id)
