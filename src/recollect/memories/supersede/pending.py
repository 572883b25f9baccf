"""The supersessions of a quarantined memory, which wait until somebody releases it.

A write that is quarantined stores a link to each row that it should supersede and changes none of
them. Release applies the links that are still allowed and deletes the others; rejection deletes
all of them.
"""

from collections.abc import Sequence
from datetime import datetime

from recollect.audit.memory_recorder import MemoryAudit
from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel.ids import MemoryId
from recollect.memories.model import (
    Memory,
    MemoryStatus,
    StoredMemory,
    is_expired,
)
from recollect.memories.store.bundle import MemoryStores
from recollect.memories.supersede.apply import (
    SupersedeCause,
    Superseder,
    statement_facts,
)
from recollect.memories.supersede.rules import is_protected


class PendingSupersedes:
    """Pending links of one memory. The caller holds the lock on that memory's row."""

    def __init__(self, stores: MemoryStores, audit: MemoryAudit) -> None:
        self._stores = stores
        self._superseding = Superseder(stores, audit)

    def applicable(self, tx: Tx, new: Memory, *, now: datetime) -> list[StoredMemory]:
        """The rows that it may supersede now, locked. Links to all others are deleted.

        Two steps on purpose: the caller needs these rows to compute the privacy of the released
        memory, and stores that memory before it calls `apply`.
        """
        ready = []
        for memory_id in self._pending_ids(tx, new):
            # Lock first and judge the locked row. Days may lie between the write and its release,
            # and the old row may have been changed, replaced, expired or moved since. The rights
            # of the writer were checked at the write, those of the releaser by the caller.
            old = self._stores.memories.fetch(tx, memory_id, lock=True)
            if old is not None and self._is_applicable(tx, new, old, now):
                ready.append(old)
            else:
                self._unlink(tx, new, memory_id)
        return ready

    def apply(
        self,
        tx: Tx,
        requester: Requester,
        new: Memory,
        *,
        olds: Sequence[StoredMemory],
        now: datetime,
    ) -> None:
        """Supersede these rows, which `applicable` returned in the same transaction."""
        for old in olds:
            cause = SupersedeCause(requester, requester.identity, now, "explicit")
            self._superseding.supersede(tx, new, old, cause)

    def discard_all(self, tx: Tx, new: Memory) -> None:
        """Delete all pending links, before the memory itself is deleted."""
        for memory_id in self._pending_ids(tx, new):
            self._unlink(tx, new, memory_id)

    def _pending_ids(self, tx: Tx, new: Memory) -> list[MemoryId]:
        """The ids of the links that were not applied yet, sorted: that is the order of locking.

        A memory may be quarantined by a PATCH after it superseded rows. Those rows name it in
        `superseded_by`, so their links are history and stay. So do links to rows that were removed.
        """
        found = self._stores.memories.fetch_many(tx, new.supersedes) if new.supersedes else []
        return sorted(old.memory.id for old in found if old.memory.superseded_by != new.id)

    def _is_applicable(self, tx: Tx, new: Memory, old: StoredMemory, now: datetime) -> bool:
        # The same conditions as at an explicit write (`check_replaceable`, `check_self_statement`)
        # but without errors: one link that is no longer possible must not block the release.
        memory = old.memory
        there = memory.status is MemoryStatus.ACTIVE and not is_expired(now, memory.expires_at)
        if not there or memory.space != new.space or old.erasure_id is not None:
            return False
        # Judged by who stated the quarantined text, not by who releases it.
        if is_protected(statement_facts(memory), by=new.stated_by):
            return False
        return self._superseding.can_link(tx, new.id, old)

    def _unlink(self, tx: Tx, new: Memory, old_id: MemoryId) -> None:
        self._stores.memories.unlink_superseded(tx, new.id, old_id)
