"""What a stored statement means for the others: repeats are counted, what it replaces ends, and
contradictions are marked. The rules are `domain/reconcile.py`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from recollect.domain.expiry import is_due
from recollect.domain.likeness import likeness
from recollect.domain.memories import Kind, Memory, MemoryId, Status
from recollect.domain.reconcile import (
    Decision,
    Neighbour,
    ReconcileSettings,
    Verdict,
    reconcile,
    self_over_hearsay,
)
from recollect.domain.succession import Statement, stricter
from recollect.ports.database import Tx
from recollect.ports.memories import Change, Stored
from recollect.ports.stores import Stores
from recollect.services.memory_audit import MemoryAudit
from recollect.services.memory_events import tell_of
from recollect.services.repeating import Repeating
from recollect.services.superseding import Cause, Superseding, statement_of

_STRICT = ("sensitivity", "portable")


@dataclass(frozen=True, slots=True)
class Pair:
    """A statement beside the one that is looked at, and how alike they are."""

    other: Stored
    similarity: float


@dataclass(frozen=True, slots=True)
class Surroundings:
    """A statement, and those near enough to mean something for it."""

    stored: Stored
    pairs: tuple[Pair, ...]

    @property
    def rows(self) -> tuple[Stored, ...]:
        """All of them."""
        return (self.stored, *(pair.other for pair in self.pairs))


def is_comparable(stored: Stored, now: datetime) -> bool:
    """Whether a row takes part: an active, verified statement about people who are known. A list of
    messages says many things, so nothing of it is compared."""
    memory = stored.memory
    return (
        memory.kind is Kind.STATEMENT
        and memory.status is Status.ACTIVE
        and memory.verified
        and not is_due(now, memory.expires_at)
        and not (memory.messages or stored.bare_names or stored.erasure_id)
    )


class Reconciler:
    """Decides and writes, in the caller's transaction."""

    def __init__(
        self,
        stores: Stores,
        audit: MemoryAudit,
        *,
        repeating: Repeating,
        settings: ReconcileSettings,
    ) -> None:
        self._stores = stores
        self._audit = audit
        self._repeating = repeating
        self._superseding = Superseding(stores, audit)
        self._settings = settings

    def near(self, stored: Stored, found: Iterable[tuple[Stored, float]]) -> Surroundings:
        """Those of `found`, each with its cosine, that are near enough for any decision."""
        said = statement_of(stored.memory)
        floor = min(self._settings.unsure_min, self._settings.hearsay_min)
        pairs = (
            Pair(one, likeness(cosine, said, statement_of(one.memory))) for one, cosine in found
        )
        return Surroundings(stored, tuple(pair for pair in pairs if pair.similarity >= floor))

    def settle(self, tx: Tx, seen: Surroundings, *, at: datetime) -> bool:
        """Do what follows from what was seen. False, and nothing done, if a row changed since.

        A statement is compared with what was said before it; what was said after it is compared
        with it. So it doesn't matter in which order statements get here.
        """
        held = self._held(tx, seen, at=at)
        if held is None:
            return False
        key, said = seen.stored.memory.id, seen.stored.memory
        before = [pair for pair in seen.pairs if _place(pair.other) < _place(seen.stored)]
        after = [pair for pair in seen.pairs if _place(pair.other) > _place(seen.stored)]
        self._compare(tx, held, key, {pair.other.memory.id: pair.similarity for pair in before}, at)
        for pair in sorted(after, key=lambda pair: _place(pair.other)):
            self._compare(tx, held, pair.other.memory.id, {said.id: pair.similarity}, at)
        return True

    def _held(self, tx: Tx, seen: Surroundings, *, at: datetime) -> dict[MemoryId, Stored] | None:
        ids = [row.memory.id for row in seen.rows]
        held = {row.memory.id: row for row in self._stores.keeping.fetch_many(tx, ids, lock=True)}
        for row in seen.rows:
            present = held.get(row.memory.id)
            if present is None or present.memory.version != row.memory.version:
                return None
        return {id_: row for id_, row in held.items() if is_comparable(row, at)}

    def _compare(
        self,
        tx: Tx,
        held: dict[MemoryId, Stored],
        key: MemoryId,
        similarities: Mapping[MemoryId, float],
        at: datetime,
    ) -> None:
        """One statement with some older ones, as far as they are all still active."""
        stored = held.get(key)
        olds = [held[id_] for id_ in similarities if id_ in held]
        if stored is None or not olds:
            return
        said = statement_of(stored.memory)
        near = [Neighbour(statement_of(old.memory), similarities[old.memory.id]) for old in olds]
        decision = reconcile(said, near, self._settings)
        over = self_over_hearsay(said, _elsewhere(said, near), self._settings)
        step = _Step(tx, held, key, similarities, at)
        if decision.verdict is Verdict.DUPLICATE:
            self._fold(step, decision)
            return
        if decision.verdict is Verdict.SUPERSEDES:
            self._replace(step, decision)
        if over.verdict is Verdict.SUPERSEDES:
            self._replace(step, over)
        self._mark(step, decision.conflicts)

    def _fold(self, step: "_Step", decision: Decision) -> None:
        """The older one goes on and counts the newer one, which stays under its id for those who
        were told it."""
        kept, repeat = step.held[MemoryId(decision.targets[0])], step.stored
        if not self._superseding.may_link(step.tx, kept.memory.id, repeat):
            return
        if self._loses(kept.memory, repeat.memory):
            return
        cause = step.cause(decision.reason, kept.memory.id)
        self._superseding.fold_in(step.tx, kept.memory, repeat, cause)
        del step.held[repeat.memory.id]
        step.held[kept.memory.id] = self._repeating.add(
            step.tx, None, kept, said=repeat.memory, by=repeat.written_by, at=step.at
        )

    def _loses(self, kept: Memory, repeat: Memory) -> bool:
        """Whether more than a repetition would go: a longer life, its own time, or its tags."""
        until = self._repeating.renewed(kept, repeat).expires_at
        shorter = until is not None and (repeat.expires_at is None or until < repeat.expires_at)
        times = repeat.valid_from, repeat.valid_until
        own_time = times not in ((None, None), (kept.valid_from, kept.valid_until))
        return shorter or own_time or not set(repeat.tags) <= set(kept.tags)

    def _replace(self, step: "_Step", decision: Decision) -> None:
        tx, successor = step.tx, step.stored.memory
        targets = [step.held[MemoryId(id_)] for id_ in decision.targets]
        olds = [old for old in targets if self._superseding.may_link(tx, successor.id, old)]
        for old in olds:
            cause = step.cause(decision.reason, old.memory.id)
            self._superseding.replace(tx, successor, old, cause)
            del step.held[old.memory.id]
        self._tighten(step, [statement_of(old.memory) for old in olds])

    def _tighten(self, step: "_Step", olds: Sequence[Statement]) -> None:
        """The successor is as strict as the strictest that it replaced, unless a subject said."""
        stored, memory = step.stored, step.stored.memory
        strictest = stricter(statement_of(memory), olds, set_by_subject=stored.privacy_said)
        if strictest == (memory.sensitivity, memory.portable):
            return
        after = replace(
            memory,
            sensitivity=strictest[0],
            portable=strictest[1],
            version=memory.version + 1,
            updated_at=step.at,
        )
        step.held[memory.id] = self._stores.memories.update(
            step.tx, stored, after, change=Change.UPDATED, by=stored.written_by, at=step.at
        )
        fields = [name for name in _STRICT if getattr(after, name) != getattr(memory, name)]
        tell_of(self._audit, step.tx, None, event_type="memory.update", memory=after, fields=fields)

    def _mark(self, step: "_Step", conflicts: Sequence[str]) -> None:
        """Both list the other. This is no new version of either: nobody changed what they say."""
        memory = step.stored.memory
        for other in map(MemoryId, conflicts):
            if other in memory.conflicts_with or other not in step.held:
                continue
            self._stores.memories.link_conflict(step.tx, memory.id, other, at=step.at)
            tell_of(
                self._audit,
                step.tx,
                None,
                event_type="memory.conflict",
                memory=memory,
                **{"with": other},
            )


@dataclass(frozen=True, slots=True)
class _Step:
    """One comparison that is being carried out. `held` are the rows that are still active."""

    tx: Tx
    held: dict[MemoryId, Stored]
    key: MemoryId
    similarities: Mapping[MemoryId, float]
    at: datetime

    @property
    def stored(self) -> Stored:
        """The statement that is compared, as it is now."""
        return self.held[self.key]

    def cause(self, reason: str, other: MemoryId) -> Cause:
        """The server acts by what was written."""
        by, similarity = self.stored.written_by, self.similarities[other]
        return Cause(None, by, self.at, reason, similarity)


def _elsewhere(said: Statement, near: Iterable[Neighbour]) -> list[Neighbour]:
    return [one for one in near if one.statement.space != said.space]


def _place(stored: Stored) -> tuple[datetime, int]:
    """Where it stands in time; of two at one instant, the one that was stored first."""
    return stored.memory.observed_at, stored.doc
