"""Hands out to walks the edges that a caller may see."""

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
    """An edge is seen by whoever sees its memory: of a past, as the memory was then."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self._lists = MemoryLists(stores, Past(stores, Views(stores)))

    def of(self, tx: Tx, look: Look) -> Neighbours:
        """What a look sees, at the instants of its filter."""
        graph = self._stores.graph
        if look.chosen.as_of is None:
            return lambda ids, limit: graph.neighbours(tx, look, ids, limit=limit)
        return lambda ids, limit: self._earlier(tx, look, ids)[:limit]

    def _earlier(self, tx: Tx, look: Look, ids: Collection[EntityId]) -> list[Relation]:
        """What a memory said when it was more private stays so, whatever became of it."""
        found = self._stores.graph.neighbours(tx, look, ids, limit=PATH_EDGES_MAX)
        shown = self._shown(tx, look, sorted({edge.memory_id for edge in found}))
        return [edge for edge in found if edge.memory_id in shown]

    def _shown(self, tx: Tx, look: Look, memory_ids: list[MemoryId]) -> frozenset[MemoryId]:
        rows = self._stores.memories.see_many(tx, look.sight, memory_ids, look.chosen)
        shown = self._lists.shown(tx, look.sight, list(rows.values()), look.chosen)
        return frozenset(stored.memory.id for stored in shown)
