"""One memory that somebody wants to change: the stored row decides whether they may."""

from collections.abc import Sequence
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
        """May the requester change the row, and know what is in it?"""
        return bool(self.theirs(tx, requester, [stored]))

    def theirs(self, tx: Tx, requester: Requester, rows: Sequence[Stored]) -> frozenset[MemoryId]:
        """Which of these rows the requester may change, and know what is in them.

        Those who take part in a chat write to its space and still don't see all of it: what is
        told about others in confidence is for them alone, whoever wrote it down. Only in orgs has
        an admin a right to rows as such.
        """
        # Rights are those of the space and the agent, so each pair is asked for once.
        places = {_place(row): row for row in rows}
        rights = {
            place: self._views.may_change(tx, requester, row) for place, row in places.items()
        }
        open_ = [row for row in rows if rights[_place(row)].allowed]
        if not open_:
            return frozenset()
        sight = self._sights.of(tx, requester)
        return frozenset(
            row.memory.id
            for row in open_
            if (requester.admin and row.memory.space.kind is SpaceKind.ORG)
            or self._views.look(tx, sight, _alive(row)).allowed
        )


def _place(row: Stored) -> object:
    return row.memory.space, row.memory.agent_id


def _alive(row: Stored) -> Stored:
    """Writers find rows of every status."""
    return replace(row, memory=replace(row.memory, status=Status.ACTIVE, expires_at=None))
