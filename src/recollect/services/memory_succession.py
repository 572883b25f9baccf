"""What a new memory replaces because its writer says so, and what happens to the old one."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from recollect.domain.expiry import is_due
from recollect.domain.memories import MemoryId, Status
from recollect.domain.spaces import Space
from recollect.domain.succession import stricter
from recollect.errors import Conflict, NotFound, ValidationFailed
from recollect.policy.requesters import Requester
from recollect.ports.database import Tx
from recollect.ports.memories import Stored
from recollect.ports.stores import Stores
from recollect.services.drafts import Draft, OnConflict
from recollect.services.memory_access import MemoryAccess
from recollect.services.memory_audit import MemoryAudit
from recollect.services.superseding import Cause, Superseding, check_own_word, statement_of


class Succession:
    """Finds what is to be replaced, and replaces it."""

    def __init__(self, stores: Stores, audit: MemoryAudit, access: MemoryAccess) -> None:
        self._stores = stores
        self._access = access
        self._superseding = Superseding(stores, audit)

    def named(
        self, tx: Tx, requester: Requester, ids: Sequence[MemoryId], *, now: datetime
    ) -> list[Stored]:
        """What the writer names, held: visible, or NotFound; theirs to change and not somebody's
        own word about themself, or Forbidden."""
        # In one order, so that two writers who name the same rows don't wait for each other.
        found = {one: self._named(tx, requester, one, now=now) for one in sorted(ids)}
        return [found[one] for one in ids]

    def is_theirs(self, tx: Tx, requester: Requester, stored: Stored) -> bool:
        """May the requester touch a row that their write meets? Others' rows, and those that they
        can't see, are as if they were not there."""
        return self._access.is_theirs(tx, requester, stored)

    def _named(self, tx: Tx, requester: Requester, memory_id: MemoryId, *, now: datetime) -> Stored:
        stored = self._access.to_change(tx, requester, memory_id)
        if is_due(now, stored.memory.expires_at):
            raise NotFound("memory", memory_id)
        check_own_word(stored.memory, requester)
        return stored

    def under_key(
        self, tx: Tx, requester: Requester, draft: Draft, *, space: Space, now: datetime
    ) -> list[Stored]:
        """Records of the space with the draft's key that it is to replace, beside those that it
        names. Conflict if it is to be the only one and there is another."""
        if draft.key is None or draft.on_conflict is OnConflict.KEEP:
            return []
        self._stores.memories.hold_key(tx, space, draft.key)
        known = [
            one
            for one in self._stores.memories.find_key(tx, space, draft.key, now=now)
            if self.is_theirs(tx, requester, one)
        ]
        if known and draft.on_conflict is OnConflict.REFUSE:
            raise Conflict(
                "a record with this key exists in the space",
                details={"reason": "id_taken", "field": "key", "id": known[0].memory.id},
            )
        ids = [one.memory.id for one in known if one.memory.id not in draft.supersedes]
        held = self.named(tx, requester, ids, now=now)
        return [one for one in held if one.memory.status is Status.ACTIVE]

    def replace_all(
        self,
        tx: Tx,
        requester: Requester,
        successor: Stored,
        *,
        olds: Iterable[Stored],
        named: Collection[MemoryId],
    ) -> None:
        """Set status and links of the old rows, and tell. What was not named was met by its key."""
        for old in olds:
            reason = "explicit" if old.memory.id in named else "key"
            at = successor.memory.updated_at
            cause = Cause(requester, requester.who, at, reason)
            self._superseding.replace(tx, successor.memory, old, cause)


def as_successor(new: Stored, olds: Sequence[Stored]) -> Stored:
    """The row as the successor of others: as strict as the strictest, unless a subject says."""
    memory = new.memory
    before = [statement_of(old.memory) for old in olds]
    sensitivity, portable = stricter(statement_of(memory), before, set_by_subject=new.privacy_said)
    supersedes = tuple(old.memory.id for old in olds)
    return replace(
        new,
        memory=replace(memory, sensitivity=sensitivity, portable=portable, supersedes=supersedes),
    )


def check_replaceable(olds: Sequence[Stored], ids: Sequence[MemoryId], space: Space) -> None:
    """A memory replaces active ones of its own space, each of which has no successor yet."""
    for index, old in enumerate(olds):
        if old.memory.space != space:
            raise ValidationFailed.of(f"supersedes[{index}]", "must lie in the same space")
        if old.memory.status is not Status.ACTIVE:
            raise Conflict(
                "only an active memory can be replaced",
                details={"reason": "wrong_state", "id": ids[index]},
            )
