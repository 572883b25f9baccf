"""Vectors in Qdrant: in the client's local mode, and what goes over the wire."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar
from uuid import uuid4

import numpy as np
import pytest
from qdrant_client import AsyncQdrantClient

from recollect.embedding.port import Vector
from recollect.kernel.errors import Unavailable
from recollect.kernel.ids import ConversationId, EntryId, TreeId
from recollect.search import qdrant
from recollect.search.ports import NewVectors
from recollect.search.qdrant import QdrantIndex, collection_name
from tests.support.servers.qdrant import QdrantServer

# The local mode scans, and says that it has no index.
pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect")

T = TypeVar("T")
KEY = "a-key-that-nobody-may-read"
NOWHERE = "http://127.0.0.1:9"
WANTED = np.array([1, 0, 0, 0], np.float32)


def in_memory(test: Callable[[QdrantIndex], Awaitable[T]], *, model: str = "model") -> T:
    async def run() -> T:
        client = AsyncQdrantClient(":memory:")
        index = an_index(NOWHERE, model=model, client=client)
        try:
            return await test(index)
        finally:
            await index.close()

    return asyncio.run(run())


def at(url: str, test: Callable[[QdrantIndex], Awaitable[T]]) -> T:
    async def run() -> T:
        index = an_index(url)
        try:
            return await test(index)
        finally:
            await index.close()

    return asyncio.run(run())


def an_index(
    url: str, *, model: str = "model", client: AsyncQdrantClient | None = None
) -> QdrantIndex:
    server = qdrant.QdrantServer(url=url, collection="test", api_key=KEY)
    return QdrantIndex(server, model=model, dimensions=4, client=client)


def a_tree() -> TreeId:
    return TreeId(str(uuid4()))


def entries(*nearness: float) -> list[NewVectors]:
    """An entry for each cosine with WANTED."""
    return [
        an_entry(np.array([cosine, np.sqrt(1 - cosine**2), 0, 0], np.float32))
        for cosine in nearness
    ]


def an_entry(own: Vector | None) -> NewVectors:
    return NewVectors(EntryId(str(uuid4())), ConversationId(str(uuid4())), own, window=WANTED)


def ids(made: Sequence[NewVectors]) -> list[EntryId]:
    return [one.entry_id for one in made]


async def forest(index: QdrantIndex) -> tuple[list[TreeId], list[EntryId]]:
    """Five trees with two entries each; the ids by nearness."""
    trees = [a_tree() for _ in range(5)]
    made = entries(0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1)
    for number, tree in enumerate(trees):
        await index.put(tree, [made[number], made[number + 5]])
    return trees, ids(made)


def test_the_nearest_come_first() -> None:
    async def test(index: QdrantIndex) -> None:
        _, by_nearness = await forest(index)
        assert await index.nearest_entries(None, WANTED, limit=100) == by_nearness
        assert await index.nearest_entries(None, WANTED, limit=3) == by_nearness[:3]

    in_memory(test)


@pytest.mark.parametrize("at_once", [1, 2, 3, 1_000])
def test_only_the_named_trees_are_looked_at(monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    monkeypatch.setattr(qdrant, "TREES_PER_REQUEST", at_once)

    async def test(index: QdrantIndex) -> None:
        trees, by_nearness = await forest(index)
        chosen = [trees[1], trees[3], trees[4], a_tree()]
        wanted = [by_nearness[place] for place in (1, 3, 4, 6, 8, 9)]
        assert await index.nearest_entries(chosen, WANTED, limit=100) == wanted
        assert await index.nearest_entries(chosen, WANTED, limit=2) == wanted[:2]
        assert await index.nearest_entries([], WANTED, limit=2) == []

    in_memory(test)


def test_an_entry_is_there_once_with_its_last_vector() -> None:
    async def test(index: QdrantIndex) -> None:
        tree = a_tree()
        near, far = entries(0.9, 0.5)
        await index.put(tree, [near, far])
        await index.put(tree, [near, far])
        assert await index.nearest_entries([tree], WANTED, limit=9) == ids([near, far])
        moved = NewVectors(far.entry_id, far.conversation_id, WANTED, window=WANTED)
        await index.put(tree, [moved])
        assert await index.nearest_entries([tree], WANTED, limit=9) == ids([far, near])

    in_memory(test)


def test_what_got_a_window_alone_keeps_its_vector() -> None:
    async def test(index: QdrantIndex) -> None:
        tree = a_tree()
        [far] = entries(0.1)
        await index.put(tree, [far])
        await index.put(tree, [NewVectors(far.entry_id, far.conversation_id, None, window=WANTED)])
        await index.put(tree, [an_entry(None)])
        assert await index.nearest_entries([tree], WANTED, limit=9) == ids([far])

    in_memory(test)


def test_a_tree_is_forgotten_and_no_other() -> None:
    async def test(index: QdrantIndex) -> None:
        trees, by_nearness = await forest(index)
        await index.delete_tree(trees[0])
        await index.delete_tree(trees[1], keep=[by_nearness[6]])
        await index.delete_tree(a_tree())
        gone = {by_nearness[place] for place in (0, 5, 1)}
        left = [entry_id for entry_id in by_nearness if entry_id not in gone]
        assert await index.nearest_entries(None, WANTED, limit=100) == left

    in_memory(test)


def test_a_collection_that_was_removed_is_made_again() -> None:
    async def test(index: QdrantIndex) -> None:
        tree = a_tree()
        made = entries(0.9)
        await index.put(tree, made)
        await index._client.delete_collection(collection_name("test", "model", 4))
        with pytest.raises(Unavailable):
            await index.put(tree, made)
        index._resting_until = 0.0
        await index.put(tree, made)
        assert await index.nearest_entries([tree], WANTED, limit=9) == ids(made)

    in_memory(test)


def test_a_collection_is_named_after_its_model() -> None:
    assert collection_name("a", "sentence-transformers/MiniLM L6 v2", 384) == (
        "a_sentence-transformers-minilm-l6-v2_384"
    )
    assert (
        an_index("https://user:secret@example.org:6333/x").name == "example.org:6333/test_model_4"
    )


def test_what_goes_over_the_wire() -> None:
    tree = a_tree()
    made = [*entries(0.9), an_entry(None)]

    async def test(index: QdrantIndex) -> list[EntryId]:
        await index.put(tree, made)
        await index.delete_tree(tree, keep=ids(made))
        return await index.nearest_entries([tree], WANTED, limit=7)

    with QdrantServer() as server:
        server.found = [{"id": made[0].entry_id, "version": 1, "score": 0.9}]
        assert at(server.url, test) == [made[0].entry_id]
    exists, create, by_tree, put, delete, query = server.requests
    here = "/collections/test_model_4"
    assert exists[:2] == ("GET", f"{here}/exists")
    assert create[:2] == ("PUT", here)
    assert create[2]["vectors"] == {"size": 4, "distance": "Cosine"}
    assert by_tree[:2] == ("PUT", f"{here}/index")
    assert by_tree[2]["field_name"] == "tree"
    assert put[:2] == ("PUT", f"{here}/points")
    [point] = put[2]["points"]
    assert (point["id"], point["payload"]) == (made[0].entry_id, {"tree": tree})
    assert delete[:2] == ("POST", f"{here}/points/delete")
    assert query[:2] == ("POST", f"{here}/points/query")
    assert query[2]["limit"] == 7
    assert query[2]["filter"] == {"must": [{"key": "tree", "match": {"any": [tree]}}]}
    assert server.keys == {KEY}


def test_another_server_may_make_the_collection_at_the_same_moment() -> None:
    with QdrantServer() as server:
        server.statuses["/test_model_4"] = 409
        assert at(server.url, lambda index: index.nearest_entries(None, WANTED, limit=1)) == []


async def refused(index: QdrantIndex) -> str:
    with pytest.raises(Unavailable) as refusal:
        await index.nearest_entries(None, WANTED, limit=1)
    return refusal.value.message


@pytest.mark.parametrize("end", ["/exists", "/test_model_4", "/index", "/points/query"])
@pytest.mark.parametrize("status", [400, 401, 429, 500])
def test_a_refusal_is_told_without_the_key(end: str, status: int) -> None:
    with QdrantServer() as server:
        server.statuses[end] = status
        message = at(server.url, refused)
    assert f"status {status}" in message
    assert KEY not in message


@pytest.mark.parametrize("call", ["nearest", "put", "delete_tree"])
def test_every_call_says_that_nobody_is_there(call: str) -> None:
    calls: dict[str, Callable[[QdrantIndex], Awaitable[object]]] = {
        "nearest": lambda index: index.nearest_entries(None, WANTED, limit=1),
        "put": lambda index: index.put(a_tree(), entries(0.5)),
        "delete_tree": lambda index: index.delete_tree(a_tree()),
    }

    async def test(index: QdrantIndex) -> str:
        with pytest.raises(Unavailable) as refusal:
            await calls[call](index)
        return refusal.value.message

    message = at(NOWHERE, test)
    assert "127.0.0.1:9" in message
    assert KEY not in message


def test_nobody_waits_long_and_after_a_failure_nobody_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(qdrant, "SEARCH_SECONDS_MAX", 0.2)

    async def test(index: QdrantIndex) -> float:
        assert "in time" in await refused(index)
        started = time.monotonic()
        for _ in range(10):
            assert "a moment ago" in await refused(index)
        return time.monotonic() - started

    with QdrantServer() as server:
        server.slow = True
        assert at(server.url, test) < 0.2
        assert len(server.requests) == 1


def test_after_a_rest_it_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qdrant, "REST_SECONDS", 0)

    async def test(index: QdrantIndex) -> list[EntryId]:
        server.statuses["/points/query"] = 500
        await refused(index)
        server.statuses.clear()
        return await index.nearest_entries(None, WANTED, limit=1)

    with QdrantServer() as server:
        assert at(server.url, test) == []


def test_the_key_is_in_no_description() -> None:
    assert KEY not in repr(qdrant.QdrantServer(url=NOWHERE, collection="test", api_key=KEY))
