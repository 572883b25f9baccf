"""Walks over edges, a step at a time. What a step may pass is the business of who hands it out:
an edge that is not handed out neither lengthens a walk nor counts in it."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

from recollect.domain.graph import EntityId, Relation, RelationId

# A step of a path looks at so many edges; beyond that a path may be missed, never invented.
PATH_EDGES_MAX = 10_000

Neighbours = Callable[[Collection[EntityId], int], list[Relation]]


@dataclass(slots=True)
class Walk:
    """What lies around some entities, nearest first. `depths` is how many steps an entity is away,
    the start included; `truncated` says that there is more within the hops."""

    depths: dict[EntityId, int]
    truncated: bool = False
    _hops: dict[RelationId, int] = field(default_factory=dict)
    _seen: dict[RelationId, Relation] = field(default_factory=dict)

    @property
    def relations(self) -> list[Relation]:
        """All edges passed."""
        return list(self._seen.values())

    def hop_of(self, relation: Relation) -> int:
        """In which step an edge was passed, from 1."""
        return self._hops[relation.id]

    def fresh(self, found: Iterable[Relation]) -> list[Relation]:
        """Edges that were not passed before."""
        return [relation for relation in found if relation.id not in self._seen]

    def take(self, relations: Iterable[Relation], *, hop: int) -> list[EntityId]:
        """Pass these edges; the entities that are new."""
        reached: dict[EntityId, None] = {}
        for relation in relations:
            self._seen[relation.id], self._hops[relation.id] = relation, hop
            ends = (relation.from_id, relation.to_id)
            reached |= dict.fromkeys(end for end in ends if end not in self.depths)
        self.depths |= dict.fromkeys(reached, hop)
        return list(reached)


def walk(seeds: Collection[EntityId], *, hops: int, limit: int, neighbours: Neighbours) -> Walk:
    """Breadth first, at most `limit` edges."""
    around = Walk(dict.fromkeys(seeds, 0))
    frontier = list(seeds)
    room = limit
    for hop in range(1, hops + 1):
        if not frontier or around.truncated:
            break
        # Of what comes, as many as were passed already may be old.
        found = around.fresh(neighbours(frontier, limit + 1))
        around.truncated = len(found) > room
        frontier = around.take(found[:room], hop=hop)
        room -= len(found[:room])
    return around


def shortest_path(
    start: EntityId, goal: EntityId, *, hops_max: int, neighbours: Neighbours
) -> list[Relation]:
    """The edges of a shortest way, in its order; empty if there is none within the hops."""
    if start == goal:
        return []
    near, far = _Side(start), _Side(goal)
    for _ in range(hops_max):
        side = min(near, far, key=lambda one: len(one.frontier))
        if not side.frontier:
            return []
        side.grow(neighbours)
        meeting = near.ways.keys() & far.ways.keys()
        if meeting:
            middle = min(meeting)
            return [*reversed(near.back_from(middle)), *far.back_from(middle)]
    return []


class _Side:
    """All that is reached from one end, and over which edge from where."""

    def __init__(self, end: EntityId) -> None:
        self.ways: dict[EntityId, tuple[Relation, EntityId] | None] = {end: None}
        self.frontier = {end}

    def grow(self, neighbours: Neighbours) -> None:
        """One step further in all directions."""
        reached: set[EntityId] = set()
        for relation in neighbours(self.frontier, PATH_EDGES_MAX):
            for end in self.frontier & {relation.from_id, relation.to_id}:
                other = relation.other(end)
                if other not in self.ways:
                    self.ways[other] = (relation, end)
                    reached.add(other)
        self.frontier = reached

    def back_from(self, place: EntityId) -> list[Relation]:
        """The edges from a place to this end."""
        edges: list[Relation] = []
        way = self.ways[place]
        while way is not None:
            edges.append(way[0])
            way = self.ways[way[1]]
        return edges
