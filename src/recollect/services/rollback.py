"""Rollback: archives all memories that came from a source and restores what they had superseded.
The changes of each row are stored, so that a rollback can be undone."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from recollect.domain.clock import to_text
from recollect.domain.memories import MemoryId
from recollect.domain.rollbacks import Changes
from recollect.errors import Conflict, NotFound
from recollect.policy.requesters import Requester
from recollect.ports.database import Database, Tx
from recollect.ports.keeping import Rollback, RollbackSource
from recollect.ports.runtime import Runtime
from recollect.ports.stores import Stores
from recollect.services.admin_gate import AdminGate
from recollect.services.memory_audit import MemoryAudit
from recollect.services.rollback_plans import PlannedRow, RollbackPlan, RollbackPlans
from recollect.services.rollback_steps import RollbackSteps

ROWS_PER_TRANSACTION = 200


@dataclass(frozen=True, slots=True)
class RolledBack:
    """What a rollback did or would do. `ids` are the archived and restored rows; `id` is None for a
    dry run."""

    id: str | None
    archived: int
    restored: int
    untouched: int
    ids: tuple[MemoryId, ...]


@dataclass(frozen=True, slots=True)
class _Order:
    """The requester, time and reason of a rollback or an undo."""

    requester: Requester
    at: datetime
    justification: str | None


class RollbackService:
    """Changes rows of spaces that the caller may write; for an admin all rows."""

    def __init__(
        self,
        database: Database,
        stores: Stores,
        runtime: Runtime,
        audit: MemoryAudit,
        *,
        plans: RollbackPlans,
        steps: RollbackSteps,
        gate: AdminGate,
    ) -> None:
        self._database = database
        self._stores = stores
        self._runtime = runtime
        self._audit = audit
        self._plans = plans
        self._steps = steps
        self._gate = gate

    async def roll_back(
        self,
        requester: Requester,
        source: RollbackSource,
        *,
        dry_run: bool,
        justification: str | None,
    ) -> RolledBack:
        """NotFound for a source that the caller can't see. A dry run only makes the plan."""
        order = await self._ordered(requester, "rollBack", justification)
        plan = await self._plans.make(requester, source, order.at)
        if dry_run:
            return RolledBack(None, plan.archived, plan.restored, plan.untouched, plan.ids)
        return await self._carry_out(order, source, plan)

    async def undo(
        self, requester: Requester, rollback_id: str, *, justification: str | None
    ) -> RolledBack:
        """Give rows their previous state, unless they were changed since; those are `untouched`.

        NotFound for a rollback of somebody else, Conflict if it was undone already. The rollback is
        marked as undone after the last batch: if the undo is interrupted, it can be repeated, and
        rows that were undone by then are skipped because their version has changed.
        """
        order = await self._ordered(requester, "undoRollback", justification)
        rollback = await self._database.read(lambda tx: self._own(tx, order, rollback_id))
        wanted, undone, event_id = Changes.of(rollback.changes), Changes(), ""
        for part in wanted.parts(ROWS_PER_TRANSACTION):
            step, event_id = await self._database.write(
                self._undoing(order, rollback, part, event_id)
            )
            undone += step
        await self._database.write(lambda tx: self._close(tx, order, rollback))
        # An undo makes archived rows active and restored rows superseded: the counts change places.
        untouched = len(wanted.ids) - len(undone.ids)
        return RolledBack(
            rollback.id, len(undone.restored), len(undone.archived), untouched, undone.ids
        )

    async def _ordered(
        self, requester: Requester, operation: str, justification: str | None
    ) -> _Order:
        await self._gate.admit(requester, operation, justification)
        return _Order(requester, self._runtime.clock.now(), justification)

    async def _carry_out(
        self, order: _Order, source: RollbackSource, plan: RollbackPlan
    ) -> RolledBack:
        id_, by = self._runtime.ids.new(), order.requester.who
        rollback = Rollback(id_, order.at, by, _told(source), Changes().record)
        done, event_id = Changes(), ""
        for batch in _batches(plan.rows):
            step, event_id = await self._database.write(
                self._stepping(order, rollback, (plan, batch, done), event_id)
            )
            done += step
        return RolledBack(id_, len(done.archived), len(done.restored), plan.untouched, done.ids)

    def _stepping(
        self,
        order: _Order,
        rollback: Rollback,
        work: tuple[RollbackPlan, Sequence[PlannedRow], Changes],
        event_id: str,
    ) -> Callable[[Tx], tuple[Changes, str]]:
        """One batch: its rows, the record of all changes so far, and the audit event.

        All three commit together: after a crash the record has exactly the changes that were
        made, and undo takes back those.
        """
        plan, batch, done = work

        def step(tx: Tx) -> tuple[Changes, str]:
            made = self._steps.carry_out(tx, order.requester, batch, at=order.at)
            kept = replace(rollback, changes=(done + made).record)
            self._stores.keeping.put_rollback(tx, kept)
            payload = {"archived": plan.archived, "restored": plan.restored, **rollback.source}
            told = {"rollback_id": rollback.id, **payload}
            return made, self._tell(tx, order, told, count=len(made.ids), event_id=event_id)

        return step

    def _undoing(
        self, order: _Order, rollback: Rollback, part: Changes, event_id: str
    ) -> Callable[[Tx], tuple[Changes, str]]:
        def step(tx: Tx) -> tuple[Changes, str]:
            # The lock serializes two undos of one rollback; the second raises Conflict as soon as
            # the first has marked it as undone.
            self._own(tx, order, rollback.id, lock=True)
            made = self._steps.take_back(tx, order.requester, part, at=order.at)
            told = {
                "undone": rollback.id,
                "archived": len(made.restored),
                "restored": len(made.archived),
            }
            return made, self._tell(tx, order, told, count=len(made.ids), event_id=event_id)

        return step

    def _own(self, tx: Tx, order: _Order, rollback_id: str, *, lock: bool = False) -> Rollback:
        """A rollback of the caller (an admin: any) that is not undone; NotFound or Conflict."""
        rollback = self._stores.keeping.fetch_rollback(tx, rollback_id, lock=lock)
        requester = order.requester
        if rollback is None or not (requester.admin or rollback.by == requester.who):
            raise NotFound("rollback", rollback_id)
        if rollback.undone_at is not None:
            details = {"reason": "wrong_state"}
            raise Conflict("the rollback was undone already", details=details)
        return rollback

    def _close(self, tx: Tx, order: _Order, rollback: Rollback) -> None:
        self._stores.keeping.put_rollback(tx, replace(rollback, undone_at=order.at))

    def _tell(
        self, tx: Tx, order: _Order, payload: dict[str, Any], *, count: int, event_id: str
    ) -> str:
        """Insert the audit event with the first batch, add to its count with the others."""
        if event_id:
            self._stores.events.add_count(tx, event_id, count)
            return event_id
        return self._audit.record(
            tx,
            order.requester,
            "memory.rollback",
            payload=payload,
            count=count,
            justification=order.justification,
        )


def _batches(rows: Sequence[PlannedRow]) -> Iterator[Sequence[PlannedRow]]:
    """At least one batch, so that a rollback without rows has a record and an event too."""
    for at in range(0, max(len(rows), 1), ROWS_PER_TRANSACTION):
        yield rows[at : at + ROWS_PER_TRANSACTION]


def _told(source: RollbackSource) -> dict[str, Any]:
    times = {"since": source.since, "until": source.until}
    shown = {name: to_text(at) for name, at in times.items() if at is not None}
    return {str(source.kind): source.id, **shown}
