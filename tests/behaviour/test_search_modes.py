"""Kinds of search that are on, off or failing; meaning by the built-in model."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.conftest import Serve
from tests.support.searching import DIMENSIONS, TYPES, embedding_flags, settle
from tests.support.servers.embedding import EmbeddingServer
from tests.support.world import User, World, new_id, text_of


@pytest.fixture
def fragile() -> Iterator[EmbeddingServer]:
    """An endpoint of its own, so that its faults are nobody else's."""
    with EmbeddingServer(dimensions=DIMENSIONS) as server:
        yield server


def flags_of(server: EmbeddingServer, **more: Any) -> dict[str, Any]:
    return {name.replace(".", "__"): v for name, v in embedding_flags(server).items()} | more


def search(user: User, query: str, kind: str = "auto") -> Any:
    return user.call("search", body={"query": query, "searchType": kind})


def texts(page: dict[str, Any]) -> list[str]:
    return [text_of(result["entry"]) for result in page["data"]]


@pytest.mark.scenario(32)
def test_auto_finds_the_word_and_the_paraphrase(serve: Serve) -> None:
    world = serve(embedding__provider="builtin", jobs__poll_ms=10)
    ann = world.user("ann")
    word, meant = "My kayak is in the shed.", "We went paddling in a small boat on the river."
    for text in (word, meant, "The invoice has to be paid by Friday.", "Her sister plays chess."):
        ann.says(new_id(), text)
    settle(world)
    found = texts(search(ann, "kayak").expect(200))
    assert found[0] == word
    assert meant in found
    assert texts(search(ann, "kayak", "fulltext").expect(200)) == [word]
    by_meaning = texts(search(ann, "kayak", "semantic").expect(200))
    assert set(by_meaning) == {word, meant}


@pytest.mark.scenario(32)
def test_when_the_vectors_fail_words_still_answer_and_the_page_says_so(
    serve: Serve, fragile: EmbeddingServer
) -> None:
    world = serve(**flags_of(fragile))
    ann = world.user("ann")
    ann.says(new_id(), "My kayak is in the shed.")
    settle(world)
    fragile.mode = "down"
    page = search(ann, "kayak").expect(200)
    assert texts(page) == ["My kayak is in the shed."]
    assert page["degraded"] == ["embedding"]
    assert search(ann, "kayak", "semantic").expect(200) == {
        "data": [],
        "nextCursor": None,
        "degraded": ["embedding"],
    }
    assert "degraded" not in search(ann, "kayak", "fulltext").expect(200)
    admin = world.admin.call("admin_search", body={"query": "kayak"}).expect(200)
    assert (len(admin["data"]), admin["degraded"]) == (1, ["embedding"])


@pytest.mark.parametrize("mode", ["error", "not_json", "nan", "wrong_dimensions", "short"])
def test_no_fault_of_the_endpoint_fails_a_search(
    serve: Serve, fragile: EmbeddingServer, mode: Any
) -> None:
    world = serve(**flags_of(fragile))
    ann = world.user("ann")
    ann.says(new_id(), "My kayak is in the shed.")
    settle(world)
    fragile.mode = mode
    page = search(ann, "kayak").expect(200)
    assert (len(page["data"]), page["degraded"]) == (1, ["embedding"])


def test_vectors_that_could_not_be_made_are_made_later(
    serve: Serve, fragile: EmbeddingServer
) -> None:
    fragile.mode, fragile.times = "error", 1
    world = serve(**flags_of(fragile))
    ann = world.user("ann")
    ann.says(new_id(), "My kayak is in the shed.")
    assert len(texts(search(ann, "kayak", "fulltext").expect(200))) == 1
    world.clock.advance(hours=1)
    settle(world)
    assert len(search(ann, "kayak in the shed", "semantic").expect(200)["data"]) == 1


def test_an_append_does_not_wait_for_vectors(serve: Serve, fragile: EmbeddingServer) -> None:
    fragile.mode = "slow"
    ann = serve(**flags_of(fragile)).user("ann")
    entry = ann.says(new_id(), "My kayak is in the shed.")
    assert ann.texts(entry["conversationId"]) == ["My kayak is in the shed."]


def assert_unavailable(reply: Any, available: list[str]) -> None:
    body = reply.expect(501)
    assert set(body) == {"error", "message", "availableTypes"}
    assert (body["error"], body["availableTypes"]) == ("search_type_unavailable", available)
    assert body["message"]


@pytest.mark.scenario(33)
@pytest.mark.parametrize(
    "flags",
    [{"search__semantic__enabled": False}, {"embedding__provider": "none"}],
    ids=["switched off", "no vectors"],
)
def test_without_semantic_search_words_are_left(
    serve: Serve, fragile: EmbeddingServer, flags: dict[str, Any]
) -> None:
    world = serve(**flags_of(fragile) | flags)
    ann = world.user("ann")
    ann.says(new_id(), "My kayak is in the shed.")
    settle(world)
    assert_unavailable(search(ann, "kayak", "semantic"), ["fulltext"])
    asked = {"query": "kayak", "searchType": "semantic"}
    assert_unavailable(world.auditor.call("admin_search", body=asked), ["fulltext"])
    for kind in ("auto", "fulltext"):
        assert len(ann.finds("kayak", searchType=kind)) == 1
    assert fragile.requests == []


@pytest.mark.scenario(33)
def test_without_fulltext_meaning_is_left(serve: Serve, fragile: EmbeddingServer) -> None:
    world = serve(**flags_of(fragile, search__fulltext__enabled=False))
    ann = world.user("ann")
    ann.says(new_id(), "My kayak is in the shed.")
    settle(world)
    assert_unavailable(search(ann, "kayak", "fulltext"), ["semantic"])
    for kind in ("auto", "semantic"):
        assert len(ann.finds("my kayak", searchType=kind)) == 1


@pytest.mark.parametrize("kind", TYPES)
def test_without_any_search_every_type_is_501(serve: Serve, kind: str) -> None:
    world = serve(search__fulltext__enabled=False, search__semantic__enabled=False)
    ann = world.user("ann")
    ann.says(new_id(), "My kayak is in the shed.")
    details = search(ann, "kayak", kind).refused(501, "vector_store_disabled")
    assert details.keys() == {"message"}


def test_a_model_that_changed_mixes_with_no_older_vectors(
    serve: Serve, fragile: EmbeddingServer
) -> None:
    first = serve(**flags_of(fragile))
    ann = first.user("ann")
    ann.says(new_id(), "My kayak is in the shed.")
    settle(first)
    with EmbeddingServer(dimensions=32) as other:
        flags = flags_of(other, embedding__openai__model="another")
        second: World = serve(first.database, **flags)
        again = second.named(ann.name)
        assert len(texts(search(again, "kayak").expect(200))) == 1
        assert search(again, "kayak", "semantic").status == 200
