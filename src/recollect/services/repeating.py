"""What it means that something is said once more, for the statement that says it already."""

from dataclasses import replace
from datetime import datetime

from recollect.domain.agents import Owner
from recollect.domain.memories import SOURCES_MAX, Memory
from recollect.domain.succession import stricter, trust_when_repeated
from recollect.policy.requesters import Requester
from recollect.ports.database import Tx
from recollect.ports.memories import Change, Stored
from recollect.ports.stores import Stores
from recollect.services.memory_audit import MemoryAudit
from recollect.services.memory_events import tell_of
from recollect.services.memory_terms import Terms
from recollect.services.repeat_marks import folded
from recollect.services.superseding import statement_of


class Repeating:
    """Counts repeats. The caller holds the row."""

    def __init__(self, stores: Stores, audit: MemoryAudit, terms: Terms) -> None:
        self._stores = stores
        self._audit = audit
        self._terms = terms

    def add(
        self,
        tx: Tx,
        requester: Requester | None,
        known: Stored,
        *,
        said: Memory,
        by: Owner,
        at: datetime,
        taking: Memory | None = None,
    ) -> Stored:
        """One more time: repeats, sources, and the stricter word on who may know. A statement that
        was said several times itself brings all of them. `taking` is the known one with what else
        it takes over."""
        after = replace(
            self.renewed(taking or known.memory, said),
            repeats=known.memory.repeats + said.repeats + 1,
            version=known.memory.version + 1,
            updated_at=at,
        )
        stored = self._stores.memories.update(tx, known, after, change=Change.UPDATED, by=by, at=at)
        tell_of(
            self._audit,
            tx,
            requester,
            event_type="memory.duplicate",
            memory=after,
            repeats=after.repeats,
        )
        return stored

    def folded(self, known: Memory, said: Memory) -> Memory | None:
        """The known one with what it takes over from a stored statement that repeats it. None where
        more than a repetition would go: a mark that it can't take, its own time, a longer life of
        either."""
        taken = folded(known, said)
        until = self.renewed(taken.memory, said).expires_at
        lives = said.expires_at, self.renewed(known, said).expires_at
        shorter = any(_is_before(until, end) for end in lives)
        return None if taken.left or shorter else taken.memory

    def renewed(self, known: Memory, said: Memory) -> Memory:
        """The known one as the repeat leaves it, but for what counts changes."""
        old, candidate = statement_of(known), statement_of(said)
        sensitivity, portable = stricter(candidate, [old])
        sources = dict.fromkeys((*known.source_entries, *said.source_entries))
        return replace(
            self._terms.repeated(known, said.observed_at),
            sensitivity=sensitivity,
            portable=portable,
            trust=trust_when_repeated(old, candidate),
            source_entries=tuple(sources)[:SOURCES_MAX],
        )


def _is_before(until: datetime | None, end: datetime | None) -> bool:
    return until is not None and (end is None or until < end)
