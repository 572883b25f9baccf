"""Duplicate statements of one space: the newer is folded into the older, which counts it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recollect.db.transaction import Tx
from recollect.doctor.checks.ids import IdCheck
from recollect.doctor.checks.order import DoctorOrder
from recollect.doctor.model import DoctorCheck
from recollect.doctor.store.bundle import DoctorStores
from recollect.kernel.ids import MemoryId
from recollect.memories.duplicates.count import RepeatCounter
from recollect.memories.model import Memory, MemoryStatus, StoredMemory
from recollect.memories.reconcile.rules import (
    ReconcileThresholds,
    StatementNeighbour,
    repeat_reason,
)
from recollect.memories.supersede.apply import (
    SupersedeCause,
    Superseder,
    statement_facts,
)


@dataclass(frozen=True, slots=True)
class DuplicatePair:
    """A statement (`repeat`), the older one that says the same (`kept`), and how that is known."""

    kept: StoredMemory
    repeat: StoredMemory
    reason: str
    similarity: float | None = None


@dataclass(frozen=True, slots=True)
class DuplicateFolding:
    """Finds the statement that another repeats, and folds the two."""

    stores: DoctorStores
    superseding: Superseder
    repeating: RepeatCounter
    settings: ReconcileThresholds

    def find_pair(
        self, tx: Tx, memory_id: MemoryId, older: Mapping[MemoryId, float], *, lock: bool = False
    ) -> DuplicatePair | None:
        """The first of `older` (ids with their cosines) that the memory repeats, if any. With
        `lock` all rows are locked until the transaction ends."""
        rows = self.stores.memories.fetch_many(tx, [memory_id, *older], lock=lock)
        found = {row.memory.id: row for row in rows if row.memory.status is MemoryStatus.ACTIVE}
        repeat = found.get(memory_id)
        if repeat is None:
            return None
        known = ((found[id_], cosine) for id_, cosine in older.items() if id_ in found)
        repeats = (self._match_pair(tx, one, repeat, cosine) for one, cosine in known)
        return next((repeat for repeat in repeats if repeat is not None), None)

    def fold(self, tx: Tx, order: DoctorOrder, found: DuplicatePair) -> None:
        """Supersede the newer statement and count it on the older. The rows must be locked."""
        kept, repeat, at = found.kept, found.repeat, order.context.now
        cause = SupersedeCause(order.requester, order.author, at, found.reason, found.similarity)
        self.superseding.supersede_duplicate(tx, kept.memory, repeat, cause)
        self.repeating.add_repeat(
            tx,
            order.requester,
            kept,
            repeat=repeat.memory,
            by=order.author,
            at=at,
            taking=self.repeating.try_merge(kept.memory, repeat.memory),
        )

    def _match_pair(
        self, tx: Tx, kept: StoredMemory, repeat: StoredMemory, cosine: float
    ) -> DuplicatePair | None:
        """The pair, or None if the rules don't take one for a repeat of the other, if folding would
        lose more than a repetition, or if the link would close a cycle."""
        near = StatementNeighbour(statement_facts(kept.memory), cosine)
        reason = repeat_reason(statement_facts(repeat.memory), near, self.settings)
        if reason is None or not self._can_fold(kept.memory, repeat.memory):
            return None
        if not self.superseding.can_link(tx, kept.memory.id, repeat):
            return None
        return DuplicatePair(kept, repeat, reason, cosine or None)

    def _can_fold(self, kept: Memory, repeat: Memory) -> bool:
        times = (repeat.valid_from, repeat.valid_until) == (kept.valid_from, kept.valid_until)
        return times and self.repeating.try_merge(kept, repeat) is not None


@dataclass(frozen=True, slots=True)
class EqualTextCheck:
    """Finds statements with equal texts. Writes are checked for them, but two writes at the same
    moment, and imports, can still leave duplicates."""

    folding: DuplicateFolding

    def id_checks(self) -> list[IdCheck]:
        """The check, for `IdExaminer`."""
        return [IdCheck(DoctorCheck.NEAR_DUPLICATES, self._fold_all, self.confirm)]

    def confirm(self, tx: Tx, order: DoctorOrder, ids: Sequence[str]) -> Sequence[str]:
        """The ids of memories that can be folded into an older one."""
        return [id_ for id_ in ids if self._find_pair(tx, order, MemoryId(id_)) is not None]

    def _fold_all(self, tx: Tx, order: DoctorOrder, ids: Sequence[str]) -> int:
        return sum(self._fold_memory(tx, order, MemoryId(id_)) for id_ in ids)

    def _fold_memory(self, tx: Tx, order: DoctorOrder, memory_id: MemoryId) -> bool:
        found = self._find_pair(tx, order, memory_id, lock=True)
        if found is not None:
            self.folding.fold(tx, order, found)
        return found is not None

    def _find_pair(
        self, tx: Tx, order: DoctorOrder, memory_id: MemoryId, *, lock: bool = False
    ) -> DuplicatePair | None:
        older = self.folding.stores.doctor.older_equals(tx, memory_id, order.context)
        # The texts are equal, so no cosine is needed; 0 stands for "not computed".
        return self.folding.find_pair(tx, memory_id, dict.fromkeys(older, 0.0), lock=lock)
