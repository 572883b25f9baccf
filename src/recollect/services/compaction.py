"""Compaction: removes the text of memories superseded or archived long ago. Ids, times and links
stay, so histories remain complete."""

from dataclasses import replace
from datetime import datetime

from recollect.domain.agents import Owner
from recollect.domain.housekeeping import Brief, may_compact
from recollect.domain.memories import MemoryId
from recollect.ports.database import Tx
from recollect.ports.memories import Change
from recollect.ports.stores import Stores
from recollect.services.sweeping import Act, Verdict, Walk

COMPACTED = "compacted"
ROWS_PER_TRANSACTION = 100


class Compaction:
    """The scan and the batch action of a compaction."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores

    def walk(self, now: datetime, cutoff: datetime) -> Walk:
        """Rows superseded or archived at the cutoff or before."""

        def judge(row: Brief) -> Verdict | None:
            return Verdict(COMPACTED) if may_compact(row, now, cutoff=cutoff) else None

        return Walk(
            lambda tx, after, limit: self._stores.memory_bulk.put_away(
                tx, cutoff=cutoff, after=after, limit=limit
            ),
            lambda row: row.status_at,
            judge,
        )

    def act(self, by: Owner, now: datetime) -> Act:
        """Clears texts of rows, their snapshots, words and vectors. The rows must be locked."""

        def work(tx: Tx, rows: list[Brief]) -> int:
            emptied = [row.id for row in rows if self._empty(tx, row.id, by, now)]
            self._stores.memory_bulk.forget_texts(tx, emptied, at=now)
            return len(emptied)

        return work

    def _empty(self, tx: Tx, memory_id: MemoryId, by: Owner, now: datetime) -> bool:
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
        self._stores.memories.update(tx, before, after, change=Change.COMPACTED, by=by, at=now)
        return True
