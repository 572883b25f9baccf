"""Writes the edges that memories state, and measures how close memories are to people."""

from collections.abc import Collection, Iterator, Sequence
from itertools import chain

from recollect.db.transaction import Tx
from recollect.graph.edges import VisibleEdges
from recollect.graph.fact_patterns import ExtractedFact
from recollect.graph.model import (
    EdgeDraft,
    EntityId,
    EntityRef,
    GraphContext,
    NamedCandidate,
    RelationId,
    StoredEdge,
    build_edges,
    candidate_people,
    extract_memory_fact,
)
from recollect.graph.store import GraphStores
from recollect.graph.walk import walk_graph
from recollect.kernel.ids import MemoryId, PersonId
from recollect.kernel.runtime import Runtime
from recollect.memories.model import (
    Memory,
    MemoryFilter,
    MemoryStatus,
    StoredMemory,
)
from recollect.people.model import normal_form
from recollect.visibility.viewer import Viewer

# Bounds for one search: edges and memories that it reads around the people it mentions.
CLOSE_EDGES_MAX = 500
CLOSE_MEMORIES_MAX = 1_000
_ANY = MemoryFilter()


class GraphWriter:
    """Updates the graph in the transaction that writes a memory."""

    def __init__(self, stores: GraphStores, runtime: Runtime) -> None:
        self._stores = stores
        self._runtime = runtime
        self._edges = VisibleEdges(stores)

    def write_edges(
        self, tx: Tx, stored: StoredMemory, facts: Sequence[ExtractedFact] = ()
    ) -> None:
        """Write the edges of a new or changed memory. Edges that it no longer states end now and
        stay readable `as_of` an earlier instant. `facts` are further facts that are known to be in
        it."""
        memory = stored.memory
        own_fact = extract_memory_fact(memory)
        all_facts = (*facts, own_fact) if own_fact else tuple(facts)
        drawn: tuple[EdgeDraft, ...] = ()
        if all_facts:
            people = self._named_people(tx, candidate_people(memory))
            drawn = build_edges(memory, all_facts, people, doubt=bool(stored.bare_names))
        # A first version without edges has nothing to replace: most writes end here.
        if drawn or memory.version > 1:
            self._replace_edges(tx, memory, drawn)

    def update_edges(self, tx: Tx, before: StoredMemory, stored: StoredMemory) -> None:
        """Update the edges of a changed memory. If text, subjects and stater are the same, all
        edges stay, also those that came from `facts`: these can't be extracted from the memory.

        A memory that leaves quarantine gets its edges now: it had none while it was hidden.
        """
        hidden = before.memory.status is MemoryStatus.QUARANTINED
        if hidden or _edge_inputs(before) != _edge_inputs(stored):
            self.write_edges(tx, stored)

    def delete_edges(self, tx: Tx, memory_id: MemoryId) -> None:
        """Delete all edges of a memory, past ones too, and entities that have no other edge."""
        self._stores.graph.delete(tx, memory_id)

    def closeness(
        self,
        tx: Tx,
        viewer: Viewer,
        person_ids: Collection[PersonId],
        *,
        hops: int = 2,
        filters: MemoryFilter = _ANY,
        earlier: Sequence[Memory] = (),
    ) -> dict[str, float]:
        """The closeness of memories to these people, at most 1, by memory id.

        A memory that states an edge at hop n has 1/n; a memory about a person who is reached at
        hop n has 1/(n + 1); the larger value counts. Only visible edges and memories are read. Of
        `filters` only the instants are used; the caller applies the rest of the filter. `earlier`
        are memories as they were at `as_of` and that changed since; their subjects of then count.
        """
        context = GraphContext(viewer, MemoryFilter(valid_at=filters.valid_at, as_of=filters.as_of))
        nearby = walk_graph(
            [EntityId(one) for one in person_ids],
            hops=hops,
            limit=CLOSE_EDGES_MAX,
            neighbours=self._edges.neighbour_fetcher(tx, context),
        )
        reached = {PersonId(one): hop for one, hop in nearby.depths.items() if hop}
        about = self._memories_about(tx, context, reached, earlier) if reached else ()
        stating = ((edge.memory_id, 1 / nearby.hop_of(edge)) for edge in nearby.relations)
        scored = ((memory_id, 1 / (reached[one] + 1)) for memory_id, one in about)
        near: dict[str, float] = {}
        for memory_id, closeness in chain(stating, scored):
            near[memory_id] = max(closeness, near.get(memory_id, 0.0))
        return near

    def _memories_about(
        self, tx: Tx, context: GraphContext, people: Collection[PersonId], earlier: Sequence[Memory]
    ) -> Iterator[tuple[MemoryId, PersonId]]:
        yield from self._stores.graph.memories_about(tx, context, people, limit=CLOSE_MEMORIES_MAX)
        for memory in earlier:
            about = (PersonId(one) for one in memory.subjects)
            yield from ((memory.id, one) for one in about if one in people)

    def _named_people(self, tx: Tx, person_ids: Collection[PersonId]) -> list[NamedCandidate]:
        if not person_ids:
            return []
        people = self._stores.people.fetch_many(tx, person_ids)
        names = {id_: {normal_form(person.name)} for id_, person in people.items()}
        for alias in self._stores.claims.aliases(tx, list(people)):
            names[alias.person_id].add(normal_form(alias.value))
        return [NamedCandidate(id_, frozenset(of)) for id_, of in names.items()]

    def _replace_edges(self, tx: Tx, memory: Memory, drawn: Sequence[EdgeDraft]) -> None:
        graph, at = self._stores.graph, memory.updated_at
        before = graph.current_edges(tx, memory.id) if memory.version > 1 else []
        wanted = [self._to_stored_edge(tx, memory, edge) for edge in drawn]
        # An edge that is still stated keeps its row, and with it `recorded_at`: only differences
        # are written.
        triples = {edge.triple for edge in wanted}
        for edge in before:
            if edge.triple not in triples:
                graph.retract(tx, edge.id, at=at)
        known = {edge.triple for edge in before}
        for edge in wanted:
            if edge.triple not in known:
                graph.insert(tx, edge, memory.id, at=at)

    def _to_stored_edge(self, tx: Tx, memory: Memory, edge: EdgeDraft) -> StoredEdge:
        return StoredEdge(
            RelationId(self._runtime.ids.new()),
            EntityId(edge.from_id),
            edge.relation,
            self._far_end(tx, memory, edge),
        )

    def _far_end(self, tx: Tx, memory: Memory, edge: EdgeDraft) -> EntityId:
        if not isinstance(edge.to, EntityRef):
            return EntityId(edge.to)
        new_id = EntityId(self._runtime.ids.new())
        return self._stores.graph.put_entity(tx, memory.space, edge.to, new_id=new_id)


def _edge_inputs(stored: StoredMemory) -> tuple[object, ...]:
    """Everything on which the edges of a memory depend."""
    memory = stored.memory
    people = memory.subjects, memory.stated_by, stored.bare_names
    return memory.content, bool(memory.messages), *people
