"""Statements that say the same in one place: the older goes on and counts the newer."""

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.domain.doctor import Check
from recollect.domain.memories import Memory, MemoryId, Status
from recollect.domain.reconcile import EQUAL_TEXT, is_repeat
from recollect.ports.database import Tx
from recollect.ports.memories import Stored
from recollect.ports.stores import Stores
from recollect.services.checks.ids import IdCheck
from recollect.services.checks.order import Order
from recollect.services.repeating import Repeating
from recollect.services.superseding import Cause, Superseding, statement_of


@dataclass(frozen=True, slots=True)
class RepeatCheck:
    """Its parts. What was written at the same moment, or imported, may be there twice."""

    stores: Stores
    superseding: Superseding
    repeating: Repeating

    def all(self) -> list[IdCheck]:
        """The one check."""
        return [IdCheck(Check.NEAR_DUPLICATES, self._fold_all, self._confirm)]

    def _confirm(self, tx: Tx, order: Order, ids: Sequence[str]) -> Sequence[str]:
        return [id_ for id_ in ids if self._repeat(tx, order, MemoryId(id_)) is not None]

    def _fold_all(self, tx: Tx, order: Order, ids: Sequence[str]) -> int:
        return sum(self._fold(tx, order, MemoryId(id_)) for id_ in ids)

    def _fold(self, tx: Tx, order: Order, memory_id: MemoryId) -> bool:
        pair = self._repeat(tx, order, memory_id, lock=True)
        if pair is None:
            return False
        kept, repeat = pair
        at = order.looking.now
        cause = Cause(order.requester, order.by, at, EQUAL_TEXT)
        self.superseding.fold_in(tx, kept.memory, repeat, cause)
        self.repeating.add(tx, order.requester, kept, said=repeat.memory, by=order.by, at=at)
        return True

    def _repeat(
        self, tx: Tx, order: Order, memory_id: MemoryId, *, lock: bool = False
    ) -> tuple[Stored, Stored] | None:
        """The oldest statement that says the same, and this one."""
        older = self.stores.doctor.older_equals(tx, memory_id, order.looking)
        rows = self.stores.keeping.fetch_many(tx, [memory_id, *older], lock=lock)
        found = {row.memory.id: row for row in rows if row.memory.status is Status.ACTIVE}
        repeat = found.get(memory_id)
        if repeat is None:
            return None
        known = (found[id_] for id_ in older if id_ in found)
        return next(((one, repeat) for one in known if self._is_repeat(tx, one, repeat)), None)

    def _is_repeat(self, tx: Tx, kept: Stored, repeat: Stored) -> bool:
        """Not where the older is somebody's own word, a circle would close, or more than a
        repetition would go."""
        return (
            is_repeat(statement_of(repeat.memory), statement_of(kept.memory))
            and self.superseding.may_link(tx, kept.memory.id, repeat)
            and self._holds_all(kept.memory, repeat.memory)
        )

    def _holds_all(self, kept: Memory, repeat: Memory) -> bool:
        until = self.repeating.renewed(kept, repeat).expires_at
        as_long = until is None or (repeat.expires_at is not None and until >= repeat.expires_at)
        times = (repeat.valid_from, repeat.valid_until) == (kept.valid_from, kept.valid_until)
        return as_long and times and set(repeat.tags) <= set(kept.tags)
