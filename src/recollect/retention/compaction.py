"""Compaction: removes the text of memories superseded or archived long ago. Ids, times and links
stay, so histories remain complete."""

from dataclasses import replace
from datetime import datetime

from recollect.db.transaction import Tx
from recollect.kernel.ids import MemoryId
from recollect.kernel.owner import Owner
from recollect.memories.cleanup_rules import can_compact
from recollect.memories.model import CleanupRow, VersionChange
from recollect.retention.batch_delete import (
    BatchAction,
    CandidateScan,
    CleanupDecision,
)
from recollect.retention.store_bundle import RetentionStores

COMPACTED_RULE = "compacted"
ROWS_PER_TRANSACTION = 100


class Compaction:
    """The scan and the batch action of a compaction."""

    def __init__(self, stores: RetentionStores) -> None:
        self._stores = stores

    def candidate_scan(self, now: datetime, cutoff: datetime) -> CandidateScan:
        """Rows superseded or archived at the cutoff or before."""

        def judge(row: CleanupRow) -> CleanupDecision | None:
            return CleanupDecision(COMPACTED_RULE) if can_compact(row, now, cutoff=cutoff) else None

        return CandidateScan(
            lambda tx, after, limit: self._stores.memory_bulk.page_inactive(
                tx, cutoff=cutoff, after=after, limit=limit
            ),
            lambda row: row.status_at,
            judge,
        )

    def batch_action(self, by: Owner, now: datetime) -> BatchAction:
        """Clears texts of rows, their snapshots, words and vectors. The rows must be locked."""

        def work(tx: Tx, rows: list[CleanupRow]) -> int:
            emptied = [row.id for row in rows if self._clear_text(tx, row.id, by, now)]
            self._stores.memory_bulk.compact_rows(tx, emptied, at=now)
            return len(emptied)

        return work

    def _clear_text(self, tx: Tx, memory_id: MemoryId, by: Owner, now: datetime) -> bool:
        before = self._stores.memories.fetch(tx, memory_id)
        if before is None:
            return False
        after = replace(
            before.memory,
            content="",
            value=None if before.memory.value is None else {},
            messages=(),
            metadata={},
            version=before.memory.version + 1,
            updated_at=now,
        )
        self._stores.memories.update(
            tx, before, after, change=VersionChange.COMPACTED, by=by, at=now
        )
        return True
