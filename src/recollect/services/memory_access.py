"""One memory that somebody wants to change: the stored row decides whether they may."""

from dataclasses import replace

from recollect.domain.memories import MemoryId, Status
from recollect.domain.spaces import SpaceKind
from recollect.errors import NotFound
from recollect.policy.requesters import Requester
from recollect.ports.database import Tx
from recollect.ports.memories import Stored
from recollect.ports.stores import Stores
from recollect.services.memory_places import not_owner
from recollect.services.sights import Sights
from recollect.services.views import Views


class MemoryAccess:
    """Finds rows for those who may change them."""

    def __init__(self, stores: Stores, sights: Sights, views: Views) -> None:
        self._stores = stores
        self._sights = sights
        self._views = views

    def to_change(self, tx: Tx, requester: Requester, memory_id: MemoryId) -> Stored:
        """The row, held until the transaction ends.

        Forbidden for who can only read it; for everybody else it is NotFound, as an unknown id.
        Writers find rows of every status.
        """
        stored = self._stores.memories.fetch(tx, memory_id, lock=True)
        if stored is None or stored.erasure_id is not None:
            raise NotFound("memory", memory_id)
        if self.is_theirs(tx, requester, stored):
            return stored
        if self._views.look(tx, self._sights.of(tx, requester), stored).allowed:
            raise not_owner()
        raise NotFound("memory", memory_id)

    def is_theirs(self, tx: Tx, requester: Requester, stored: Stored) -> bool:
        """May the requester change the row, and know what is in it?

        Those who take part in a chat write to its space and still don't see all of it: what is
        told about others in confidence is for them, and for whoever wrote it down.
        """
        if not self._views.may_change(tx, requester, stored).allowed:
            return False
        if stored.memory.space.kind is not SpaceKind.CHAT or stored.written_by == requester.who:
            return True
        alive = replace(
            stored, memory=replace(stored.memory, status=Status.ACTIVE, expires_at=None)
        )
        return self._views.look(tx, self._sights.of(tx, requester), alive).allowed
