"""Another model, none, and the same again: search goes on meanwhile, and no vector of one model is
ever compared with one of another."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.conftest import Host
from tests.support.engines import TestDatabase
from tests.support.searching import TYPES
from tests.support.servers.embedding import EmbeddingServer
from tests.support.world import User, World, new_id

pytestmark = pytest.mark.rest_only("what jobs do in the background, whoever asked")

WAIT_SECONDS = 60
PAUSE_SECONDS = 0.02
TEXTS = [f"The {word} stands by the door." for word in ("kayak", "ladder", "piano", "bicycle")]
VECTORS = "SELECT model, dimensions, count(*) FROM entry_embeddings GROUP BY model, dimensions"
# All that is to be done now, without what comes back regularly.
WAITING = """
SELECT (SELECT count(*) FROM entries WHERE indexed_content IS NOT NULL AND indexed_at IS NULL)
     + (SELECT count(*) FROM entry_index WHERE pending)
     + (SELECT count(*) FROM tasks
        WHERE retry_count > 0 OR task_type IN ('vector_store_index', 'vector_store_index_retry'))
"""
# Makes the oldest entries look as if no worker had come to them yet.
AGE_TWO = """
UPDATE entry_embeddings SET model = 'a/64'
WHERE entry_id IN (SELECT id FROM entries ORDER BY created_at, id LIMIT 2)
"""


@pytest.fixture
def old() -> Iterator[EmbeddingServer]:
    """The endpoint of model a."""
    with EmbeddingServer(dimensions=64) as server:
        yield server


@pytest.fixture
def new() -> Iterator[EmbeddingServer]:
    """The endpoint of model b."""
    with EmbeddingServer(dimensions=32) as server:
        yield server


def flags_of(server: EmbeddingServer, model: str, **more: Any) -> dict[str, Any]:
    return {
        "embedding__provider": "openai",
        "embedding__openai__base_url": server.url,
        "embedding__openai__dimensions": server.dimensions,
        "embedding__openai__model": model,
        "embedding__openai__retries": 0,
        "jobs__poll_ms": 10,
    } | more


@contextmanager
def spoken(host: Host, server: EmbeddingServer, **more: Any) -> Iterator[tuple[World, User]]:
    """A server with model a on which somebody has said something, each in its conversation."""
    with host(**flags_of(server, "a", **more)) as world:
        ann = world.user("ann")
        for text in TEXTS:
            ann.says(new_id(), text)
        yield world, ann


def test_a_new_model_makes_all_vectors_anew_while_search_goes_on(
    host: Host, old: EmbeddingServer, new: EmbeddingServer
) -> None:
    with spoken(host, old) as (world, ann):
        settle(world)
        database = world.database
    assert vectors(database) == {("a/64", 64): len(TEXTS)}
    with host(database, **flags_of(new, "b", jobs__embedded_worker=False)) as world:
        again = world.named(ann.name)
        assert top(again, "piano", "auto") == top(again, "piano", "fulltext") == TEXTS[2]
        assert again.finds("piano", searchType="semantic") == []
        assert vectors(database) == {("a/64", 64): len(TEXTS)}
    with host(database, **flags_of(new, "b")) as world:
        wait_until(lambda: vectors(database) == {("b/32", 32): len(TEXTS)})
        settle(world)
        assert found(world.named(ann.name)) == found_by_one_model(host, new, ann.name)


def test_vectors_of_two_models_are_never_mixed(
    host: Host, old: EmbeddingServer, new: EmbeddingServer
) -> None:
    """Half of the vectors are new, half are old: only the new ones take part."""
    with spoken(host, old) as (world, ann):
        settle(world)
        database = world.database
    flags = flags_of(new, "b")
    with host(database, **flags | {"jobs__embedded_worker": False}) as world:
        world.named(ann.name).says(new_id(), "The harp stands by the door.")
    with host(database, **flags) as world:
        wait_until(lambda: vectors(database) == {("b/32", 32): len(TEXTS) + 1})
    database.rows(AGE_TWO)
    with host(database, **flags | {"jobs__embedded_worker": False}) as world:
        by_meaning = world.named(ann.name).finds("stands by the door", searchType="semantic")
        assert sorted(hit["entry"]["content"][0]["text"] for hit in by_meaning) == sorted(
            [*TEXTS[2:], "The harp stands by the door."]
        )


def test_shorter_vectors_of_the_same_model_replace_the_longer_ones(
    host: Host, old: EmbeddingServer, new: EmbeddingServer
) -> None:
    with spoken(host, old) as (world, ann):
        settle(world)
        database = world.database
    with host(database, **flags_of(new, "a", jobs__embedded_worker=False)) as world:
        again = world.named(ann.name)
        assert top(again, "piano", "auto") == TEXTS[2]
        assert again.finds("piano", searchType="semantic") == []
    with host(database, **flags_of(new, "a")) as world:
        wait_until(lambda: {size for _, size in vectors(database)} == {32})
        settle(world)
        assert found(world.named(ann.name)) == found_by_one_model(host, new, ann.name)


def test_what_was_said_without_vectors_gets_them_later(host: Host, old: EmbeddingServer) -> None:
    with spoken(host, old) as (world, ann):
        settle(world)
        database = world.database
    off = flags_of(old, "a", search__semantic__enabled=False)
    with host(database, **off) as world:
        again = world.named(ann.name)
        again.says(new_id(), "The harp stands by the door.")
        assert top(again, "harp", "auto") == "The harp stands by the door."
        settle(world)
    assert vectors(database) == {("a/64", 64): len(TEXTS)}
    with host(database, **flags_of(old, "a")) as world:
        wait_until(lambda: vectors(database) == {("a/64", 64): len(TEXTS) + 1})
        assert top(world.named(ann.name), "harp", "semantic") == "The harp stands by the door."


def test_what_waited_when_vectors_were_switched_off_gets_them_later(
    host: Host, old: EmbeddingServer
) -> None:
    with spoken(host, old, jobs__embedded_worker=False) as (world, ann):
        database = world.database
    with host(database, **flags_of(old, "a", search__semantic__enabled=False)) as world:
        wait_until(lambda: not index_jobs(database))
        assert vectors(database) == {}
    with host(database, **flags_of(old, "a")) as world:
        wait_until(lambda: vectors(database) == {("a/64", 64): len(TEXTS)})
        assert top(world.named(ann.name), "piano", "semantic") == TEXTS[2]


def test_a_server_with_the_old_model_does_not_undo_the_new_one(
    host: Host, old: EmbeddingServer, new: EmbeddingServer
) -> None:
    """As in a rolling update: for a while both work on one queue."""
    with spoken(host, old) as (first, ann):
        settle(first)
        database = first.database
        with host(database, **flags_of(new, "b")) as second:
            for number in range(10):
                ann.says(new_id(), f"The harp {number} stands by the door.")
                second.named(ann.name).says(new_id(), f"The lute {number} stands by the door.")
            assert top(ann, "piano", "auto") == TEXTS[2]
    with host(database, **flags_of(new, "b")) as second:
        second.clock.advance(minutes=2)
        wait_until(lambda: vectors(database) == {("b/32", 32): len(TEXTS) + 20})
        settle(second)


def test_without_raw_text_nothing_is_indexed_until_an_indexer_does(
    host: Host, old: EmbeddingServer
) -> None:
    with spoken(host, old, search__index_raw_text=False) as (world, ann):
        for kind in TYPES:
            assert ann.finds("piano", searchType=kind) == []
        listed = world.indexer.call("unindexed").expect(200)["data"]
        assert [item["entry"]["content"][0]["text"] for item in listed] == TEXTS
        assert vectors(world.database) == {}
        assert {text for asked in old.requests for text in asked["input"]} == {"piano"}
        items = [
            {
                "conversationId": item["conversationId"],
                "entryId": item["entry"]["id"],
                "indexedContent": "something withheld",
            }
            for item in listed[:2]
        ]
        assert world.indexer.call("index", body=items).expect(200) == {"indexed": 2}
        settle(world)
        assert vectors(world.database) == {("a/64", 64): 2}
        for kind in TYPES:
            assert len(ann.finds("something withheld", searchType=kind)) == 2
        assert ann.finds("piano", searchType="fulltext") == []
        assert len(world.indexer.call("unindexed").expect(200)["data"]) == len(TEXTS) - 2


def found_by_one_model(host: Host, server: EmbeddingServer, name: str) -> Any:
    """What a server finds that never had another model."""
    with host(**flags_of(server, "b")) as world:
        user = world.named(name)
        for text in TEXTS:
            user.says(new_id(), text)
        settle(world)
        return found(user)


def found(user: User) -> list[list[tuple[str, float]]]:
    """Texts and scores by each type of search."""
    return [
        sorted(
            (hit["entry"]["content"][0]["text"], hit["score"])
            for hit in user.finds("a piano by the door", searchType=kind)
        )
        for kind in TYPES
    ]


def top(user: User, query: str, kind: str) -> str:
    return str(user.finds(query, searchType=kind)[0]["entry"]["content"][0]["text"])


def vectors(database: TestDatabase) -> dict[tuple[str, int], int]:
    """How many there are, by model and length."""
    return {(model, size): count for model, size, count in database.rows(VECTORS)}


def index_jobs(database: TestDatabase) -> int:
    query = "SELECT count(*) FROM tasks WHERE task_type = 'vector_store_index'"
    return int(database.rows(query)[0][0])


def settle(world: World) -> None:
    """Wait until nothing of the index is left to do."""
    wait_until(lambda: not world.database.rows(WAITING)[0][0])


def wait_until(true: Any) -> None:
    end = time.monotonic() + WAIT_SECONDS
    while not true():
        assert time.monotonic() < end, "it never became true"
        time.sleep(PAUSE_SECONDS)
