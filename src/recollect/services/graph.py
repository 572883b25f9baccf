"""Writes the edges that memories state, and measures how close memories are to people."""

from collections.abc import Collection, Iterator, Sequence
from itertools import chain

from recollect.domain.disclosure import PersonId
from recollect.domain.graph import (
    Edge,
    EntityId,
    Named,
    RelationId,
    Thing,
    could_be_meant,
    draw,
    stated,
)
from recollect.domain.memories import Memory, MemoryId, Status
from recollect.domain.people import normal_form
from recollect.domain.sayings import Saying
from recollect.policy.sight import Sight
from recollect.ports.database import Tx
from recollect.ports.graph import Look, StoredEdge
from recollect.ports.memories import MemoryFilter, Stored
from recollect.ports.runtime import Runtime
from recollect.ports.stores import Stores
from recollect.services.graph_edges import Edges
from recollect.services.graph_walks import walk

# Bounds for one search: edges and memories that it reads around the people it mentions.
CLOSE_EDGES_MAX = 500
CLOSE_MEMORIES_MAX = 1_000
_ANY = MemoryFilter()


class Graph:
    """Updates the graph in the transaction that writes a memory."""

    def __init__(self, stores: Stores, runtime: Runtime) -> None:
        self._stores = stores
        self._runtime = runtime
        self._edges = Edges(stores)

    def draw(self, tx: Tx, stored: Stored, told: Sequence[Saying] = ()) -> None:
        """Write the edges of a new or changed memory. Edges that it no longer states end now and
        stay readable `as_of` an earlier instant. `told` are further facts that are known to be in
        it."""
        memory = stored.memory
        said = stated(memory)
        sayings = (*told, said) if said else tuple(told)
        drawn = self._drawn(tx, stored, sayings) if sayings else ()
        # A first version without edges has nothing to replace: most writes end here.
        if drawn or memory.version > 1:
            self._replace(tx, memory, drawn)

    def redraw(self, tx: Tx, before: Stored, stored: Stored) -> None:
        """Update the edges of a changed memory. If text, subjects and stater are the same, all
        edges stay, also those that came from `told`: they can't be extracted from the memory again.

        A memory that leaves quarantine gets its edges now: it had none while it was hidden.
        """
        hidden = before.memory.status is Status.QUARANTINED
        if hidden or _drawn_from(before) != _drawn_from(stored):
            self.draw(tx, stored)

    def erase(self, tx: Tx, memory_id: MemoryId) -> None:
        """Delete all edges of a memory, past ones too, and entities that have no other edge."""
        self._stores.graph.delete(tx, memory_id)

    def closeness(
        self,
        tx: Tx,
        sight: Sight,
        person_ids: Collection[PersonId],
        *,
        hops: int = 2,
        chosen: MemoryFilter = _ANY,
        earlier: Sequence[Memory] = (),
    ) -> dict[str, float]:
        """The closeness of memories to these people, at most 1, by memory id.

        A memory that states an edge at hop n has 1/n; a memory about a person who is reached at
        hop n has 1/(n + 1); the larger value counts. Only visible edges and memories are read. Of
        `chosen` only the instants are used; the caller applies the rest of the filter. `earlier`
        are memories as they were at `as_of` and that changed since; their subjects of then count.
        """
        look = Look(sight, MemoryFilter(valid_at=chosen.valid_at, as_of=chosen.as_of))
        around = walk(
            [EntityId(one) for one in person_ids],
            hops=hops,
            limit=CLOSE_EDGES_MAX,
            neighbours=self._edges.of(tx, look),
        )
        reached = {PersonId(one): hop for one, hop in around.depths.items() if hop}
        about = self._about(tx, look, reached, earlier) if reached else ()
        stating = ((edge.memory_id, 1 / around.hop_of(edge)) for edge in around.relations)
        telling = ((memory_id, 1 / (reached[one] + 1)) for memory_id, one in about)
        near: dict[str, float] = {}
        for memory_id, closeness in chain(stating, telling):
            near[memory_id] = max(closeness, near.get(memory_id, 0.0))
        return near

    def _about(
        self, tx: Tx, look: Look, people: Collection[PersonId], earlier: Sequence[Memory]
    ) -> Iterator[tuple[MemoryId, PersonId]]:
        yield from self._stores.graph.about(tx, look, people, limit=CLOSE_MEMORIES_MAX)
        for memory in earlier:
            about = (PersonId(one) for one in memory.subjects)
            yield from ((memory.id, one) for one in about if one in people)

    def _drawn(self, tx: Tx, stored: Stored, sayings: Sequence[Saying]) -> tuple[Edge, ...]:
        people = self._named(tx, could_be_meant(stored.memory))
        return draw(stored.memory, sayings, people, doubt=bool(stored.bare_names))

    def _named(self, tx: Tx, person_ids: Collection[PersonId]) -> list[Named]:
        if not person_ids:
            return []
        people = self._stores.people.fetch_many(tx, person_ids)
        names = {id_: {normal_form(person.name)} for id_, person in people.items()}
        for alias in self._stores.claims.aliases(tx, list(people)):
            names[alias.person_id].add(normal_form(alias.value))
        return [Named(id_, frozenset(of)) for id_, of in names.items()]

    def _replace(self, tx: Tx, memory: Memory, drawn: Sequence[Edge]) -> None:
        graph, at = self._stores.graph, memory.updated_at
        before = graph.edges_of(tx, memory.id) if memory.version > 1 else []
        wanted = [self._edge(tx, memory, edge) for edge in drawn]
        # An edge that is still stated keeps its row, and with it `recorded_at`: only differences
        # are written.
        said = {edge.said for edge in wanted}
        for edge in before:
            if edge.said not in said:
                graph.retract(tx, edge.id, at=at)
        known = {edge.said for edge in before}
        for edge in wanted:
            if edge.said not in known:
                graph.insert(tx, edge, memory.id, at=at)

    def _edge(self, tx: Tx, memory: Memory, edge: Edge) -> StoredEdge:
        return StoredEdge(
            RelationId(self._runtime.ids.new()),
            EntityId(edge.from_id),
            edge.relation,
            self._far_end(tx, memory, edge),
        )

    def _far_end(self, tx: Tx, memory: Memory, edge: Edge) -> EntityId:
        if not isinstance(edge.to, Thing):
            return EntityId(edge.to)
        new_id = EntityId(self._runtime.ids.new())
        return self._stores.graph.put_thing(tx, memory.space, edge.to, new_id=new_id)


def _drawn_from(stored: Stored) -> tuple[object, ...]:
    """Everything on which the edges of a memory depend."""
    memory = stored.memory
    people = memory.subjects, memory.stated_by, stored.bare_names
    return memory.content, bool(memory.messages), *people
