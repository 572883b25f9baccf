"""Gives graph searches the edges that a caller may see."""

from collections.abc import Collection

from recollect.domain.graph import EntityId, Relation
from recollect.domain.memories import MemoryId
from recollect.ports.database import Tx
from recollect.ports.graph import Look
from recollect.ports.stores import Stores
from recollect.services.graph_walks import PATH_EDGES_MAX, Neighbours
from recollect.services.memory_lists import MemoryLists
from recollect.services.past import Past
from recollect.services.views import Views


class Edges:
    """An edge is visible if its memory is; with `as_of`, if the memory's version of then is."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self._lists = MemoryLists(stores, Past(stores, Views(stores)))

    def of(self, tx: Tx, look: Look) -> Neighbours:
        """A function that reads the visible edges at given entities, at the instants of the
        filter."""
        graph = self._stores.graph
        if look.chosen.as_of is None:
            return lambda ids, limit: graph.neighbours(tx, look, ids, limit=limit)
        return lambda ids, limit: self._earlier(tx, look, ids)[:limit]

    def _earlier(self, tx: Tx, look: Look, ids: Collection[EntityId]) -> list[Relation]:
        """Visible edges of the past. SQL checks the memory as it is now; here the version of then
        is checked too, since a memory may have been more private."""
        found = self._stores.graph.neighbours(tx, look, ids, limit=PATH_EDGES_MAX)
        shown = self._shown(tx, look, sorted({edge.memory_id for edge in found}))
        return [edge for edge in found if edge.memory_id in shown]

    def _shown(self, tx: Tx, look: Look, memory_ids: list[MemoryId]) -> frozenset[MemoryId]:
        rows = self._stores.memories.see_many(tx, look.sight, memory_ids, look.chosen)
        shown = self._lists.shown(tx, look.sight, list(rows.values()), look.chosen)
        return frozenset(stored.memory.id for stored in shown)
