"""What a memory that is set aside was to replace: named in its links, and done when it is let in.

By then things may have changed. What can't be replaced any more is left as it is, and the memory
names it no longer.
"""

from collections.abc import Sequence
from datetime import datetime

from recollect.domain.doctor import SupersessionLink
from recollect.domain.expiry import is_due
from recollect.domain.memories import Memory, MemoryId, Status
from recollect.domain.succession import is_protected
from recollect.policy.requesters import Requester
from recollect.ports.database import Tx
from recollect.ports.memories import Stored
from recollect.ports.stores import Stores
from recollect.services.memory_audit import MemoryAudit
from recollect.services.superseding import Cause, Superseding, statement_of


class Wishes:
    """Of one memory at a time, whose row the caller holds."""

    def __init__(self, stores: Stores, audit: MemoryAudit) -> None:
        self._stores = stores
        self._superseding = Superseding(stores, audit)

    def met(self, tx: Tx, new: Memory, *, now: datetime) -> list[Stored]:
        """What it may replace now, held. Other wishes are forgotten."""
        met = []
        for memory_id in self._open(tx, new):
            old = self._stores.memories.fetch(tx, memory_id, lock=True)
            if old is not None and self._may_replace(tx, new, old, now):
                met.append(old)
            else:
                self._forget(tx, new, memory_id, now)
        return met

    def replace(
        self, tx: Tx, requester: Requester, new: Memory, *, olds: Sequence[Stored], now: datetime
    ) -> None:
        """Take these out of current answers."""
        for old in olds:
            cause = Cause(requester, requester.who, now, "explicit")
            self._superseding.replace(tx, new, old, cause)

    def drop(self, tx: Tx, new: Memory, *, now: datetime) -> None:
        """Forget all of them: it is thrown away."""
        for memory_id in self._open(tx, new):
            self._forget(tx, new, memory_id, now)

    def _open(self, tx: Tx, new: Memory) -> list[MemoryId]:
        """Without what it replaced before it was set aside, and without what is gone: histories
        keep that. In the order in which rows are held."""
        found = self._stores.keeping.fetch_many(tx, new.supersedes) if new.supersedes else []
        return sorted(old.memory.id for old in found if old.memory.superseded_by != new.id)

    def _may_replace(self, tx: Tx, new: Memory, old: Stored, now: datetime) -> bool:
        memory = old.memory
        there = memory.status is Status.ACTIVE and not is_due(now, memory.expires_at)
        if not there or memory.space != new.space or old.erasure_id is not None:
            return False
        if is_protected(statement_of(memory), by=new.stated_by):
            return False
        return self._superseding.may_link(tx, new.id, old)

    def _forget(self, tx: Tx, new: Memory, old_id: MemoryId, now: datetime) -> None:
        self._stores.doctor.cut(tx, SupersessionLink(now, new.id, old_id))
