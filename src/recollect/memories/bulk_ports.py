"""Storage port of retention and eviction: many memories at once, of all owners."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from recollect.db.transaction import Tx
from recollect.kernel.ids import MemoryId, RunId
from recollect.kernel.retention_rules import MemoryScope
from recollect.kernel.space import Space
from recollect.memories.model import CleanupRow

TimeCursor = tuple[datetime, str]


@dataclass(frozen=True, slots=True)
class OverQuotaSpace:
    """A space with more active rows than its quota, and their number."""

    space: Space
    count: int


class MemoryBulkStore(Protocol):
    """Pages are sorted by the named time column, then by id, and continue after a cursor. The
    caller applies the retention rules; these queries only narrow the candidates."""

    def lock_in_runs(self, tx: Tx, run_ids: Sequence[RunId]) -> list[CleanupRow]:
        """All rows in the spaces of these runs, locked until the transaction ends."""
        ...

    def page_expired(
        self,
        tx: Tx,
        *,
        now: datetime,
        scope: MemoryScope | None,
        after: TimeCursor | None,
        limit: int,
    ) -> list[CleanupRow]:
        """Rows past their expiry, by `expires_at`."""
        ...

    def page_old_records(
        self,
        tx: Tx,
        *,
        cutoff: datetime,
        scope: MemoryScope | None,
        after: TimeCursor | None,
        limit: int,
    ) -> list[CleanupRow]:
        """Records created at the cutoff or before, by `created_at`."""
        ...

    def page_inactive(
        self, tx: Tx, *, cutoff: datetime, after: TimeCursor | None, limit: int
    ) -> list[CleanupRow]:
        """Rows superseded or archived at the cutoff or before and not compacted yet, by
        `status_at`."""
        ...

    def spaces_over_quota(self, tx: Tx, *, most: int, now: datetime) -> list[OverQuotaSpace]:
        """Spaces with more than `most` active rows. Expired rows don't count."""
        ...

    def eviction_candidates(
        self, tx: Tx, space: Space, *, now: datetime, limit: int
    ) -> list[CleanupRow]:
        """The rows of a space to evict first, in this order."""
        ...

    def mark_used(
        self, tx: Tx, memory_ids: Sequence[MemoryId], *, at: datetime, unless_after: datetime
    ) -> None:
        """Set `used_at` of these rows. Skips rows used after `unless_after`, and rows that another
        transaction has locked: usage is not worth waiting for."""
        ...

    def fetch(self, tx: Tx, docs: Sequence[int]) -> list[CleanupRow]:
        """These rows as they are now, by `doc`."""
        ...

    def fetch_locked(self, tx: Tx, docs: Sequence[int]) -> list[CleanupRow]:
        """The same rows, locked until the transaction ends."""
        ...

    def remove(self, tx: Tx, memory_ids: Sequence[MemoryId], *, at: datetime) -> int:
        """Delete these rows with all that belongs to them. Returns how many existed. Histories of
        other memories keep their ids."""
        ...

    def compact_rows(self, tx: Tx, memory_ids: Sequence[MemoryId], *, at: datetime) -> None:
        """Mark these rows as compacted and delete their snapshots, index rows and vectors."""
        ...
