"""Rollback: archives all memories that came from a source and restores what they had superseded.
The changes of each row are stored, so that a rollback can be undone."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from recollect.audit.gate import AdminGate
from recollect.audit.memory_recorder import MemoryAudit
from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel.clock import to_text
from recollect.kernel.errors import Conflict, NotFound
from recollect.kernel.ids import MemoryId
from recollect.rollback.commands import RollBack, UndoRollback
from recollect.rollback.model import Rollback, RollbackChanges, RollbackSource
from recollect.rollback.plan import PlannedRow, RollbackPlan, RollbackPlanner
from recollect.rollback.steps import RollbackSteps
from recollect.rollback.store import RollbackStores

ROWS_PER_TRANSACTION = 200


@dataclass(frozen=True, slots=True)
class RollbackResult:
    """What a rollback did or would do. `ids` are the archived and restored rows; `id` is None for a
    dry run."""

    id: str | None
    archived: int
    restored: int
    untouched: int
    ids: tuple[MemoryId, ...]


@dataclass(frozen=True, slots=True)
class _RollbackOrder:
    """The requester, time and reason of a rollback or an undo."""

    requester: Requester
    at: datetime
    justification: str | None


class RollbackService:
    """Changes rows of spaces that the caller may write; for an admin all rows."""

    def __init__(
        self,
        context: ServiceContext[RollbackStores],
        audit: MemoryAudit,
        *,
        plans: RollbackPlanner,
        steps: RollbackSteps,
        gate: AdminGate,
    ) -> None:
        self._database = context.database
        self._stores = context.stores
        self._runtime = context.runtime
        self._audit = audit
        self._plans = plans
        self._steps = steps
        self._gate = gate

    async def roll_back(self, requester: Requester, command: RollBack) -> RollbackResult:
        """NotFound for a source that the caller can't see. A dry run only makes the plan."""
        source = command.rollback_source
        order = await self._admit(requester, "rollBack", command.justification)
        plan = await self._plans.make_plan(requester, source, order.at)
        if command.dry_run:
            return RollbackResult(None, plan.archived, plan.restored, plan.untouched, plan.ids)
        return await self._execute(order, source, plan)

    async def undo(
        self, requester: Requester, rollback_id: str, command: UndoRollback
    ) -> RollbackResult:
        """Give rows their previous state, unless they were changed since; those are `untouched`.

        NotFound for a rollback of somebody else, Conflict if it was undone already. The rollback is
        marked as undone after the last batch: if the undo is interrupted, it can be repeated, and
        rows that were undone by then are skipped because their version has changed.
        """
        order = await self._admit(requester, "undoRollback", command.justification)
        rollback = await self._database.read(lambda tx: self._fetch_owned(tx, order, rollback_id))
        wanted, undone, event_id = (
            RollbackChanges.from_record(rollback.changes),
            RollbackChanges(),
            "",
        )
        for part in wanted.batches(ROWS_PER_TRANSACTION):
            step, event_id = await self._database.write(
                self._undo_transaction(order, rollback, part, event_id)
            )
            undone += step
        finished = replace(rollback, undone_at=order.at)
        await self._database.write(lambda tx: self._stores.rollbacks.put_rollback(tx, finished))
        # An undo makes archived rows active and restored rows superseded: the counts change places.
        untouched = len(wanted.ids) - len(undone.ids)
        return RollbackResult(
            rollback.id, len(undone.restored), len(undone.archived), untouched, undone.ids
        )

    async def _admit(
        self, requester: Requester, operation: str, justification: str | None
    ) -> _RollbackOrder:
        await self._gate.admit(requester, operation, justification)
        return _RollbackOrder(requester, self._runtime.clock.now(), justification)

    async def _execute(
        self, order: _RollbackOrder, source: RollbackSource, plan: RollbackPlan
    ) -> RollbackResult:
        id_, by = self._runtime.ids.new(), order.requester.identity
        rollback = Rollback(id_, order.at, by, _source_payload(source), RollbackChanges().record)
        done, event_id = RollbackChanges(), ""
        for batch in _batches(plan.rows):
            step, event_id = await self._database.write(
                self._batch_transaction(order, rollback, (plan, batch, done), event_id)
            )
            done += step
        return RollbackResult(id_, len(done.archived), len(done.restored), plan.untouched, done.ids)

    def _batch_transaction(
        self,
        order: _RollbackOrder,
        rollback: Rollback,
        work: tuple[RollbackPlan, Sequence[PlannedRow], RollbackChanges],
        event_id: str,
    ) -> Callable[[Tx], tuple[RollbackChanges, str]]:
        """One batch: its rows, the record of all changes so far, and the audit event.

        All three commit together: after a crash the record has exactly the changes that were
        made, and undo takes back those.
        """
        plan, batch, done = work

        def step(tx: Tx) -> tuple[RollbackChanges, str]:
            made = self._steps.apply_rows(tx, order.requester, batch, at=order.at)
            kept = replace(rollback, changes=(done + made).record)
            self._stores.rollbacks.put_rollback(tx, kept)
            payload = {"archived": plan.archived, "restored": plan.restored, **rollback.source}
            event = {"rollback_id": rollback.id, **payload}
            return made, self._record_event(
                tx, order, event, count=len(made.ids), event_id=event_id
            )

        return step

    def _undo_transaction(
        self, order: _RollbackOrder, rollback: Rollback, part: RollbackChanges, event_id: str
    ) -> Callable[[Tx], tuple[RollbackChanges, str]]:
        def step(tx: Tx) -> tuple[RollbackChanges, str]:
            # The lock serializes two undos of one rollback; the second raises Conflict as soon as
            # the first has marked it as undone.
            self._fetch_owned(tx, order, rollback.id, lock=True)
            made = self._steps.undo_changes(tx, order.requester, part, at=order.at)
            event = {
                "undone": rollback.id,
                "archived": len(made.restored),
                "restored": len(made.archived),
            }
            return made, self._record_event(
                tx, order, event, count=len(made.ids), event_id=event_id
            )

        return step

    def _fetch_owned(
        self, tx: Tx, order: _RollbackOrder, rollback_id: str, *, lock: bool = False
    ) -> Rollback:
        """A rollback of the caller (an admin: any) that is not undone; NotFound or Conflict."""
        rollback = self._stores.rollbacks.fetch_rollback(tx, rollback_id, lock=lock)
        requester = order.requester
        if rollback is None or not (requester.is_admin or rollback.by == requester.identity):
            raise NotFound("rollback", rollback_id)
        if rollback.undone_at is not None:
            details = {"reason": "wrong_state"}
            raise Conflict("the rollback was undone already", details=details)
        return rollback

    def _record_event(
        self, tx: Tx, order: _RollbackOrder, payload: dict[str, Any], *, count: int, event_id: str
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


def _source_payload(source: RollbackSource) -> dict[str, Any]:
    times = {"since": source.since, "until": source.until}
    bounds = {name: to_text(at) for name, at in times.items() if at is not None}
    return {str(source.kind): source.id, **bounds}
