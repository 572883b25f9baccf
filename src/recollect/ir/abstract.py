"""The interface of a store of memory entries."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

from recollect.agents.run import Run, RunStatus
from recollect.ir.entries import MemoryEntry
from recollect.kernel.retention_rules import MemoryScope


class AbstractMemoryStore(ABC):
    """Stores memory entries. It may be used from several event loops and threads at once.

    Raises ValueError for what breaks a rule, PermissionError for what belongs to another agent,
    RuntimeError before `initialize` and after `close`.
    """

    @abstractmethod
    async def initialize(self) -> None:
        """Open the store, and create the database if there is none. A second call does nothing."""

    @abstractmethod
    async def create_memory(self, entry: MemoryEntry) -> MemoryEntry:
        """Store a copy and return it as stored, with its expiry. SecretRefused if it holds a
        secret, ValueError if the id is taken."""

    @abstractmethod
    async def get_memory(self, memory_id: str) -> MemoryEntry | None:
        """None if it is unknown, hidden or expired."""

    @abstractmethod
    async def update_memory(self, entry: MemoryEntry) -> MemoryEntry:
        """Replace value, tags, metadata, policy, PII tags and expiry. The last writer wins.

        ValueError if it is unknown or expired, or if scope, agent, run or key differ.
        PermissionError also if it asks for more time than somebody else has approved.
        """

    @abstractmethod
    async def delete_memory(self, memory_id: str) -> bool:
        """Delete the entry. True for exactly one call per entry, however many run at once."""

    @abstractmethod
    async def list_memories(
        self,
        scope: MemoryScope | None = None,
        agent_slug: str | None = None,
        run_id: str | None = None,
        key: str | None = None,
        tags: Sequence[str] | None = None,
        include_expired: bool = False,
        limit: int = 100,
        offset: int = 0,
    ) -> list[MemoryEntry]:
        """Entries, newest first. `tags` must all be there. `limit` is 1 to 1000."""

    @abstractmethod
    async def search_memories(
        self,
        query: str,
        scope: MemoryScope | None = None,
        agent_slug: str | None = None,
        limit: int = 100,
    ) -> list[MemoryEntry]:
        """Entries, best match first. Any text is a valid query; a blank one finds nothing."""

    @abstractmethod
    async def expire_old_memories(self) -> int:
        """Delete everything that has expired; returns how many entries."""

    @abstractmethod
    async def vacuum(
        self, scope: MemoryScope | None = None, older_than_days: int = 90, dry_run: bool = False
    ) -> dict[str, Any]:
        """Delete entries that expired long ago and records older than `older_than_days`. They are
        written to a backup file first. With `dry_run` only count."""

    @abstractmethod
    async def close(self) -> None:
        """Finish running calls and close the database. A second call does nothing."""

    @abstractmethod
    def as_principal(
        self, agent_slug: str, run_id: str | None = None, org_id: str = "default"
    ) -> "AbstractMemoryStore":
        """A view with the rights of one agent; with `run_id` only of that run and its lineage."""

    async def start_run(
        self, agent_slug: str, run_id: str | None = None, parent_run_id: str | None = None
    ) -> Run:
        """Start a run of an agent, as a child of `parent_run_id` if that is given."""
        raise NotImplementedError("this store keeps no runs")

    async def complete_run(self, run_id: str, status: RunStatus | str) -> Run:
        """Complete a run. Entries that belong to it alone are deleted."""
        raise NotImplementedError("this store keeps no runs")

    async def __aenter__(self) -> Self:
        await self.initialize()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()
