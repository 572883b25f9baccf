"""Counts repeats of a stored statement, and merges what a repeat brings."""

from dataclasses import replace
from datetime import datetime

from recollect.audit.memory_recorder import MemoryAudit, record_memory_event
from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel.owner import Owner
from recollect.memories.duplicates.merge_fields import merge_stored_repeat
from recollect.memories.model import (
    SOURCES_MAX,
    Memory,
    StoredMemory,
    VersionChange,
)
from recollect.memories.store.bundle import MemoryStores
from recollect.memories.supersede.apply import statement_facts
from recollect.memories.supersede.rules import (
    strictest_privacy,
    trust_when_repeated,
)
from recollect.memories.write.expiry_calculator import ExpiryCalculator


class RepeatCounter:
    """Counts repeats. The caller holds the lock on the stored row."""

    def __init__(self, stores: MemoryStores, audit: MemoryAudit, expiry: ExpiryCalculator) -> None:
        self._stores = stores
        self._audit = audit
        self._expiry = expiry

    def add_repeat(
        self,
        tx: Tx,
        requester: Requester | None,
        known: StoredMemory,
        *,
        repeat: Memory,
        by: Owner,
        at: datetime,
        taking: Memory | None = None,
    ) -> StoredMemory:
        """Store the next version of `known`, which `repeat` repeats, and audit `memory.duplicate`.

        `repeat` brings its own count of repeats, its sources and its privacy, if that is stricter.
        `taking` is `known` with the fields merged before.
        """
        after = replace(
            self.apply_repeat(taking or known.memory, repeat),
            repeats=known.memory.repeats + repeat.repeats + 1,
            version=known.memory.version + 1,
            updated_at=at,
        )
        stored = self._stores.memories.update(
            tx, known, after, change=VersionChange.UPDATED, by=by, at=at
        )
        record_memory_event(
            self._audit,
            tx,
            requester,
            event_type="memory.duplicate",
            memory=after,
            repeats=after.repeats,
        )
        return stored

    def try_merge(self, known: Memory, repeat: Memory) -> Memory | None:
        """The known statement merged with a stored one that repeats it. None if the merge would
        lose something: a field that can't be merged, or a later expiry of either."""
        # After the merge there is one expiry for both. It must not come before that of the repeat,
        # nor before the one that the known statement would have without the merged fields.
        taken = merge_stored_repeat(known, repeat)
        until = self.apply_repeat(taken.memory, repeat).expires_at
        lives = repeat.expires_at, self.apply_repeat(known, repeat).expires_at
        shorter = any(_is_before(until, end) for end in lives)
        return None if taken.left or shorter else taken.memory

    def apply_repeat(self, known: Memory, repeat: Memory) -> Memory:
        """The known statement after a repeat: renewed TTL, stricter privacy, trust and sources.
        Without the count of repeats, version and `updated_at`."""
        old, candidate = statement_facts(known), statement_facts(repeat)
        sensitivity, portable = strictest_privacy(candidate, [old])
        sources = dict.fromkeys((*known.source_entries, *repeat.source_entries))
        return replace(
            self._expiry.renew(known, repeat.observed_at),
            sensitivity=sensitivity,
            portable=portable,
            trust=trust_when_repeated(old, candidate),
            source_entries=tuple(sources)[:SOURCES_MAX],
        )


def _is_before(until: datetime | None, end: datetime | None) -> bool:
    return until is not None and (end is None or until < end)
