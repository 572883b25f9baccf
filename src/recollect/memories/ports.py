"""Storage port of memories.

Reads on behalf of a caller take a `Viewer`: rows can't be asked for without saying for whom, in
which chat and at what time. `fetch` has none, and is for decisions of the server alone.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from recollect.db.transaction import Tx
from recollect.kernel.ids import MemoryId
from recollect.kernel.owner import Owner
from recollect.kernel.space import Space
from recollect.memories.model import (
    Memory,
    MemoryFilter,
    MemoryVersion,
    StoredMemory,
    VersionChange,
)
from recollect.visibility.viewer import Viewer


class MemoryStore(Protocol):
    """Memories with their versions, subjects, tags, sources and links."""

    def insert(self, tx: Tx, stored: StoredMemory) -> StoredMemory | None:
        """Insert the row with its first version, subjects, tags, sources and links. Returns it with
        its `doc`. Returns None and writes nothing if the id is taken."""
        ...

    def fetch(self, tx: Tx, memory_id: MemoryId, *, lock: bool = False) -> StoredMemory | None:
        """The row in any status, without a check of visibility: for decisions, never to be shown.
        With `lock` it is locked until the transaction ends."""
        ...

    def fetch_visible(
        self, tx: Tx, sight: Viewer, memory_id: MemoryId, chosen: MemoryFilter
    ) -> StoredMemory | None:
        """The row, if the viewer can see it and the filter matches."""
        ...

    def fetch_many_visible(
        self,
        tx: Tx,
        sight: Viewer,
        memory_ids: Sequence[MemoryId],
        chosen: MemoryFilter,
        *,
        compacted: bool = False,
    ) -> dict[MemoryId, StoredMemory]:
        """Those of these rows that the viewer can see and the filter matches; with `compacted` also
        those whose text was dropped."""
        ...

    def page(
        self,
        tx: Tx,
        sight: Viewer,
        chosen: MemoryFilter,
        *,
        after: tuple[datetime, str] | None,
        limit: int,
    ) -> list[StoredMemory]:
        """A page of visible rows by `created_at` and id, newest first."""
        ...

    def update(
        self,
        tx: Tx,
        before: StoredMemory,
        after: Memory,
        *,
        change: VersionChange,
        by: Owner,
        at: datetime,
    ) -> StoredMemory:
        """Store the next version (`after.version` is one more) and keep the previous one as a
        snapshot. Subjects, tags, sources and conflict links are updated. The caller holds the lock.
        The columns beside the memory are stored as they are in `before`."""
        ...

    def delete(self, tx: Tx, memory_id: MemoryId, *, at: datetime) -> bool:
        """Delete the row with its versions, index rows, vectors, edges, conflict links and
        approvals. Histories of other memories keep its id. False if it was gone."""
        ...

    def versions(self, tx: Tx, memory_ids: Sequence[MemoryId]) -> list[MemoryVersion]:
        """All versions of these memories, oldest first."""
        ...

    def predecessors(
        self, tx: Tx, memory_ids: Sequence[MemoryId]
    ) -> dict[MemoryId, list[MemoryId]]:
        """What each of these replaced directly. A link without a reason counts only if both rows
        exist and lie in one space."""
        ...

    def successors(self, tx: Tx, memory_ids: Sequence[MemoryId]) -> set[MemoryId]:
        """The memories that directly replaced any of these."""
        ...

    def removals(self, tx: Tx, memory_ids: Sequence[MemoryId]) -> dict[MemoryId, datetime]:
        """Those of these that were removed while a history named them, and when."""
        ...

    def link_superseded(
        self, tx: Tx, successor: MemoryId, predecessor: MemoryId, *, at: datetime, reason: str
    ) -> None:
        """Store the link between successor and predecessor. Their rows are changed by `update`."""
        ...

    def link_conflict(self, tx: Tx, one: MemoryId, other: MemoryId, *, at: datetime) -> None:
        """Link both ways."""
        ...

    def find_same_text(self, tx: Tx, stored: StoredMemory, *, now: datetime) -> list[StoredMemory]:
        """Active statements of the same space whose text is equal after folding, oldest first,
        whatever their speaker and subjects.

        Locks the text in that space until the transaction ends: other writers of an equal text
        wait here. So a text that was not found can be inserted.
        """
        ...

    def lock_key(self, tx: Tx, space: Space, key: str) -> None:
        """Lock a record key of a space until the transaction ends, whether or not a row has it."""
        ...

    def find_by_key(self, tx: Tx, space: Space, key: str, *, now: datetime) -> list[StoredMemory]:
        """Active records of a space with a key, newest first."""
        ...

    def fetch_embedding(self, tx: Tx, memory_id: MemoryId) -> list[float] | None:
        """The vector of its text; None while there is none."""
        ...
