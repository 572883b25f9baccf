"""Storage of quarantine and rollback. Unlike other reads these return rows by write permission: of
spaces that the viewer's callers may write, or all rows for a system viewer."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from recollect.db.transaction import Tx
from recollect.kernel.ids import MemoryId
from recollect.kernel.owner import Owner
from recollect.memories.model import MemoryFilter, StoredMemory
from recollect.visibility.viewer import Viewer


class SourceKind(StrEnum):
    """What a rollback selects memories by; the values are the field names of the API."""

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
    """The source to roll back, limited to memories created from `since` on and before `until`."""

    kind: SourceKind
    id: str
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Rollback:
    """An executed rollback. `changes` is the record of `RollbackChanges`."""

    id: str
    at: datetime
    by: Owner
    source: dict[str, Any]
    changes: dict[str, Any]
    undone_at: datetime | None = None


class ModerationStore(Protocol):
    """Quarantined rows, rows by source, rollbacks."""

    def list_quarantined(
        self,
        tx: Tx,
        sight: Viewer,
        chosen: MemoryFilter,
        *,
        after: tuple[datetime, str] | None,
        limit: int,
    ) -> list[StoredMemory]:
        """Quarantined rows, newest first by `created_at` and id. No other read returns them; this
        is for those who may release them."""
        ...

    def list_from_source(
        self, tx: Tx, source: RollbackSource, *, after: MemoryId | None, limit: int
    ) -> list[MemoryId]:
        """Ids of memories that came directly from the source, in any space, ordered by id."""
        ...

    def list_derived(self, tx: Tx, memory_ids: Collection[MemoryId]) -> list[MemoryId]:
        """Ids of memories that name one of these as a source."""
        ...

    def fetch_many(
        self, tx: Tx, memory_ids: Sequence[MemoryId], *, lock: bool = False
    ) -> list[StoredMemory]:
        """These rows ordered by id; with `lock` they are locked until the transaction ends."""
        ...

    def put_rollback(self, tx: Tx, rollback: Rollback) -> None:
        """Insert it, or update `changes` and `undone_at`."""
        ...

    def fetch_rollback(self, tx: Tx, rollback_id: str, *, lock: bool = False) -> Rollback | None:
        """With `lock` the row is locked until the transaction ends."""
        ...
