"""Access to memories for writers. Whether somebody may change a memory depends on the stored row,
never on what the request says about it."""

from collections.abc import Sequence

from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel.errors import Forbidden, NotFound
from recollect.kernel.ids import MemoryId
from recollect.kernel.space import SpaceKind
from recollect.memories.model import StoredMemory
from recollect.memories.store.bundle import MemoryStores
from recollect.visibility.facts import VisibilityFacts
from recollect.visibility.viewers import ViewerFactory


class MemoryWriteAccess:
    """Loads and locks rows for requesters who may change them."""

    def __init__(
        self, stores: MemoryStores, viewers: ViewerFactory, views: VisibilityFacts
    ) -> None:
        self._stores = stores
        self._viewers = viewers
        self._views = views

    def lock_for_change(self, tx: Tx, requester: Requester, memory_id: MemoryId) -> StoredMemory:
        """The row, whatever its status, locked until the transaction ends.

        Forbidden for a requester who may only read it. For everybody else NotFound, as for an
        unknown id, so that the answer does not reveal that the memory exists.
        """
        stored = self._stores.memories.fetch(tx, memory_id, lock=True)
        if stored is None or stored.erasure_id is not None:
            raise NotFound("memory", memory_id)
        if self.can_change(tx, requester, stored):
            return stored
        # Visible but not writable: only now may the answer admit that the memory exists.
        viewer = self._viewers.viewer_for(tx, requester)
        if self._views.can_view_by_id(tx, viewer, stored).allowed:
            raise not_owner_error()
        raise NotFound("memory", memory_id)

    def can_change(self, tx: Tx, requester: Requester, stored: StoredMemory) -> bool:
        """May the requester change the row, and read its text?"""
        return bool(self.changeable_ids(tx, requester, [stored]))

    def changeable_ids(
        self, tx: Tx, requester: Requester, rows: Sequence[StoredMemory]
    ) -> frozenset[MemoryId]:
        """Ids of those rows that the requester may both write and read.

        Participants of a chat write to its space and still don't see all of it: a sensitive memory
        about a subject is disclosed to that subject only. So the right to write is not enough. The
        exception are org spaces, where an admin may change every row.
        """
        # The right to write depends on the space and the agent only: ask once for each such pair.
        places = {_space_and_agent(row): row for row in rows}
        rights = {
            place: self._views.may_change(tx, requester, row) for place, row in places.items()
        }
        open_ = [row for row in rows if rights[_space_and_agent(row)].allowed]
        if not open_:
            return frozenset()
        # For writers neither status nor expiry hides a row.
        viewer = self._viewers.viewer_for(tx, requester)
        return frozenset(
            row.memory.id
            for row in open_
            if (requester.is_admin and row.memory.space.kind is SpaceKind.ORG)
            or self._views.can_view_if_active(tx, viewer, row).allowed
        )


def _space_and_agent(row: StoredMemory) -> object:
    return row.memory.space, row.memory.agent_id


def not_owner_error() -> Forbidden:
    """The error for a space or memory that the caller may read and not write."""
    return Forbidden("only those who may write this space may do this", code="not_owner")
