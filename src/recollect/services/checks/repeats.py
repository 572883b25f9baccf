"""Duplicate statements of one space: the newer is folded into the older, which counts it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recollect.domain.doctor import Check
from recollect.domain.memories import Memory, MemoryId, Status
from recollect.domain.reconcile import Neighbour, ReconcileSettings, repeat_reason
from recollect.ports.database import Tx
from recollect.ports.memories import Stored
from recollect.ports.stores import Stores
from recollect.services.checks.ids import IdCheck
from recollect.services.checks.order import Order
from recollect.services.repeating import Repeating
from recollect.services.superseding import Cause, Superseding, statement_of


@dataclass(frozen=True, slots=True)
class Repeat:
    """A statement (`repeat`), the older one that says the same (`kept`), and how that is known."""

    kept: Stored
    repeat: Stored
    reason: str
    similarity: float | None = None


@dataclass(frozen=True, slots=True)
class Folding:
    """Finds the statement that another repeats, and folds the two."""

    stores: Stores
    superseding: Superseding
    repeating: Repeating
    settings: ReconcileSettings

    def find(
        self, tx: Tx, memory_id: MemoryId, older: Mapping[MemoryId, float], *, lock: bool = False
    ) -> Repeat | None:
        """The first of `older` (ids with their cosines) that the memory repeats, if any. With
        `lock` all rows are locked until the transaction ends."""
        rows = self.stores.keeping.fetch_many(tx, [memory_id, *older], lock=lock)
        found = {row.memory.id: row for row in rows if row.memory.status is Status.ACTIVE}
        said = found.get(memory_id)
        if said is None:
            return None
        known = ((found[id_], cosine) for id_, cosine in older.items() if id_ in found)
        repeats = (self._repeat(tx, one, said, cosine) for one, cosine in known)
        return next((repeat for repeat in repeats if repeat is not None), None)

    def fold(self, tx: Tx, order: Order, found: Repeat) -> None:
        """Supersede the newer statement and count it on the older. The rows must be locked."""
        kept, repeat, at = found.kept, found.repeat, order.looking.now
        cause = Cause(order.requester, order.by, at, found.reason, found.similarity)
        self.superseding.fold_in(tx, kept.memory, repeat, cause)
        self.repeating.add(
            tx,
            order.requester,
            kept,
            said=repeat.memory,
            by=order.by,
            at=at,
            taking=self.repeating.folded(kept.memory, repeat.memory),
        )

    def _repeat(self, tx: Tx, kept: Stored, said: Stored, cosine: float) -> Repeat | None:
        """The pair, or None if the rules don't take one for a repeat of the other, if folding would
        lose more than a repetition, or if the link would close a cycle."""
        near = Neighbour(statement_of(kept.memory), cosine)
        reason = repeat_reason(statement_of(said.memory), near, self.settings)
        if reason is None or not self._holds_all(kept.memory, said.memory):
            return None
        if not self.superseding.may_link(tx, kept.memory.id, said):
            return None
        return Repeat(kept, said, reason, cosine or None)

    def _holds_all(self, kept: Memory, repeat: Memory) -> bool:
        times = (repeat.valid_from, repeat.valid_until) == (kept.valid_from, kept.valid_until)
        return times and self.repeating.folded(kept, repeat) is not None


@dataclass(frozen=True, slots=True)
class EqualTexts:
    """Finds statements with equal texts. Writes are checked for them, but two writes at the same
    moment, and imports, can still leave duplicates."""

    folding: Folding

    def all(self) -> list[IdCheck]:
        """The check, for `IdExaminer`."""
        return [IdCheck(Check.NEAR_DUPLICATES, self._fold_all, self.confirm)]

    def confirm(self, tx: Tx, order: Order, ids: Sequence[str]) -> Sequence[str]:
        """The ids of memories that can be folded into an older one."""
        return [id_ for id_ in ids if self._repeat(tx, order, MemoryId(id_)) is not None]

    def _fold_all(self, tx: Tx, order: Order, ids: Sequence[str]) -> int:
        return sum(self._fold(tx, order, MemoryId(id_)) for id_ in ids)

    def _fold(self, tx: Tx, order: Order, memory_id: MemoryId) -> bool:
        found = self._repeat(tx, order, memory_id, lock=True)
        if found is not None:
            self.folding.fold(tx, order, found)
        return found is not None

    def _repeat(
        self, tx: Tx, order: Order, memory_id: MemoryId, *, lock: bool = False
    ) -> Repeat | None:
        older = self.folding.stores.doctor.older_equals(tx, memory_id, order.looking)
        # The texts are equal, so no cosine is needed; 0 stands for "not computed".
        return self.folding.find(tx, memory_id, dict.fromkeys(older, 0.0), lock=lock)
