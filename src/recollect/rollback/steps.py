"""The steps of a rollback and of its undo, within a transaction. A row that changed since it was
planned, or since it was rolled back, is skipped."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel.ids import MemoryId
from recollect.kernel.owner import Owner
from recollect.memories.model import (
    ArchiveReason,
    Memory,
    MemoryStatus,
    StoredMemory,
    VersionChange,
)
from recollect.memories.write.writer import WriteHooks
from recollect.memories.write_access import MemoryWriteAccess
from recollect.rollback.model import ArchivedRow, RestoredRow, RollbackChanges
from recollect.rollback.plan import PlannedRow
from recollect.rollback.store import RollbackStores


class RollbackSteps:
    """Archives and restores rows, and undoes both."""

    def __init__(
        self, stores: RollbackStores, hooks: WriteHooks, access: MemoryWriteAccess
    ) -> None:
        self._stores = stores
        self._hooks = hooks
        self._access = access

    def apply_rows(
        self, tx: Tx, requester: Requester, rows: Sequence[PlannedRow], *, at: datetime
    ) -> RollbackChanges:
        """Archive these rows and restore what they had superseded. A row is restored only if its
        successor was archived here. All rows are locked first, ordered by id."""
        ids = [id_ for row in rows for id_ in (row.id, *(old for old, _ in row.restores))]
        locked = self._lock_rows(tx, ids)
        done = RollbackChanges()
        for row in rows:
            # Changed or deleted since the plan was made: neither this row nor those that it had
            # superseded are touched.
            stored = locked.get(row.id)
            if stored is None or stored.memory.version != row.version:
                continue
            done += RollbackChanges((self._archive_row(tx, stored, by=requester.identity, at=at),))
            for old_id, version in row.restores:
                old = locked.get(old_id)
                if old is not None and old.memory.version == version:
                    done += RollbackChanges(
                        (), (self._restore_row(tx, old, by=requester.identity, at=at),)
                    )
        return done

    def undo_changes(
        self, tx: Tx, requester: Requester, part: RollbackChanges, *, at: datetime
    ) -> RollbackChanges:
        """Give rows of `part` their previous state, if nobody changed them since and the caller may
        still write them; returns those that were changed."""
        locked = self._lock_rows(tx, part.ids)
        by = requester.identity
        again: list[ArchivedRow] = []
        for away in part.archived:
            stored = locked.get(away.id)
            if stored and self._can_undo(tx, requester, stored, away.version):
                before = {"status": away.status, "archive_reason": away.reason}
                self._index_row(tx, self._update(tx, stored, before, by=by, at=at))
                again.append(away)
        replaced: list[RestoredRow] = []
        for back in part.restored:
            stored = locked.get(back.id)
            if stored and self._can_undo(tx, requester, stored, back.version):
                self._supersede_row(tx, stored, back, by=by, at=at)
                replaced.append(back)
        return RollbackChanges(tuple(again), tuple(replaced))

    def _lock_rows(self, tx: Tx, ids: Sequence[MemoryId]) -> dict[MemoryId, StoredMemory]:
        found = self._stores.memories.fetch_many(tx, ids, lock=True)
        return {stored.memory.id: stored for stored in found}

    def _can_undo(self, tx: Tx, requester: Requester, stored: StoredMemory, version: int) -> bool:
        if stored.memory.version != version:
            return False
        return requester.is_admin or self._access.can_change(tx, requester, stored)

    def _archive_row(self, tx: Tx, stored: StoredMemory, *, by: Owner, at: datetime) -> ArchivedRow:
        before = stored.memory
        put_away = {"status": MemoryStatus.ARCHIVED, "archive_reason": ArchiveReason.ROLLED_BACK}
        after = self._update(tx, stored, put_away, by=by, at=at).memory
        self._hooks.graph.delete_edges(tx, after.id)
        return ArchivedRow(after.id, after.version, before.status, before.archive_reason)

    def _restore_row(self, tx: Tx, stored: StoredMemory, *, by: Owner, at: datetime) -> RestoredRow:
        before = stored.memory
        as_before = {
            "status": MemoryStatus.ACTIVE,
            "superseded_by": None,
            **self._times_before_supersede(tx, before),
        }
        after = self._update(tx, stored, as_before, by=by, at=at)
        self._index_row(tx, after)
        return RestoredRow(
            before.id,
            after.memory.version,
            before.superseded_by,
            before.valid_until,
            before.retracted_at,
        )

    def _times_before_supersede(self, tx: Tx, memory: Memory) -> dict[str, Any]:
        """`valid_until` and `retracted_at` of the version before the row was last superseded; empty
        if there is no such version."""
        # Superseding sets these times, and the row itself does not have the values before. The
        # snapshot of the version before the last supersession does.
        versions = self._stores.memories.versions(tx, [memory.id])
        last = [one.version for one in versions if one.change is VersionChange.SUPERSEDED][-1:]
        kept = next((one.snapshot for one in versions if [one.version + 1] == last), None)
        if kept is None:
            return {}
        return {name: kept[name] for name in ("valid_until", "retracted_at")}

    def _supersede_row(
        self, tx: Tx, stored: StoredMemory, back: RestoredRow, *, by: Owner, at: datetime
    ) -> None:
        replaced = {
            "status": MemoryStatus.SUPERSEDED,
            "superseded_by": back.superseded_by,
            "valid_until": back.valid_until,
            "retracted_at": back.retracted_at,
        }
        self._update(tx, stored, replaced, by=by, at=at, change=VersionChange.SUPERSEDED)

    def _update(
        self,
        tx: Tx,
        stored: StoredMemory,
        members: dict[str, Any],
        *,
        by: Owner,
        at: datetime,
        change: VersionChange = VersionChange.UPDATED,
    ) -> StoredMemory:
        version = stored.memory.version + 1
        after = replace(stored.memory, version=version, updated_at=at, **members)
        return self._stores.memories.update(tx, stored, after, change=change, by=by, at=at)

    def _index_row(self, tx: Tx, stored: StoredMemory) -> None:
        """Add the row to index and graph again, unless it is quarantined."""
        if stored.memory.status is not MemoryStatus.QUARANTINED:
            self._hooks.indexer.write(tx, stored)
            self._hooks.graph.write_edges(tx, stored)
