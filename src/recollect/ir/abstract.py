"""What a store of memory entries does, whoever keeps it."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

from recollect.domain.retention import MemoryScope
from recollect.domain.runs import Run, RunStatus
from recollect.ir.entries import MemoryEntry


class AbstractMemoryStore(ABC):
    """Keeps memory entries. May be used from several event loops and threads.

    ValueError for what breaks a rule, PermissionError for what is another's, RuntimeError before
    `initialize` and after `close`.
    """

    @abstractmethod
    async def initialize(self) -> None:
        """Open the store, making what is not there. A second call changes nothing."""

    @abstractmethod
    async def create_memory(self, entry: MemoryEntry) -> MemoryEntry:
        """Store a copy and return it as it is stored, with its expiry. SecretRefused if it holds a
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
        """True for exactly one call per entry."""

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
        """The newest first. All tags must be there. `limit` is 1 to 1000."""

    @abstractmethod
    async def search_memories(
        self,
        query: str,
        scope: MemoryScope | None = None,
        agent_slug: str | None = None,
        limit: int = 100,
    ) -> list[MemoryEntry]:
        """The best match first. Any text is a query; a blank one finds nothing."""

    @abstractmethod
    async def expire_old_memories(self) -> int:
        """Remove all that is past its expiry; how many there were."""

    @abstractmethod
    async def vacuum(
        self, scope: MemoryScope | None = None, older_than_days: int = 90, dry_run: bool = False
    ) -> dict[str, Any]:
        """Remove what expired long ago and records that are too old, written to a file first."""

    @abstractmethod
    async def close(self) -> None:
        """Finish what was begun and let go. A second call changes nothing."""

    @abstractmethod
    def as_principal(
        self, agent_slug: str, run_id: str | None = None, org_id: str = "default"
    ) -> "AbstractMemoryStore":
        """A view with the rights of one agent, in one run if that is given."""

    async def start_run(
        self, agent_slug: str, run_id: str | None = None, parent_run_id: str | None = None
    ) -> Run:
        """Begin a run of an agent, under the run that called it."""
        raise NotImplementedError("this store keeps no runs")

    async def complete_run(self, run_id: str, status: RunStatus | str) -> Run:
        """End a run. What belongs to it alone is removed."""
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
