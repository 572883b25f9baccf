"""Walks over edges against a plain breadth-first search."""

from collections.abc import Collection
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from recollect.graph.model import EntityId, GraphRelation, RelationId
from recollect.graph.walk import shortest_path, walk_graph
from recollect.kernel.ids import MemoryId
from recollect.kernel.space import Space, SpaceKind

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
NODES = "abcdefg"
A, G = EntityId("a"), EntityId("g")

_ends = st.tuples(st.sampled_from(NODES), st.sampled_from(NODES)).filter(lambda e: e[0] != e[1])
graphs = st.lists(_ends, max_size=12).map(
    lambda pairs: [an_edge(place, *pair) for place, pair in enumerate(pairs)]
)


def an_edge(place: int, from_id: str, to_id: str) -> GraphRelation:
    return GraphRelation(
        id=RelationId(f"r{place:02}"),
        from_id=EntityId(from_id),
        to_id=EntityId(to_id),
        relation="knows",
        memory_id=MemoryId(f"m{place}"),
        space=Space(SpaceKind.USER, "ann"),
        recorded_at=NOON,
    )


def touching(edges: list[GraphRelation], ids: Collection[EntityId]) -> list[GraphRelation]:
    return [one for one in edges if one.from_id in ids or one.to_id in ids]


def distances(edges: list[GraphRelation], start: EntityId) -> dict[EntityId, int]:
    found = {start: 0}
    queue = [start]
    for node in queue:
        for edge in touching(edges, [node]):
            if edge.other_end(node) not in found:
                found[edge.other_end(node)] = found[node] + 1
                queue.append(edge.other_end(node))
    return found


@given(graphs, st.integers(1, 3))
def test_a_walk_goes_just_as_far_as_it_may(edges: list[GraphRelation], hops: int) -> None:
    around = walk_graph(
        [A], hops=hops, limit=100, neighbours=lambda ids, n: touching(edges, ids)[:n]
    )
    far = distances(edges, A)
    assert around.depths == {node: steps for node, steps in far.items() if steps <= hops}
    passed = {one.id: around.hop_of(one) for one in around.relations}
    nearer = {one.id: min(far.get(one.from_id, 99), far.get(one.to_id, 99)) + 1 for one in edges}
    assert passed == {id_: step for id_, step in nearer.items() if step <= hops}
    assert not around.truncated


@given(graphs, st.integers(1, 3), st.integers(1, 6))
def test_a_walk_says_when_there_is_more(edges: list[GraphRelation], hops: int, limit: int) -> None:
    def neighbours(ids: Collection[EntityId], most: int) -> list[GraphRelation]:
        return touching(edges, ids)[:most]

    whole = walk_graph([A], hops=hops, limit=100, neighbours=neighbours)
    cut = walk_graph([A], hops=hops, limit=limit, neighbours=neighbours)
    assert cut.truncated == (len(whole.relations) > limit)
    assert len(cut.relations) == min(limit, len(whole.relations))
    ends = {end for one in cut.relations for end in (one.from_id, one.to_id)}
    assert ends | {A} == cut.depths.keys()


@given(graphs, st.integers(1, 4))
def test_a_path_is_a_shortest_one_or_none(edges: list[GraphRelation], hops_max: int) -> None:
    path = shortest_path(
        A, G, hops_max=hops_max, neighbours=lambda ids, n: touching(edges, ids)[:n]
    )
    steps = distances(edges, A).get(G, 99)
    assert len(path) == (steps if steps <= hops_max else 0)
    here = A
    for edge in path:
        assert here in (edge.from_id, edge.to_id)
        here = edge.other_end(here)
    assert here == (G if path else A)


def test_the_way_to_oneself_is_empty() -> None:
    assert shortest_path(A, A, hops_max=4, neighbours=lambda _ids, _n: []) == []
