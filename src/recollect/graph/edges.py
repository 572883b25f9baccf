"""Gives graph searches the edges that a caller may see."""

from collections.abc import Collection

from recollect.db.transaction import Tx
from recollect.graph.model import EntityId, GraphContext, GraphRelation
from recollect.graph.store import GraphStores
from recollect.graph.walk import PATH_EDGES_MAX, NeighbourFetcher
from recollect.kernel.ids import MemoryId
from recollect.memories.read.history import VersionHistory
from recollect.memories.read.listing import MemoryLister
from recollect.visibility.facts import VisibilityFacts


class VisibleEdges:
    """An edge is visible if its memory is; with `as_of`, if the memory's version of then is."""

    def __init__(self, stores: GraphStores) -> None:
        self._stores = stores
        self._lists = MemoryLister(stores, VersionHistory(stores, VisibilityFacts(stores)))

    def neighbour_fetcher(self, tx: Tx, context: GraphContext) -> NeighbourFetcher:
        """A function that reads the visible edges at given entities, at the instants of the
        filter."""
        graph = self._stores.graph
        if context.filters.as_of is None:
            return lambda ids, limit: graph.neighbours(tx, context, ids, limit=limit)
        return lambda ids, limit: self._past_neighbours(tx, context, ids)[:limit]

    def _past_neighbours(
        self, tx: Tx, context: GraphContext, ids: Collection[EntityId]
    ) -> list[GraphRelation]:
        """Visible edges of the past. SQL checks the memory as it is now; here the version of then
        is checked too, since a memory may have been more private."""
        found = self._stores.graph.neighbours(tx, context, ids, limit=PATH_EDGES_MAX)
        visible = self._visible_memory_ids(tx, context, sorted({edge.memory_id for edge in found}))
        return [edge for edge in found if edge.memory_id in visible]

    def _visible_memory_ids(
        self, tx: Tx, context: GraphContext, memory_ids: list[MemoryId]
    ) -> frozenset[MemoryId]:
        rows = self._stores.memories.fetch_many_visible(
            tx, context.viewer, memory_ids, context.filters
        )
        visible = self._lists.visible_as_of(
            tx, context.viewer, list(rows.values()), context.filters
        )
        return frozenset(stored.memory.id for stored in visible)
