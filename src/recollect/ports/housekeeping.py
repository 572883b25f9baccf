"""What services ask of storage to tidy up: many memories at once, whoever they belong to."""

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
    """A space with more active rows than it may have, and how many these are."""

    space: Space
    count: int


class MemoryBulkStore(Protocol):
    """Pages are in the order of the time that they are about, then of ids, and go on after the
    place of the last row seen. Rules are the caller's: these statements only narrow the search."""

    def in_runs(self, tx: Tx, run_ids: Sequence[RunId]) -> list[Brief]:
        """All rows of the spaces of these runs, held until the transaction ends."""
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
        """Records made at the cutoff or before, by `created_at`."""
        ...

    def put_away(self, tx: Tx, *, cutoff: datetime, after: Place | None, limit: int) -> list[Brief]:
        """Rows superseded or archived at the cutoff or before and not compacted, by
        `status_at`."""
        ...

    def crowded(self, tx: Tx, *, most: int, now: datetime) -> list[Crowd]:
        """Spaces with more active rows than `most`; rows that are due don't count."""
        ...

    def evictable(self, tx: Tx, space: Space, *, now: datetime, limit: int) -> list[Brief]:
        """The rows of a space that go first."""
        ...

    def mark_used(
        self, tx: Tx, memory_ids: Sequence[MemoryId], *, at: datetime, unless_after: datetime
    ) -> None:
        """These rows were shown at an instant; nothing else of them changes. What was shown after
        the other instant, and what somebody else holds, is left as it is."""
        ...

    def fetch(self, tx: Tx, docs: Sequence[int]) -> list[Brief]:
        """These rows as they are now, by number."""
        ...

    def hold(self, tx: Tx, docs: Sequence[int]) -> list[Brief]:
        """The same, held until the transaction ends."""
        ...

    def remove(self, tx: Tx, memory_ids: Sequence[MemoryId], *, at: datetime) -> int:
        """These rows with all that hangs on them; how many were still there. Histories of others
        keep their ids."""
        ...

    def forget_texts(self, tx: Tx, memory_ids: Sequence[MemoryId], *, at: datetime) -> None:
        """Mark these rows as compacted and drop their snapshots, words and vectors."""
        ...
