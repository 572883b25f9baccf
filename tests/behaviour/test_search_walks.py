"""A walk through results goes on as it began, whatever happens between two pages."""

import base64
import struct
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.conftest import Serve
from tests.support.searching import DIMENSIONS, embedding_flags, settle
from tests.support.servers.embedding import EmbeddingServer
from tests.support.world import User, World, new_id

PLACES = ("lake", "river", "pond", "bay", "creek")
COUNT = 15
BREATH_SECONDS_MAX = 30


@pytest.fixture
def endpoint() -> Iterator[EmbeddingServer]:
    with EmbeddingServer(dimensions=DIMENSIONS) as server:
        yield server


@pytest.fixture
def world(serve: Serve, endpoint: EmbeddingServer) -> World:
    flags = {name.replace(".", "__"): v for name, v in embedding_flags(endpoint).items()}
    return serve(**flags)


def told(world: World) -> tuple[User, dict[str, str]]:
    """A user with conversations that all hold the word, some oftener than others."""
    ann = world.user("ann")
    texts = {new_id(): "heron " * (1 + i % 3) + f"at the {PLACES[i % 5]} {i}" for i in range(COUNT)}
    for id_, text in texts.items():
        ann.says(id_, text)
    settle(world)
    return ann, texts


def page(user: User, after: str | None = None) -> Any:
    return user.call("search", body={"query": "heron lake", "limit": 4, "after": after})


def ids(found: dict[str, Any]) -> list[str]:
    return [hit["conversationId"] for hit in found["data"]]


def rest(user: User, cursor: str | None) -> list[str]:
    found: list[str] = []
    while cursor is not None:
        following = page(user, cursor).expect(200)
        found += ids(following)
        cursor = following["nextCursor"]
    return found


def test_a_walk_by_meaning_waits_for_the_endpoint(world: World, endpoint: EmbeddingServer) -> None:
    ann, texts = told(world)
    first = page(ann).expect(200)
    endpoint.mode = "down"
    other = ann.call("search", body={"query": "another question"}).expect(200)
    assert other["degraded"] == ["embedding"]
    # The vector of the question is remembered, so the walk need not stop.
    seen = ids(first) + rest(ann, first["nextCursor"])
    assert sorted(seen) == sorted(texts)


@pytest.mark.rest_only("the header Retry-After")
def test_without_the_vector_of_its_question_a_walk_is_told_to_come_back(
    serve: Serve, endpoint: EmbeddingServer
) -> None:
    flags = {name.replace(".", "__"): v for name, v in embedding_flags(endpoint).items()}
    world = serve(**flags, embedding__query_cache=0)
    ann, texts = told(world)
    first = page(ann).expect(200)
    endpoint.mode = "down"
    refused = page(ann, first["nextCursor"])
    assert refused.expect(503)["code"] == "unavailable"
    assert int(refused.headers["retry-after"]) >= 1
    endpoint.mode = "ok"
    seen = ids(first) + rest_when_it_answers(ann, first["nextCursor"])
    assert sorted(seen) == sorted(texts)


def rest_when_it_answers(user: User, cursor: str) -> list[str]:
    """The endpoint is left alone for some seconds after a failure."""
    deadline = time.monotonic() + BREATH_SECONDS_MAX
    while page(user, cursor).status == 503:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return rest(user, cursor)


def test_a_walk_by_words_stays_one(world: World, endpoint: EmbeddingServer) -> None:
    ann, texts = told(world)
    endpoint.mode = "down"
    first = page(ann).expect(200)
    assert first["degraded"] == ["embedding"]
    endpoint.mode = "ok"
    seen = ids(first) + rest(ann, first["nextCursor"])
    assert sorted(seen) == sorted(texts)
    assert page(ann, first["nextCursor"]).expect(200)["degraded"] == ["embedding"]


def test_when_the_best_result_goes_away_no_other_is_skipped(world: World) -> None:
    ann, texts = told(world)
    first = page(ann).expect(200)
    best = ids(first)[0]
    ann.call("delete_conversation", best).expect(204)
    seen = ids(first) + rest(ann, first["nextCursor"])
    assert sorted(seen) == sorted(texts)


@pytest.mark.parametrize("score", [float("nan"), float("inf")], ids=["nan", "infinite"])
def test_a_forged_position_is_refused(world: World, score: float) -> None:
    ann, _ = told(world)
    cursor = page(ann).expect(200)["nextCursor"]
    raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    forged = base64.urlsafe_b64encode(struct.pack(">d", score) + raw[8:]).decode().rstrip("=")
    assert page(ann, forged).refused(400, "bad_request")["field"] == "after"


def test_what_can_not_be_seen_is_no_question(world: World) -> None:
    ann, _ = told(world)
    for blank in ("", "  \n", "\u200b", "\u2060\u00a0"):
        found = ann.call("search", body={"query": blank}).expect(200)
        assert found == {"data": [], "nextCursor": None}
