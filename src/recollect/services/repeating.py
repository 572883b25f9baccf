"""Counts repeats of a stored statement, and merges what a repeat brings."""

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
    """Counts repeats. The caller holds the lock on the stored row."""

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
        """Store the next version of `known` after `said` repeated it, and audit `memory.duplicate`.

        `said` brings its own count of repeats, its sources and its privacy, if that is stricter.
        `taking` is `known` with the fields merged before.
        """
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
        """The known statement merged with a stored one that repeats it. None if the merge would
        lose something: a field that can't be merged, or a later expiry of either."""
        # After the merge there is one expiry for both. It must not come before that of the repeat,
        # nor before the one that the known statement would have without the merged fields.
        taken = folded(known, said)
        until = self.renewed(taken.memory, said).expires_at
        lives = said.expires_at, self.renewed(known, said).expires_at
        shorter = any(_is_before(until, end) for end in lives)
        return None if taken.left or shorter else taken.memory

    def renewed(self, known: Memory, said: Memory) -> Memory:
        """The known statement after a repeat: renewed TTL, stricter privacy, trust and sources.
        Without the count of repeats, version and `updated_at`."""
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
