"""Graph search: breadth-first neighbourhoods and shortest paths. The edges come from a function
that returns only visible ones, so hidden edges have no influence on any result."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

from recollect.domain.graph import EntityId, Relation, RelationId

# Edges read in one step of a path search. With more, a path may be missed, never made up.
PATH_EDGES_MAX = 10_000

Neighbours = Callable[[Collection[EntityId], int], list[Relation]]


@dataclass(slots=True)
class Walk:
    """The neighbourhood of some entities, nearest first. `depths` is the distance of each entity, 0
    for the start; `truncated` says that there are more edges within the hops."""

    depths: dict[EntityId, int]
    truncated: bool = False
    _hops: dict[RelationId, int] = field(default_factory=dict)
    _seen: dict[RelationId, Relation] = field(default_factory=dict)

    @property
    def relations(self) -> list[Relation]:
        return list(self._seen.values())

    def hop_of(self, relation: Relation) -> int:
        """The step in which the edge was found, from 1."""
        return self._hops[relation.id]

    def fresh(self, found: Iterable[Relation]) -> list[Relation]:
        """Those edges that are not in the walk yet."""
        return [relation for relation in found if relation.id not in self._seen]

    def take(self, relations: Iterable[Relation], *, hop: int) -> list[EntityId]:
        """Add these edges; returns the entities that are new."""
        reached: dict[EntityId, None] = {}
        for relation in relations:
            self._seen[relation.id], self._hops[relation.id] = relation, hop
            ends = (relation.from_id, relation.to_id)
            reached |= dict.fromkeys(end for end in ends if end not in self.depths)
        self.depths |= dict.fromkeys(reached, hop)
        return list(reached)


def walk(seeds: Collection[EntityId], *, hops: int, limit: int, neighbours: Neighbours) -> Walk:
    """Breadth-first search from the seeds, with at most `limit` edges."""
    around = Walk(dict.fromkeys(seeds, 0))
    frontier = list(seeds)
    room = limit
    for hop in range(1, hops + 1):
        if not frontier or around.truncated:
            break
        # `limit + 1` edges, not `room + 1`: edges of earlier steps come again, at most `limit -
        # room` of them, so that `room + 1` new ones are found if there are so many.
        found = around.fresh(neighbours(frontier, limit + 1))
        around.truncated = len(found) > room
        frontier = around.take(found[:room], hop=hop)
        room -= len(found[:room])
    return around


def shortest_path(
    start: EntityId, goal: EntityId, *, hops_max: int, neighbours: Neighbours
) -> list[Relation]:
    """The edges of a shortest path, in its order; empty if there is none within the hops."""
    # Bidirectional: each step expands the side with the smaller frontier, so the work is about
    # twice that of half the distance, instead of growing with the full one.
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
    """The entities reached from one end; `ways` holds for each the edge it was reached over and the
    entity before it."""

    def __init__(self, end: EntityId) -> None:
        self.ways: dict[EntityId, tuple[Relation, EntityId] | None] = {end: None}
        self.frontier = {end}

    def grow(self, neighbours: Neighbours) -> None:
        reached: set[EntityId] = set()
        for relation in neighbours(self.frontier, PATH_EDGES_MAX):
            for end in self.frontier & {relation.from_id, relation.to_id}:
                other = relation.other(end)
                if other not in self.ways:
                    self.ways[other] = (relation, end)
                    reached.add(other)
        self.frontier = reached

    def back_from(self, place: EntityId) -> list[Relation]:
        """The edges from an entity back to this end."""
        edges: list[Relation] = []
        way = self.ways[place]
        while way is not None:
            edges.append(way[0])
            way = self.ways[way[1]]
        return edges
