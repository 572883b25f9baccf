"""How a memory takes the place of another: the one way for explicit writes and for what is found
to be replaced later."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from recollect.domain.agents import Owner
from recollect.domain.memories import Memory, MemoryId, Status
from recollect.domain.succession import Ending, Statement, ending, is_protected
from recollect.errors import Forbidden
from recollect.policy.requesters import Requester
from recollect.ports.database import Tx
from recollect.ports.memories import Change, Stored
from recollect.ports.stores import Stores
from recollect.services.memory_audit import MemoryAudit
from recollect.services.memory_events import tell_of


def statement_of(memory: Memory) -> Statement:
    """A memory as the rules of replacing see it."""
    return Statement(
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


def check_own_word(memory: Memory, requester: Requester) -> None:
    """Forbidden if it is what a subject said of themself, and the requester is somebody else."""
    if is_protected(statement_of(memory), by=requester.person_id):
        message = "what somebody said of themself is replaced, changed or moved only by themself"
        raise Forbidden(message, code="subject_only")


@dataclass(frozen=True, slots=True)
class Cause:
    """Who made a memory replace another, when and why. No requester is the server itself, which
    acts `by` what somebody wrote; `similarity` is there where that counted."""

    requester: Requester | None
    by: Owner
    at: datetime
    reason: str
    similarity: float | None = None


class Superseding:
    """Takes rows out of current answers. The caller holds them."""

    def __init__(self, stores: Stores, audit: MemoryAudit) -> None:
        self._stores = stores
        self._audit = audit

    def replace(self, tx: Tx, new: Memory, old: Stored, cause: Cause) -> Stored:
        """Status, times, version, link and event of a memory that a newer one replaces."""
        ends = ending(statement_of(new), statement_of(old.memory), now=cause.at)
        return self._end(tx, new.id, old, cause, ends=ends)

    def fold_in(self, tx: Tx, kept: Memory, repeat: Stored, cause: Cause) -> Stored:
        """A statement that turned out to repeat another one.

        It was answered under its own id, so it stays and names the one that goes on. What it says
        is true still, but recorded there from now on: else it would be told twice of one time.
        """
        ends = Ending(repeat.memory.valid_until, cause.at)
        return self._end(tx, kept.id, repeat, cause, ends=ends)

    def may_link(self, tx: Tx, successor: MemoryId, old: Stored) -> bool:
        """Whether the old one has no successor yet, and none of those it replaced is the new one:
        a history never runs in a circle."""
        if old.memory.superseded_by is not None or old.memory.id == successor:
            return False
        seen: set[MemoryId] = set()
        edge = [old.memory.id]
        while edge:
            seen.update(edge)
            found = self._stores.memories.predecessors(tx, edge)
            edge = [one for of in found.values() for one in of if one not in seen]
        return successor not in seen

    def _end(
        self, tx: Tx, successor: MemoryId, old: Stored, cause: Cause, *, ends: Ending
    ) -> Stored:
        after = replace(
            old.memory,
            status=Status.SUPERSEDED,
            superseded_by=successor,
            valid_until=ends.valid_until,
            retracted_at=ends.retracted_at,
            version=old.memory.version + 1,
            updated_at=cause.at,
        )
        memories, at = self._stores.memories, cause.at
        ended = memories.update(tx, old, after, change=Change.SUPERSEDED, by=cause.by, at=at)
        memories.link_superseded(tx, successor, after.id, at=at, reason=cause.reason)
        told: dict[str, Any] = {"by": successor, "reason": cause.reason}
        if cause.similarity is not None:
            told["similarity"] = round(cause.similarity, 4)
        tell_of(
            self._audit,
            tx,
            cause.requester,
            event_type="memory.supersede",
            memory=after,
            **told,
        )
        return ended
