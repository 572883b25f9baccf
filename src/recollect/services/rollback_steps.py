"""The steps of a rollback and of its undo, within a transaction. A row that changed since it was
planned, or since it was rolled back, is skipped."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from recollect.domain.agents import Owner
from recollect.domain.memories import ArchiveReason, Memory, MemoryId, Status
from recollect.domain.rollbacks import BroughtBack, Changes, PutAway
from recollect.policy.requesters import Requester
from recollect.ports.database import Tx
from recollect.ports.memories import Change, Stored
from recollect.ports.stores import Stores
from recollect.services.memory_access import MemoryAccess
from recollect.services.memory_writing import Hooks
from recollect.services.rollback_plans import PlannedRow


class RollbackSteps:
    """Archives and restores rows, and undoes both."""

    def __init__(self, stores: Stores, hooks: Hooks, access: MemoryAccess) -> None:
        self._stores = stores
        self._hooks = hooks
        self._access = access

    def carry_out(
        self, tx: Tx, requester: Requester, rows: Sequence[PlannedRow], *, at: datetime
    ) -> Changes:
        """Archive these rows and restore what they had superseded. A row is restored only if its
        successor was archived here. All rows are locked first, ordered by id."""
        ids = [id_ for row in rows for id_ in (row.id, *(old for old, _ in row.restores))]
        held = self._held(tx, ids)
        done = Changes()
        for row in rows:
            # Changed or deleted since the plan was made: neither this row nor those that it had
            # superseded are touched.
            stored = held.get(row.id)
            if stored is None or stored.memory.version != row.version:
                continue
            done += Changes((self._archive(tx, stored, by=requester.who, at=at),))
            for old_id, version in row.restores:
                old = held.get(old_id)
                if old is not None and old.memory.version == version:
                    done += Changes((), (self._restore(tx, old, by=requester.who, at=at),))
        return done

    def take_back(self, tx: Tx, requester: Requester, part: Changes, *, at: datetime) -> Changes:
        """Give rows of `part` their previous state, if nobody changed them since and the caller may
        still write them; returns those that were changed."""
        held = self._held(tx, part.ids)
        by = requester.who
        again: list[PutAway] = []
        for away in part.archived:
            stored = held.get(away.id)
            if stored and self._is_open(tx, requester, stored, away.version):
                before = {"status": away.status, "archive_reason": away.reason}
                self._drawn(tx, self._update(tx, stored, before, by=by, at=at))
                again.append(away)
        replaced: list[BroughtBack] = []
        for back in part.restored:
            stored = held.get(back.id)
            if stored and self._is_open(tx, requester, stored, back.version):
                self._replace(tx, stored, back, by=by, at=at)
                replaced.append(back)
        return Changes(tuple(again), tuple(replaced))

    def _held(self, tx: Tx, ids: Sequence[MemoryId]) -> dict[MemoryId, Stored]:
        found = self._stores.keeping.fetch_many(tx, ids, lock=True)
        return {stored.memory.id: stored for stored in found}

    def _is_open(self, tx: Tx, requester: Requester, stored: Stored, version: int) -> bool:
        if stored.memory.version != version:
            return False
        return requester.admin or self._access.is_theirs(tx, requester, stored)

    def _archive(self, tx: Tx, stored: Stored, *, by: Owner, at: datetime) -> PutAway:
        before = stored.memory
        put_away = {"status": Status.ARCHIVED, "archive_reason": ArchiveReason.ROLLED_BACK}
        after = self._update(tx, stored, put_away, by=by, at=at).memory
        self._hooks.graph.erase(tx, after.id)
        return PutAway(after.id, after.version, before.status, before.archive_reason)

    def _restore(self, tx: Tx, stored: Stored, *, by: Owner, at: datetime) -> BroughtBack:
        before = stored.memory
        as_before = {"status": Status.ACTIVE, "superseded_by": None, **self._times(tx, before)}
        after = self._update(tx, stored, as_before, by=by, at=at)
        self._drawn(tx, after)
        return BroughtBack(
            before.id,
            after.memory.version,
            before.superseded_by,
            before.valid_until,
            before.retracted_at,
        )

    def _times(self, tx: Tx, memory: Memory) -> dict[str, Any]:
        """`valid_until` and `retracted_at` of the version before the row was last superseded; empty
        if there is no such version."""
        # Superseding sets these times, and the row itself does not have the values before. The
        # snapshot of the version before the last supersession does.
        versions = self._stores.memories.versions(tx, [memory.id])
        last = [one.version for one in versions if one.change is Change.SUPERSEDED][-1:]
        kept = next((one.snapshot for one in versions if [one.version + 1] == last), None)
        if kept is None:
            return {}
        return {name: kept[name] for name in ("valid_until", "retracted_at")}

    def _replace(
        self, tx: Tx, stored: Stored, back: BroughtBack, *, by: Owner, at: datetime
    ) -> None:
        replaced = {
            "status": Status.SUPERSEDED,
            "superseded_by": back.superseded_by,
            "valid_until": back.valid_until,
            "retracted_at": back.retracted_at,
        }
        self._update(tx, stored, replaced, by=by, at=at, change=Change.SUPERSEDED)

    def _update(
        self,
        tx: Tx,
        stored: Stored,
        members: dict[str, Any],
        *,
        by: Owner,
        at: datetime,
        change: Change = Change.UPDATED,
    ) -> Stored:
        version = stored.memory.version + 1
        after = replace(stored.memory, version=version, updated_at=at, **members)
        return self._stores.memories.update(tx, stored, after, change=change, by=by, at=at)

    def _drawn(self, tx: Tx, stored: Stored) -> None:
        """Add the row to index and graph again, unless it is quarantined."""
        if stored.memory.status is not Status.QUARANTINED:
            self._hooks.indexer.write(tx, stored)
            self._hooks.graph.draw(tx, stored)
