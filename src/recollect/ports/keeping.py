"""What services ask of storage for those who look after spaces: rows of the spaces that the sight's
callers may write, and every row where the sight is that of the whole."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from recollect.domain.agents import Owner
from recollect.domain.memories import MemoryId
from recollect.policy.sight import Sight
from recollect.ports.database import Tx
from recollect.ports.memories import MemoryFilter, Stored


class SourceKind(StrEnum):
    """By what the memories of a rollback are named."""

    ENTRY = "entry_id"
    CONVERSATION = "conversation_id"
    CHAT = "chat_id"
    AGENT = "agent_id"
    STATER = "stated_by"
    RUN = "run_id"
    IMPORT = "import_id"
    MEMORY = "memory_id"


@dataclass(frozen=True, slots=True)
class RollbackSource:
    """Where what shall be taken back came from. The instants narrow when its memories were stored:
    from `since` on, before `until`."""

    kind: SourceKind
    id: str
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Rollback:
    """A rollback that was carried out. `changes` is the service's own record of what it did."""

    id: str
    at: datetime
    by: Owner
    source: dict[str, Any]
    changes: dict[str, Any]
    undone_at: datetime | None = None


class KeepingStore(Protocol):
    """Quarantined rows, and what comes from a source."""

    def quarantined(
        self,
        tx: Tx,
        sight: Sight,
        chosen: MemoryFilter,
        *,
        after: tuple[datetime, str] | None,
        limit: int,
    ) -> list[Stored]:
        """By `created_at` and id, newest first. Reads show them to nobody: this is for who may
        release them."""
        ...

    def from_source(
        self, tx: Tx, source: RollbackSource, *, after: MemoryId | None, limit: int
    ) -> list[MemoryId]:
        """Memories that came straight from it, whoever they belong to, by id."""
        ...

    def derived_from(self, tx: Tx, memory_ids: Collection[MemoryId]) -> list[MemoryId]:
        """Memories that have one of these among their sources."""
        ...

    def fetch_many(
        self, tx: Tx, memory_ids: Sequence[MemoryId], *, lock: bool = False
    ) -> list[Stored]:
        """These rows as they are, by id; with `lock` held until the transaction ends."""
        ...

    def put_rollback(self, tx: Tx, rollback: Rollback) -> None:
        """Store it, or what was added to it."""
        ...

    def fetch_rollback(self, tx: Tx, rollback_id: str, *, lock: bool = False) -> Rollback | None:
        """One rollback. With `lock` it is held until the transaction ends."""
        ...
