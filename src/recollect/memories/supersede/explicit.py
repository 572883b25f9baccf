"""Explicit supersession: the memories that a writer replaces by id (`supersedes`) or by record key
(`on_conflict`)."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from recollect.audit.memory_recorder import MemoryAudit
from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel.errors import Conflict, NotFound, ValidationFailed
from recollect.kernel.ids import MemoryId
from recollect.kernel.space import Space
from recollect.memories.commands import OnConflict
from recollect.memories.model import MemoryStatus, StoredMemory, is_expired
from recollect.memories.store.bundle import MemoryStores
from recollect.memories.supersede.apply import (
    SupersedeCause,
    Superseder,
    check_self_statement,
    inherit_from,
)
from recollect.memories.write.draft import MemoryDraft
from recollect.memories.write_access import MemoryWriteAccess


class ExplicitSupersession:
    """Finds and locks the rows that a write replaces, checks them, and supersedes them."""

    def __init__(self, stores: MemoryStores, audit: MemoryAudit, access: MemoryWriteAccess) -> None:
        self._stores = stores
        self._access = access
        self._superseding = Superseder(stores, audit)

    def fetch_named(
        self, tx: Tx, requester: Requester, ids: Sequence[MemoryId], *, now: datetime
    ) -> list[StoredMemory]:
        """The rows with these ids, locked, in the order of `ids`.

        Raises NotFound for what the requester can't see and for expired rows. Raises Forbidden for
        what the requester may not change, and for what somebody else said of themself.
        """
        # Locked in the order of ids, whatever the order in the request: two writers who name the
        # same rows in different orders would deadlock otherwise.
        found = {one: self._fetch_named_row(tx, requester, one, now=now) for one in sorted(ids)}
        return [found[one] for one in ids]

    def can_change(self, tx: Tx, requester: Requester, stored: StoredMemory) -> bool:
        """Whether the requester may change a row that their write ran into. Callers treat all
        other rows as absent, so that a write reveals nothing about them."""
        return self._access.can_change(tx, requester, stored)

    def _fetch_named_row(
        self, tx: Tx, requester: Requester, memory_id: MemoryId, *, now: datetime
    ) -> StoredMemory:
        stored = self._access.lock_for_change(tx, requester, memory_id)
        if is_expired(now, stored.memory.expires_at):
            raise NotFound("memory", memory_id)
        check_self_statement(stored.memory, requester)
        return stored

    def fetch_by_key(
        self, tx: Tx, requester: Requester, draft: MemoryDraft, *, space: Space, now: datetime
    ) -> list[StoredMemory]:
        """The active records with the draft's key that it replaces, locked, without those that it
        names by id. Raises Conflict if `on_conflict` is `refuse` and there is one."""
        if draft.key is None or draft.on_conflict is OnConflict.KEEP:
            return []
        # The key is locked before it is looked up: there may be no row to lock yet, and two writers
        # who both found none would both insert. The rows are locked after the look-up, and their
        # status is read again from the locked rows, because PATCH and DELETE don't lock the key.
        self._stores.memories.lock_key(tx, space, draft.key)
        known = [
            one
            for one in self._stores.memories.find_by_key(tx, space, draft.key, now=now)
            if self.can_change(tx, requester, one)
        ]
        if known and draft.on_conflict is OnConflict.REFUSE:
            raise Conflict(
                "a record with this key exists in the space",
                details={"reason": "id_taken", "field": "key", "id": known[0].memory.id},
            )
        ids = [one.memory.id for one in known if one.memory.id not in draft.supersedes]
        named = self.fetch_named(tx, requester, ids, now=now)
        return [one for one in named if one.memory.status is MemoryStatus.ACTIVE]

    def replace_all(
        self,
        tx: Tx,
        requester: Requester,
        successor: StoredMemory,
        *,
        olds: Iterable[StoredMemory],
        named: Collection[MemoryId],
    ) -> None:
        """Supersede the old rows. The reason is `explicit` for ids in `named` and `key` for
        others."""
        for old in olds:
            reason = "explicit" if old.memory.id in named else "key"
            at = successor.memory.updated_at
            cause = SupersedeCause(requester, requester.identity, at, reason)
            self._superseding.supersede(tx, successor.memory, old, cause)


def build_successor(new: StoredMemory, olds: Sequence[StoredMemory]) -> StoredMemory:
    """The row with links to what it replaces, with the strictest privacy of them all and with the
    start that follows from them. A privacy that a subject chose stays as it is."""
    after = inherit_from(new, [old.memory for old in olds])
    supersedes = tuple(old.memory.id for old in olds)
    return replace(new, memory=replace(after, supersedes=supersedes))


def check_replaceable(olds: Sequence[StoredMemory], ids: Sequence[MemoryId], space: Space) -> None:
    """Raise unless every old row lies in `space` (ValidationFailed) and is active (Conflict). An
    active row has no successor yet."""
    for index, old in enumerate(olds):
        if old.memory.space != space:
            raise ValidationFailed.for_field(f"supersedes[{index}]", "must lie in the same space")
        if old.memory.status is not MemoryStatus.ACTIVE:
            raise Conflict(
                "only an active memory can be replaced",
                details={"reason": "wrong_state", "id": ids[index]},
            )
