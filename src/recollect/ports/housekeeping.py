"""Storage port of retention and eviction: many memories at once, of all owners."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from recollect.domain.housekeeping import Brief
from recollect.domain.memories import MemoryId
from recollect.domain.retention import MemoryScope
from recollect.domain.spaces import RunId, Space
from recollect.ports.database import Tx

Place = tuple[datetime, str]


@dataclass(frozen=True, slots=True)
class Crowd:
    """A space with more active rows than its quota, and their number."""

    space: Space
    count: int


class MemoryBulkStore(Protocol):
    """Pages are sorted by the named time column, then by id, and continue after a cursor. The
    caller applies the retention rules; these queries only narrow the candidates."""

    def in_runs(self, tx: Tx, run_ids: Sequence[RunId]) -> list[Brief]:
        """All rows in the spaces of these runs, locked until the transaction ends."""
        ...

    def due(
        self,
        tx: Tx,
        *,
        now: datetime,
        scope: MemoryScope | None,
        after: Place | None,
        limit: int,
    ) -> list[Brief]:
        """Rows past their expiry, by `expires_at`."""
        ...

    def old_records(
        self,
        tx: Tx,
        *,
        cutoff: datetime,
        scope: MemoryScope | None,
        after: Place | None,
        limit: int,
    ) -> list[Brief]:
        """Records created at the cutoff or before, by `created_at`."""
        ...

    def put_away(self, tx: Tx, *, cutoff: datetime, after: Place | None, limit: int) -> list[Brief]:
        """Rows superseded or archived at the cutoff or before and not compacted yet, by
        `status_at`."""
        ...

    def crowded(self, tx: Tx, *, most: int, now: datetime) -> list[Crowd]:
        """Spaces with more than `most` active rows. Expired rows don't count."""
        ...

    def evictable(self, tx: Tx, space: Space, *, now: datetime, limit: int) -> list[Brief]:
        """The rows of a space to evict first, in this order."""
        ...

    def mark_used(
        self, tx: Tx, memory_ids: Sequence[MemoryId], *, at: datetime, unless_after: datetime
    ) -> None:
        """Set `used_at` of these rows. Skips rows used after `unless_after`, and rows that another
        transaction has locked: usage is not worth waiting for."""
        ...

    def fetch(self, tx: Tx, docs: Sequence[int]) -> list[Brief]:
        """These rows as they are now, by `doc`."""
        ...

    def hold(self, tx: Tx, docs: Sequence[int]) -> list[Brief]:
        """The same rows, locked until the transaction ends."""
        ...

    def remove(self, tx: Tx, memory_ids: Sequence[MemoryId], *, at: datetime) -> int:
        """Delete these rows with all that belongs to them. Returns how many existed. Histories of
        other memories keep their ids."""
        ...

    def forget_texts(self, tx: Tx, memory_ids: Sequence[MemoryId], *, at: datetime) -> None:
        """Mark these rows as compacted and delete their snapshots, index rows and vectors."""
        ...
