"""Graph search: breadth-first neighbourhoods and shortest paths. The edges come from a function
that returns only visible ones, so hidden edges have no influence on any result."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

from recollect.graph.model import EntityId, GraphRelation, RelationId

# Edges read in one step of a path search. With more, a path may be missed, never made up.
PATH_EDGES_MAX = 10_000

NeighbourFetcher = Callable[[Collection[EntityId], int], list[GraphRelation]]


@dataclass(slots=True)
class GraphWalk:
    """The neighbourhood of some entities, nearest first. `depths` is the distance of each entity, 0
    for the start; `truncated` says that there are more edges within the hops."""

    depths: dict[EntityId, int]
    truncated: bool = False
    _hops: dict[RelationId, int] = field(default_factory=dict)
    _seen: dict[RelationId, GraphRelation] = field(default_factory=dict)

    @property
    def relations(self) -> list[GraphRelation]:
        return list(self._seen.values())

    def hop_of(self, relation: GraphRelation) -> int:
        """The step in which the edge was found, from 1."""
        return self._hops[relation.id]

    def filter_new(self, found: Iterable[GraphRelation]) -> list[GraphRelation]:
        """Those edges that are not in the walk yet."""
        return [relation for relation in found if relation.id not in self._seen]

    def add_edges(self, relations: Iterable[GraphRelation], *, hop: int) -> list[EntityId]:
        """Add these edges; returns the entities that are new."""
        reached: dict[EntityId, None] = {}
        for relation in relations:
            self._seen[relation.id], self._hops[relation.id] = relation, hop
            ends = (relation.from_id, relation.to_id)
            reached |= dict.fromkeys(end for end in ends if end not in self.depths)
        self.depths |= dict.fromkeys(reached, hop)
        return list(reached)


def walk_graph(
    seeds: Collection[EntityId], *, hops: int, limit: int, neighbours: NeighbourFetcher
) -> GraphWalk:
    """Breadth-first search from the seeds, with at most `limit` edges."""
    walk = GraphWalk(dict.fromkeys(seeds, 0))
    frontier = list(seeds)
    room = limit
    for hop in range(1, hops + 1):
        if not frontier or walk.truncated:
            break
        # `limit + 1` edges, not `room + 1`: edges of earlier steps come again, at most `limit -
        # room` of them, so that `room + 1` new ones are found if there are so many.
        found = walk.filter_new(neighbours(frontier, limit + 1))
        walk.truncated = len(found) > room
        frontier = walk.add_edges(found[:room], hop=hop)
        room -= len(found[:room])
    return walk


def shortest_path(
    start: EntityId, goal: EntityId, *, hops_max: int, neighbours: NeighbourFetcher
) -> list[GraphRelation]:
    """The edges of a shortest path, in its order; empty if there is none within the hops."""
    # Bidirectional: each step expands the side with the smaller frontier, so the work is about
    # twice that of half the distance, instead of growing with the full one.
    if start == goal:
        return []
    near, far = _SearchSide(start), _SearchSide(goal)
    for _ in range(hops_max):
        side = min(near, far, key=lambda one: len(one.frontier))
        if not side.frontier:
            return []
        side.expand(neighbours)
        meeting = near.ways.keys() & far.ways.keys()
        if meeting:
            middle = min(meeting)
            return [*reversed(near.path_from(middle)), *far.path_from(middle)]
    return []


class _SearchSide:
    """The entities reached from one end; `ways` holds for each the edge it was reached over and the
    entity before it."""

    def __init__(self, end: EntityId) -> None:
        self.ways: dict[EntityId, tuple[GraphRelation, EntityId] | None] = {end: None}
        self.frontier = {end}

    def expand(self, neighbours: NeighbourFetcher) -> None:
        reached: set[EntityId] = set()
        for relation in neighbours(self.frontier, PATH_EDGES_MAX):
            for end in self.frontier & {relation.from_id, relation.to_id}:
                other = relation.other_end(end)
                if other not in self.ways:
                    self.ways[other] = (relation, end)
                    reached.add(other)
        self.frontier = reached

    def path_from(self, place: EntityId) -> list[GraphRelation]:
        """The edges from an entity back to this end."""
        edges: list[GraphRelation] = []
        way = self.ways[place]
        while way is not None:
            edges.append(way[0])
            way = self.ways[way[1]]
        return edges
