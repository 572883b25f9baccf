"""Queries remembered, around a real endpoint."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import numpy as np
import pytest

from recollect.embedding.cache import QueryCachingEmbedder
from recollect.embedding.openai import EmbeddingEndpoint, OpenAiEmbedder
from recollect.kernel.errors import EmbeddingFailed
from tests.support.servers.embedding import EmbeddingServer, bag_of_words

DIMENSIONS = 16


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer(dimensions=DIMENSIONS) as server:
        yield server


@asynccontextmanager
async def cached(
    server: EmbeddingServer, *, remembered: int = 8
) -> AsyncIterator[QueryCachingEmbedder]:
    endpoint = EmbeddingEndpoint(
        base_url=server.url, model="bag", dimensions=DIMENSIONS, attempts_max=1, rest_seconds=0
    )
    queries = QueryCachingEmbedder(OpenAiEmbedder(endpoint), remembered=remembered)
    try:
        yield queries
    finally:
        await queries.close()


def asked(server: EmbeddingServer) -> list[str]:
    return [text for request in server.requests for text in request["input"]]


def test_a_query_asked_again_is_not_sent_again(server: EmbeddingServer) -> None:
    async def twice() -> None:
        async with cached(server) as queries:
            first = await queries.embed_query("red house")
            assert np.array_equal(first, await queries.embed_query("red house"))
            assert np.allclose(first, bag_of_words("red house", DIMENSIONS), atol=1e-6)

    asyncio.run(twice())
    assert asked(server) == ["red house"]


def test_many_who_ask_at_once_share_one_request(server: EmbeddingServer) -> None:
    async def many() -> None:
        async with cached(server) as queries:
            await asyncio.gather(*(queries.embed_query("red house") for _ in range(20)))

    asyncio.run(many())
    assert asked(server) == ["red house"]


def test_the_query_that_was_not_used_for_longest_is_forgotten(server: EmbeddingServer) -> None:
    async def several() -> None:
        async with cached(server, remembered=2) as queries:
            for query in ("one", "two", "one", "three", "one", "two"):
                await queries.embed_query(query)

    asyncio.run(several())
    assert asked(server) == ["one", "two", "three", "two"]


def test_a_failure_is_not_remembered(server: EmbeddingServer) -> None:
    async def again() -> None:
        async with cached(server) as queries:
            server.mode, server.times = "refused", 1
            with pytest.raises(EmbeddingFailed):
                await queries.embed_query("red house")
            assert (await queries.embed_query("red house")).shape == (DIMENSIONS,)

    asyncio.run(again())


def test_one_who_goes_away_does_not_take_the_vector_from_the_others(
    server: EmbeddingServer,
) -> None:
    async def leaving() -> None:
        async with cached(server) as queries:
            first = asyncio.create_task(queries.embed_query("red house"))
            second = asyncio.create_task(queries.embed_query("red house"))
            await asyncio.sleep(0)
            first.cancel()
            assert (await second).shape == (DIMENSIONS,)
            assert first.cancelled()

    asyncio.run(leaving())
    assert asked(server) == ["red house"]


def test_nobody_can_change_what_others_will_get(server: EmbeddingServer) -> None:
    async def change() -> None:
        async with cached(server) as queries:
            vector = await queries.embed_query("red house")
            vector = await queries.embed_query("red house")
            with pytest.raises(ValueError, match="read-only"):
                vector[0] = 9

    asyncio.run(change())


def test_texts_to_store_and_names_come_from_the_inner_embedder(server: EmbeddingServer) -> None:
    async def through() -> None:
        async with cached(server) as queries:
            assert (queries.model, queries.dimensions) == (f"bag/{DIMENSIONS}", DIMENSIONS)
            assert (await queries.embed(["a", "b"])).shape == (2, DIMENSIONS)
            assert (await queries.embed(["a", "b"])).shape == (2, DIMENSIONS)

    asyncio.run(through())
    assert asked(server) == ["a", "b", "a", "b"]


def test_closing_ends_what_is_under_way(server: EmbeddingServer) -> None:
    async def close_early() -> None:
        server.mode = "slow"
        async with cached(server) as queries:
            waiting = asyncio.create_task(queries.embed_query("red house"))
            await asyncio.sleep(0)
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(close_early())
