"""`Superseder` marks a memory as superseded by another one and links the two.

Explicit writes, releases from quarantine and reconciliation jobs all go through it. Whether one
memory may replace another is decided by the callers, with the rules in
`memories/supersede/rules.py`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from recollect.audit.memory_recorder import MemoryAudit, record_memory_event
from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel.errors import Forbidden
from recollect.kernel.ids import MemoryId
from recollect.kernel.owner import Owner
from recollect.memories.model import (
    Memory,
    MemoryStatus,
    StoredMemory,
    VersionChange,
)
from recollect.memories.store.bundle import MemoryStores
from recollect.memories.supersede.rules import (
    StatementFacts,
    SupersededTimes,
    is_protected,
    strictest_privacy,
    successor_start,
    superseded_times,
)


def statement_facts(memory: Memory) -> StatementFacts:
    """The fields of a memory that the rules of supersession and reconciliation read."""
    return StatementFacts(
        id=memory.id,
        content=memory.content,
        space=memory.space,
        observed_at=memory.observed_at,
        type=memory.type,
        subjects=frozenset(memory.subjects),
        stated_by=memory.stated_by,
        learned_in=memory.learned_in,
        origin=memory.origin,
        trust=memory.trust,
        sensitivity=memory.sensitivity,
        portable=memory.portable,
        verified=memory.verified,
        valid_from=memory.valid_from,
        valid_until=memory.valid_until,
    )


def inherit_from(new: StoredMemory, olds: Iterable[Memory]) -> Memory:
    """The successor with the strictest privacy of them all, unless a subject chose its own, and
    with the `valid_from` that follows from what it replaces."""
    memory, before = new.memory, [statement_facts(old) for old in olds]
    sensitivity, portable = strictest_privacy(
        statement_facts(memory), before, set_by_subject=new.privacy_said
    )
    valid_from = successor_start(statement_facts(memory), before)
    return replace(memory, sensitivity=sensitivity, portable=portable, valid_from=valid_from)


def check_self_statement(memory: Memory, requester: Requester) -> None:
    """Raise Forbidden if a subject said it of themself and the requester is somebody else."""
    if is_protected(statement_facts(memory), by=requester.person_id):
        message = "only the person who said this of themself may replace, change or move it"
        raise Forbidden(message, code="subject_only")


@dataclass(frozen=True, slots=True)
class SupersedeCause:
    """Who superseded a memory, when and why, for its version and its audit event.

    `requester` is None in a job: then the server acts, and `by` is who wrote the successor.
    `similarity` is set where vectors were compared.
    """

    requester: Requester | None
    by: Owner
    at: datetime
    reason: str
    similarity: float | None = None


class Superseder:
    """Marks rows as superseded. The caller holds the locks on both rows."""

    def __init__(self, stores: MemoryStores, audit: MemoryAudit) -> None:
        self._stores = stores
        self._audit = audit

    def supersede(
        self, tx: Tx, new: Memory, old: StoredMemory, cause: SupersedeCause
    ) -> StoredMemory:
        """End `old` because `new` replaces it: status, times, version, link and audit event.

        Returns the ended row. Its end is the time at which `new` became true, or its retraction
        where `old` was never true (`superseded_times`).
        """
        ends = superseded_times(statement_facts(new), statement_facts(old.memory), now=cause.at)
        return self._mark_superseded(tx, new.id, old, cause, ends=ends)

    def supersede_duplicate(
        self, tx: Tx, kept: Memory, repeat: StoredMemory, cause: SupersedeCause
    ) -> StoredMemory:
        """End `repeat`, a stored statement that says the same as `kept`.

        A caller got the id of `repeat` from its write, so the row stays, and reads of that id
        follow the link to `kept`. What it says is still true: so `valid_until` does not change,
        and it is retracted instead. Otherwise a query about the past would return both.
        """
        ends = SupersededTimes(repeat.memory.valid_until, cause.at)
        return self._mark_superseded(tx, kept.id, repeat, cause, ends=ends)

    def can_link(self, tx: Tx, successor: MemoryId, old: StoredMemory) -> bool:
        """Whether `successor` may replace `old` without a second successor or a cycle."""
        if old.memory.superseded_by is not None or old.memory.id == successor:
            return False
        # Breadth first through everything that `old` replaced, directly or not. If the successor is
        # among it, the new link would close a cycle, and walks through the history (here, in
        # `VersionHistory`) would have no first memory. One query a level, not one a memory.
        seen: set[MemoryId] = set()
        edge = [old.memory.id]
        while edge:
            seen.update(edge)
            found = self._stores.memories.predecessors(tx, edge)
            edge = [one for of in found.values() for one in of if one not in seen]
        return successor not in seen

    def _mark_superseded(
        self,
        tx: Tx,
        successor: MemoryId,
        old: StoredMemory,
        cause: SupersedeCause,
        *,
        ends: SupersededTimes,
    ) -> StoredMemory:
        after = replace(
            old.memory,
            status=MemoryStatus.SUPERSEDED,
            superseded_by=successor,
            valid_until=ends.valid_until,
            retracted_at=ends.retracted_at,
            version=old.memory.version + 1,
            updated_at=cause.at,
        )
        memories, at = self._stores.memories, cause.at
        ended = memories.update(tx, old, after, change=VersionChange.SUPERSEDED, by=cause.by, at=at)
        memories.link_superseded(tx, successor, after.id, at=at, reason=cause.reason)
        details: dict[str, Any] = {"by": successor, "reason": cause.reason}
        if cause.similarity is not None:
            details["similarity"] = round(cause.similarity, 4)
        record_memory_event(
            self._audit,
            tx,
            cause.requester,
            event_type="memory.supersede",
            memory=after,
            **details,
        )
        return ended
