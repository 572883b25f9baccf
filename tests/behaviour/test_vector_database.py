"""A server with a vector database beside it, as its callers see it."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.conftest import Serve
from tests.support.searching import embedding_flags, settle
from tests.support.servers.embedding import EmbeddingServer
from tests.support.servers.qdrant import QdrantServer
from tests.support.world import User, World

pytestmark = pytest.mark.rest_only("what search asks of another server, whoever searches")

LINES = 10
KEY = "a-key-that-nobody-may-read"


@pytest.fixture
def qdrant() -> Iterator[QdrantServer]:
    with QdrantServer() as server:
        yield server


@pytest.fixture
def world(serve: Serve, embeddings: EmbeddingServer, qdrant: QdrantServer) -> World:
    flags = embedding_flags(embeddings) | {
        "search.exact_max": 5,
        "search.qdrant.url": qdrant.url,
        "search.qdrant.api_key": KEY,
    }
    return serve(**{name.replace(".", "__"): value for name, value in flags.items()})


@pytest.fixture
def ann(world: World) -> User:
    """Somebody with more entries than are ranked as a whole."""
    return world.user("ann")


def talk(world: World, user: User) -> list[str]:
    conversation = user.starts()
    ids = [user.says(conversation, f"a buoy, number {n}")["id"] for n in range(LINES)]
    settle(world)
    return ids


def found(user: User, kind: str) -> Any:
    body = {"query": "buoy", "searchType": kind, "groupByConversation": False}
    return user.call("search", body=body).expect(200)


def test_what_it_proposes_is_what_is_near(world: World, ann: User, qdrant: QdrantServer) -> None:
    ids = talk(world, ann)
    foreign = talk(world, world.user("eve"))
    proposed = [ids[3], foreign[0], ids[7], foreign[1]]
    qdrant.found = [{"id": id_, "version": 1, "score": 0.9} for id_ in proposed]
    page = found(ann, "semantic")
    assert {result["entryId"] for result in page["data"]} == {ids[3], ids[7]}
    assert "degraded" not in page
    assert {result["entryId"] for result in found(ann, "auto")["data"]} == set(ids)
    assert qdrant.keys == {KEY}


def test_when_it_fails_the_page_says_so(world: World, ann: User, qdrant: QdrantServer) -> None:
    talk(world, ann)
    qdrant.statuses["/points/query"] = 500
    by_both, by_meaning, by_words = (found(ann, kind) for kind in ("auto", "semantic", "fulltext"))
    assert (len(by_both["data"]), by_both["degraded"]) == (LINES, ["vectors"])
    assert (by_meaning["data"], by_meaning["degraded"]) == ([], ["vectors"])
    assert len(by_words["data"]) == LINES
    assert "degraded" not in by_words
