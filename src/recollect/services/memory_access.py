"""One memory that somebody wants to change: the stored row decides whether they may."""

from recollect.domain.memories import MemoryId
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
        if self._views.may_change(tx, requester, stored).allowed:
            return stored
        if self._views.look(tx, self._sights.of(tx, requester), stored).allowed:
            raise not_owner()
        raise NotFound("memory", memory_id)
