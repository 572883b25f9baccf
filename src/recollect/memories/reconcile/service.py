"""`Reconciler` compares a stored statement with similar ones and applies the result: it merges
duplicates, supersedes what is replaced, and links contradictions.

The decisions are made in `memories/reconcile/rules.py`. Planning runs outside of any transaction;
applying locks the rows and starts over if one of them has changed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum

from recollect.audit.memory_recorder import MemoryAudit, record_memory_event
from recollect.db.transaction import Tx
from recollect.kernel.ids import MemoryId
from recollect.memories.duplicates.count import RepeatCounter
from recollect.memories.model import (
    Memory,
    MemoryKind,
    MemoryStatus,
    StoredMemory,
    VersionChange,
    is_expired,
)
from recollect.memories.reconcile.rules import (
    ReconcileDecision,
    ReconcileThresholds,
    ReconcileVerdict,
    StatementNeighbour,
    reconcile,
    reconcile_hearsay,
)
from recollect.memories.reconcile.similarity import statement_similarity
from recollect.memories.store.bundle import MemoryStores
from recollect.memories.supersede.apply import (
    SupersedeCause,
    Superseder,
    inherit_from,
    statement_facts,
)
from recollect.memories.supersede.rules import StatementFacts

_INHERITED_FIELDS = ("sensitivity", "portable", "valid_from")


@dataclass(frozen=True, slots=True)
class SimilarStatement:
    """A statement similar to the compared one, and how similar it is."""

    other: StoredMemory
    similarity: float


@dataclass(frozen=True, slots=True)
class SimilarStatements:
    """The compared statement, and those that are similar enough for any decision."""

    stored: StoredMemory
    pairs: tuple[SimilarStatement, ...]

    @property
    def rows(self) -> tuple[StoredMemory, ...]:
        """The compared statement and the similar ones."""
        return (self.stored, *(pair.other for pair in self.pairs))


@dataclass(frozen=True, slots=True)
class ReconcilePlan:
    """The decision about one statement (`key`) and some older ones, with their similarities.

    `over` is the decision about hearsay in other spaces.
    """

    key: MemoryId
    similarities: Mapping[MemoryId, float]
    decision: ReconcileDecision
    over: ReconcileDecision


class ReconcileOutcome(Enum):
    """What became of the plans.

    `PARTLY`: some were applied and changed a row that the next plan is about, so the rest must be
    planned again. `CHANGED`: somebody else changed a row meanwhile, and nothing was applied.
    """

    DONE = "done"
    PARTLY = "partly"
    CHANGED = "changed"


def is_comparable(stored: StoredMemory, now: datetime) -> bool:
    """Whether a row is compared at all: an active, verified statement whose subjects are resolved.

    Lists of messages are left out, because one list says many things.
    """
    memory = stored.memory
    return (
        memory.kind is MemoryKind.STATEMENT
        and memory.status is MemoryStatus.ACTIVE
        and memory.verified
        and not is_expired(now, memory.expires_at)
        and not (memory.messages or stored.bare_names or stored.erasure_id)
    )


class Reconciler:
    """Plans outside of any transaction, and applies plans in the caller's."""

    def __init__(
        self,
        stores: MemoryStores,
        audit: MemoryAudit,
        *,
        repeating: RepeatCounter,
        settings: ReconcileThresholds,
    ) -> None:
        self._stores = stores
        self._audit = audit
        self._repeating = repeating
        self._superseding = Superseder(stores, audit)
        self._settings = settings

    def select_similar(
        self, stored: StoredMemory, found: Iterable[tuple[StoredMemory, float]], now: datetime
    ) -> SimilarStatements:
        """The rows of `found` (with their cosines) that are similar enough for any decision."""
        statement = statement_facts(stored.memory)
        floor = min(self._settings.unsure_min, self._settings.hearsay_min)
        pairs = (
            SimilarStatement(
                one, statement_similarity(cosine, statement, statement_facts(one.memory))
            )
            for one, cosine in found
            if is_comparable(one, now)
        )
        return SimilarStatements(stored, tuple(pair for pair in pairs if pair.similarity >= floor))

    def plan(self, seen: SimilarStatements) -> tuple[ReconcilePlan, ...]:
        """The plans that follow from the similar statements, in the order in which to apply them.

        Reads texts, which takes long: call it outside of a transaction.
        """
        # A decision is always about a newer statement and older ones. Vectors are made by jobs, so
        # statements arrive here in any order, and neighbours may be newer than the one that came.
        # So the comparison goes both ways: this one against everything older, and each newer one
        # against this one alone. The order of arrival does not matter then.
        stored = seen.stored
        before = [pair for pair in seen.pairs if _time_order(pair.other) < _time_order(stored)]
        after = [pair for pair in seen.pairs if _time_order(pair.other) > _time_order(stored)]
        after.sort(key=lambda pair: _time_order(pair.other))
        own = [self._plan_one(stored, before)] if before else []
        return (*own, *(self._plan_one(one.other, [replace(one, other=stored)]) for one in after))

    def apply(
        self, tx: Tx, seen: SimilarStatements, judged: Sequence[ReconcilePlan], *, at: datetime
    ) -> ReconcileOutcome:
        """Apply the plans, as far as the rows are those that were planned for.

        Optimistic locking: the plans were made without locks, so all rows are locked now and their
        versions compared. One plan may end or change a row that a later plan is about. Then this
        stops and returns `PARTLY`; what was applied is committed, and the caller plans again. That
        ends, because `PARTLY` needs at least one applied plan.
        """
        locked = self._lock_unchanged(tx, seen, at=at)
        if locked is None:
            return ReconcileOutcome.CHANGED
        versions = {row.memory.id: row.memory.version for row in seen.rows}
        for one in judged:
            # `locked` loses each row that a plan ended. Without its statement, or without any of
            # the others, there is nothing left to decide.
            if one.key not in locked or locked.keys().isdisjoint(one.similarities):
                continue
            if not _is_unchanged(one, locked, versions):
                return ReconcileOutcome.PARTLY
            self._apply_plan(_PlanStep(tx, locked, one.key, one.similarities, at), one)
        return ReconcileOutcome.DONE

    def _plan_one(self, stored: StoredMemory, olds: Sequence[SimilarStatement]) -> ReconcilePlan:
        """The plan for one statement against older ones."""
        candidate_facts = statement_facts(stored.memory)
        near = [
            StatementNeighbour(statement_facts(pair.other.memory), pair.similarity) for pair in olds
        ]
        return ReconcilePlan(
            stored.memory.id,
            {pair.other.memory.id: pair.similarity for pair in olds},
            reconcile(candidate_facts, near, self._settings),
            reconcile_hearsay(
                candidate_facts, _in_other_spaces(candidate_facts, near), self._settings
            ),
        )

    def _lock_unchanged(
        self, tx: Tx, seen: SimilarStatements, *, at: datetime
    ) -> dict[MemoryId, StoredMemory] | None:
        """All rows, locked in the order of ids; None if one of them was changed, ended or
        removed."""
        ids = [row.memory.id for row in seen.rows]
        locked = {
            row.memory.id: row for row in self._stores.memories.fetch_many(tx, ids, lock=True)
        }
        for row in seen.rows:
            present = locked.get(row.memory.id)
            if present is None or present.memory.version != row.memory.version:
                return None
        return locked if all(is_comparable(row, at) for row in locked.values()) else None

    def _apply_plan(self, step: "_PlanStep", judged: ReconcilePlan) -> None:
        decision, over = judged.decision, judged.over
        if decision.verdict is ReconcileVerdict.DUPLICATE:
            self._merge_duplicate(step, decision)
            return
        if decision.verdict is ReconcileVerdict.SUPERSEDES:
            self._supersede(step, decision)
        if over.verdict is ReconcileVerdict.SUPERSEDES:
            self._supersede(step, over)
        self._mark_conflicts(step, decision.conflicts)

    def _merge_duplicate(self, step: "_PlanStep", decision: ReconcileDecision) -> None:
        """Merge the newer statement into the older one, which counts the repeat. The newer row
        stays as superseded, because its id was returned to a caller.

        Does nothing if the merge would lose anything (`RepeatCounter.try_merge`).
        """
        kept, repeat = step.locked[MemoryId(decision.targets[0])], step.stored
        if not self._superseding.can_link(step.tx, kept.memory.id, repeat):
            return
        taking = self._repeating.try_merge(kept.memory, repeat.memory)
        if taking is None:
            return
        cause = step.cause(decision.reason, kept.memory.id)
        self._superseding.supersede_duplicate(step.tx, kept.memory, repeat, cause)
        del step.locked[repeat.memory.id]
        step.locked[kept.memory.id] = self._repeating.add_repeat(
            step.tx,
            None,
            kept,
            repeat=repeat.memory,
            by=repeat.written_by,
            at=step.at,
            taking=taking,
        )

    def _supersede(self, step: "_PlanStep", decision: ReconcileDecision) -> None:
        tx, successor = step.tx, step.stored.memory
        targets = [step.locked[MemoryId(id_)] for id_ in decision.targets]
        olds = [old for old in targets if self._superseding.can_link(tx, successor.id, old)]
        for old in olds:
            cause = step.cause(decision.reason, old.memory.id)
            self._superseding.supersede(tx, successor, old, cause)
            del step.locked[old.memory.id]
        self._pass_on(step, [old.memory for old in olds])

    def _pass_on(self, step: "_PlanStep", olds: Sequence[Memory]) -> None:
        """Give the successor what it takes over from what it replaced."""
        stored, memory = step.stored, step.stored.memory
        after = inherit_from(stored, olds)
        if after == memory:
            return
        after = replace(after, version=memory.version + 1, updated_at=step.at)
        step.locked[memory.id] = self._stores.memories.update(
            step.tx, stored, after, change=VersionChange.UPDATED, by=stored.written_by, at=step.at
        )
        fields = [
            name for name in _INHERITED_FIELDS if getattr(after, name) != getattr(memory, name)
        ]
        record_memory_event(
            self._audit, step.tx, None, event_type="memory.update", memory=after, fields=fields
        )

    def _mark_conflicts(self, step: "_PlanStep", conflicts: Sequence[str]) -> None:
        """Link the statements both ways. This makes no new version: their contents did not
        change."""
        memory = step.stored.memory
        for other in map(MemoryId, conflicts):
            if other in memory.conflicts_with or other not in step.locked:
                continue
            self._stores.memories.link_conflict(step.tx, memory.id, other, at=step.at)
            record_memory_event(
                self._audit,
                step.tx,
                None,
                event_type="memory.conflict",
                memory=memory,
                **{"with": other},
            )


@dataclass(frozen=True, slots=True)
class _PlanStep:
    """One plan that is being applied. `locked` are the rows that are locked and still active."""

    tx: Tx
    locked: dict[MemoryId, StoredMemory]
    key: MemoryId
    similarities: Mapping[MemoryId, float]
    at: datetime

    @property
    def stored(self) -> StoredMemory:
        """The compared statement as earlier changes of this step left it."""
        return self.locked[self.key]

    def cause(self, reason: str, other: MemoryId) -> SupersedeCause:
        """The server acts in the name of who wrote the statement."""
        by, similarity = self.stored.written_by, self.similarities[other]
        return SupersedeCause(None, by, self.at, reason, similarity)


def _is_unchanged(
    one: ReconcilePlan, locked: Mapping[MemoryId, StoredMemory], versions: Mapping[MemoryId, int]
) -> bool:
    """Whether no earlier plan ended or changed one of its rows."""
    rows = (one.key, *one.similarities)
    return all(id_ in locked and locked[id_].memory.version == versions[id_] for id_ in rows)


def _in_other_spaces(
    statement: StatementFacts, near: Iterable[StatementNeighbour]
) -> list[StatementNeighbour]:
    return [one for one in near if one.statement.space != statement.space]


def _time_order(stored: StoredMemory) -> tuple[datetime, int]:
    """Sort key: when it was observed, then the order of storing."""
    return stored.memory.observed_at, stored.doc
