"""The quota of active memories a space (`memory.max_entries`): the least needed are archived.

The quota is soft. Writes are never refused for it; each gc archives what is over.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from recollect.domain.agents import Owner
from recollect.domain.housekeeping import Brief, may_evict
from recollect.domain.memories import ArchiveReason, Status
from recollect.ports.database import Database, Tx
from recollect.ports.housekeeping import Crowd
from recollect.ports.memories import Change
from recollect.ports.stores import Stores
from recollect.services.housekeeping_events import Commission, Telling
from recollect.services.memory_audit import MemoryAudit
from recollect.services.memory_use import MemoryUse
from recollect.services.sweeping import Plan, Sweep, Sweeper, Verdict

_ROWS_PER_TRANSACTION = 100


class Crowding:
    """Handles each space on its own: a full space never evicts rows of another."""

    def __init__(
        self,
        database: Database,
        stores: Stores,
        audit: MemoryAudit,
        *,
        use: MemoryUse,
        max_entries: int | None,
    ) -> None:
        self._database = database
        self._stores = stores
        self._audit = audit
        self._use = use
        self._most = max_entries
        self._sweeper = Sweeper(database, stores)

    async def evict(self, commission: Commission, now: datetime) -> int:
        """Archive what is over quota in every space; returns how many rows, or would be.

        Uses that are still in memory are written first: the order of eviction depends on when a
        row was last shown.
        """
        most = self._most
        if most is None:
            return 0
        await self._use.flush()
        crowds = await self._database.scan(
            lambda tx: self._stores.memory_bulk.crowded(tx, most=most, now=now)
        )
        return sum(
            [await self._relieve(commission, crowd, crowd.count - most, now) for crowd in crowds]
        )

    async def _relieve(self, commission: Commission, crowd: Crowd, over: int, now: datetime) -> int:
        """Archive up to `over` rows of one space.

        There may be fewer candidates: rows younger than a week and rows under a retention policy
        are exempt. The audit event then says how many rows stay over quota (`shortfall`). It is
        written even if nothing can be archived, so that a space which stays too full is noticed.
        """
        rows = await self._database.scan(
            lambda tx: self._stores.memory_bulk.evictable(tx, crowd.space, now=now, limit=over)
        )
        if commission.dry_run:
            return len(rows)
        told = {"shortfall": over - len(rows)}
        telling = Telling(self._audit, self._stores, "memory.evict", commission, told, crowd.space)
        if not rows:
            await self._database.write(lambda tx: telling.add(tx, 0))
            return 0
        return await self._archive(rows, commission.by, telling, now)

    async def _archive(
        self, rows: Sequence[Brief], by: Owner, telling: Telling, now: datetime
    ) -> int:
        # SQL has ordered and limited the rows, so no scan is needed. The runner still locks each
        # batch and checks it again: a row that was used or changed meanwhile may be exempt now.
        plan = Plan()
        for row in rows:
            plan.note(row, Verdict("evicted"))
        sweep = Sweep(
            plan,
            lambda row: Verdict("evicted") if may_evict(row, now) else None,
            lambda tx, held: sum(self._put_away(tx, row, by, now) for row in held),
            _ROWS_PER_TRANSACTION,
        )
        swept = await self._sweeper.carry_out(sweep, tell=telling.add, event_id=None)
        return swept.count

    def _put_away(self, tx: Tx, row: Brief, by: Owner, now: datetime) -> bool:
        before = self._stores.memories.fetch(tx, row.id)
        if before is None:
            return False
        after = replace(
            before.memory,
            status=Status.ARCHIVED,
            archive_reason=ArchiveReason.EVICTED,
            version=before.memory.version + 1,
            updated_at=now,
        )
        self._stores.memories.update(tx, before, after, change=Change.UPDATED, by=by, at=now)
        return True
