"""An endpoint of OpenAI's protocol, well and ill, over real HTTP."""

import asyncio
import email.utils
import logging
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeVar

import numpy as np
import pytest

from recollect.embedding.openai import EmbeddingEndpoint, OpenAiEmbedder
from recollect.embedding.port import Vectors
from recollect.kernel.errors import EmbeddingFailed
from tests.support.servers.embedding import EmbeddingServer, Mode, bag_of_words

DIMENSIONS = 16
KEY = "sk-very-secret"
T = TypeVar("T")


class PassingTime:
    """A clock that only moves when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer(dimensions=DIMENSIONS) as server:
        yield server


@pytest.fixture
def clock() -> PassingTime:
    return PassingTime()


def run(
    url: str,
    work: Callable[[OpenAiEmbedder], Awaitable[T]],
    clock: PassingTime | None = None,
    **changes: Any,
) -> T:
    given: dict[str, Any] = {"base_url": url, "model": "bag", "dimensions": DIMENSIONS}
    endpoint = EmbeddingEndpoint(**given | {"api_key": KEY} | changes)
    passing = clock or PassingTime()

    async def use() -> T:
        embedder = OpenAiEmbedder(endpoint, monotonic=passing.monotonic, sleep=passing.sleep)
        try:
            return await work(embedder)
        finally:
            await embedder.close()

    return asyncio.run(use())


def failure(url: str, clock: PassingTime | None = None, **changes: Any) -> EmbeddingFailed:
    with pytest.raises(EmbeddingFailed) as caught:
        run(url, lambda embedder: embedder.embed(["a private text"]), clock, **changes)
    return caught.value


def test_rows_are_unit_vectors_of_the_texts(server: EmbeddingServer) -> None:
    texts = ["red house", "blue boat", "red house"]
    rows = run(server.url, lambda embedder: embedder.embed(texts))
    assert rows.dtype == np.float32
    assert np.allclose(rows, [bag_of_words(text, DIMENSIONS) for text in texts], atol=1e-6)


def test_model_key_and_texts_are_sent(server: EmbeddingServer) -> None:
    run(server.url + "/", lambda embedder: embedder.embed(["red house"]))
    (request,) = server.requests
    assert request == {"model": "bag", "input": ["red house"], "encoding_format": "float"}
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


def test_dimensions_are_asked_for_only_where_the_model_can_shorten(server: EmbeddingServer) -> None:
    run(server.url, lambda embedder: embedder.embed(["a"]), send_dimensions=True)
    assert server.requests[0]["dimensions"] == DIMENSIONS


def test_an_endpoint_without_a_key_gets_none(server: EmbeddingServer) -> None:
    run(server.url, lambda embedder: embedder.embed(["a"]), api_key=None)
    assert "authorization" not in server.headers[0]


def test_many_texts_go_in_batches_and_stay_in_order(server: EmbeddingServer) -> None:
    texts = [f"text {number}" for number in range(10)]
    rows = run(server.url, lambda embedder: embedder.embed(texts), batch_size=4)
    assert [len(request["input"]) for request in server.requests] == [4, 4, 2]
    assert np.allclose(rows, [bag_of_words(text, DIMENSIONS) for text in texts], atol=1e-6)


def test_no_texts_are_no_request(server: EmbeddingServer) -> None:
    assert run(server.url, lambda embedder: embedder.embed([])).shape == (0, DIMENSIONS)
    assert server.requests == []


def test_texts_that_endpoints_refuse_are_sent_as_something_they_take(
    server: EmbeddingServer,
) -> None:
    run(server.url, lambda embedder: embedder.embed(["", "half \ud83d"]))
    assert server.requests[0]["input"] == [" ", "half ?"]


def test_vectors_are_put_in_the_order_of_their_index(server: EmbeddingServer) -> None:
    server.mode = "shuffled"
    texts = ["red house", "blue boat", "green tree"]
    rows = run(server.url, lambda embedder: embedder.embed(texts))
    assert np.allclose(rows, [bag_of_words(text, DIMENSIONS) for text in texts], atol=1e-6)


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("wrong_dimensions", "vectors of 17 numbers, not 16"),
        ("short", "0 vectors for 1 texts"),
        ("nan", "no finite length"),
        ("not_json", "something other than vectors"),
        ("refused", "status 401"),
    ],
)
def test_an_answer_that_is_wrong_is_refused_and_not_asked_for_again(
    server: EmbeddingServer, mode: Mode, said: str
) -> None:
    server.mode = mode
    assert said in failure(server.url).message
    assert len(server.requests) == 1


def test_vectors_that_all_claim_one_place_are_refused(server: EmbeddingServer) -> None:
    server.mode = "renumbered"
    with pytest.raises(EmbeddingFailed, match="numbering has gaps"):
        run(server.url, lambda embedder: embedder.embed(["a", "b"]))


@pytest.mark.parametrize("mode", ["error", "rate_limited", "down"])
def test_what_may_pass_is_tried_again_with_growing_pauses(
    server: EmbeddingServer, clock: PassingTime, mode: Mode
) -> None:
    server.mode, server.times = mode, 3
    rows = run(server.url, lambda embedder: embedder.embed(["red house"]), clock)
    assert np.allclose(rows[0], bag_of_words("red house", DIMENSIONS), atol=1e-6)
    assert clock.slept == [0.5, 1.0, 2.0]


def test_the_pause_is_as_long_as_the_endpoint_asks(
    server: EmbeddingServer, clock: PassingTime
) -> None:
    server.mode, server.times, server.retry_after = "rate_limited", 1, "7"
    run(server.url, lambda embedder: embedder.embed(["a"]), clock)
    assert clock.slept == [7.0]


def test_the_pause_may_be_given_as_a_date(server: EmbeddingServer, clock: PassingTime) -> None:
    server.mode, server.times = "rate_limited", 1
    server.retry_after = email.utils.formatdate(time.time() + 15, usegmt=True)
    run(server.url, lambda embedder: embedder.embed(["a"]), clock)
    assert 5 < clock.slept[0] <= 15


def test_a_pause_in_words_nobody_knows_is_the_usual_one(
    server: EmbeddingServer, clock: PassingTime
) -> None:
    server.mode, server.times, server.retry_after = "rate_limited", 1, "soon"
    run(server.url, lambda embedder: embedder.embed(["a"]), clock)
    assert clock.slept == [0.5]


def test_a_pause_that_is_too_long_is_handed_to_the_caller(
    server: EmbeddingServer, clock: PassingTime
) -> None:
    server.mode, server.retry_after = "rate_limited", "45"
    assert failure(server.url, clock).retry_after_seconds == 45
    assert clock.slept == []


@pytest.mark.parametrize("mode", ["error", "rate_limited", "down"])
def test_after_some_attempts_it_gives_up(
    server: EmbeddingServer, clock: PassingTime, mode: Mode
) -> None:
    server.mode = mode
    failure(server.url, clock, attempts_max=3)
    assert len(server.requests) == 3


def test_an_endpoint_that_is_too_slow_is_not_waited_for(server: EmbeddingServer) -> None:
    server.mode = "slow"
    assert "too slow" in failure(server.url, attempts_max=1, timeout_seconds=0.1).message


def test_an_endpoint_that_is_not_there_is_said_so() -> None:
    with EmbeddingServer() as gone:
        url = gone.url
    assert "can't be reached (ConnectError)" in failure(url).message


@pytest.mark.parametrize("mode", ["error", "refused", "not_json", "down", "wrong_dimensions"])
def test_an_error_names_the_host_but_neither_key_nor_text(
    server: EmbeddingServer, mode: Mode, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.mode = mode
    error = failure(server.url)
    chain = [error, error.__cause__, None if error.__suppress_context__ else error.__context__]
    said = repr(chain) + caplog.text
    assert "127.0.0.1" in error.message
    assert not any(secret in said for secret in (KEY, "private text"))


def test_a_query_has_its_time_for_all_attempts_together(
    server: EmbeddingServer, clock: PassingTime
) -> None:
    server.mode = "error"
    with pytest.raises(EmbeddingFailed):
        run(
            server.url,
            lambda embedder: embedder.embed_query("a"),
            clock,
            timeout_seconds=2.0,
            attempts_max=9,
        )
    assert clock.slept == [0.5, 1.0]


def test_after_a_failure_calls_fail_at_once_until_one_may_try(
    server: EmbeddingServer, clock: PassingTime
) -> None:
    async def outage(embedder: OpenAiEmbedder) -> None:
        server.mode = "error"
        await fails(embedder)
        await fails(embedder)
        assert len(server.requests) == 1
        clock.now += 5
        await fails(embedder)
        await fails(embedder)
        assert len(server.requests) == 2
        clock.now += 5
        server.mode = "ok"
        assert (await embedder.embed_query("a")).shape == (DIMENSIONS,)
        assert (await embedder.embed_query("b")).shape == (DIMENSIONS,)

    run(server.url, outage, clock, attempts_max=1, rest_seconds=5)


def test_while_one_tries_the_others_do_not_wait(
    server: EmbeddingServer, clock: PassingTime
) -> None:
    async def outage(embedder: OpenAiEmbedder) -> None:
        server.mode = "error"
        await fails(embedder)
        clock.now += 5
        server.mode = "ok"
        answers = await asyncio.gather(
            *(embedder.embed_query("a") for _ in range(5)), return_exceptions=True
        )
        assert [type(answer).__name__ for answer in answers] == ["ndarray"] + ["EndpointDown"] * 4

    run(server.url, outage, clock, attempts_max=1, rest_seconds=5)
    assert len(server.requests) == 2


def test_one_who_stops_trying_leaves_the_try_to_the_next(
    server: EmbeddingServer, clock: PassingTime
) -> None:
    async def outage(embedder: OpenAiEmbedder) -> None:
        server.mode = "error"
        await fails(embedder)
        clock.now += 5
        server.mode = "slow"
        trying = asyncio.create_task(embedder.embed_query("a"))
        await asyncio.sleep(0)
        trying.cancel()
        with pytest.raises(asyncio.CancelledError):
            await trying
        server.mode = "ok"
        assert (await embedder.embed_query("a")).shape == (DIMENSIONS,)

    run(server.url, outage, clock, attempts_max=1, rest_seconds=5)


def test_a_refused_text_does_not_stop_the_others(server: EmbeddingServer) -> None:
    async def refusal(embedder: OpenAiEmbedder) -> None:
        server.mode, server.times = "refused", 1
        await fails(embedder)
        assert (await embedder.embed_query("a")).shape == (DIMENSIONS,)

    run(server.url, refusal)


def test_a_text_that_is_too_long_is_cut_and_the_others_are_not(server: EmbeddingServer) -> None:
    server.chars_max = 1_000
    short, long = "a heron by the lake", "a heron by the lake " * 200

    async def embed(embedder: OpenAiEmbedder) -> Vectors:
        return await embedder.embed([short, long, "sardines"])

    rows = run(server.url, embed)
    assert rows[0] @ bag_of_words(short, DIMENSIONS) > 0.999
    assert rows[2] @ bag_of_words("sardines", DIMENSIONS) > 0.999
    assert rows[1] @ bag_of_words(short, DIMENSIONS) > 0.99


def test_a_short_text_that_is_refused_keeps_no_other_from_its_vector(
    server: EmbeddingServer,
) -> None:
    server.chars_max = 10
    refused = "a text of more than ten characters"

    async def embed(embedder: OpenAiEmbedder) -> Vectors:
        with pytest.raises(EmbeddingFailed, match="status 400"):
            await embedder.embed_query(refused)
        return await embedder.embed(["sardines", refused, "a heron"])

    rows = run(server.url, embed)
    assert rows[0] @ bag_of_words("sardines", DIMENSIONS) > 0.999
    assert not rows[1].any()
    assert rows[2] @ bag_of_words("a heron", DIMENSIONS) > 0.999


def test_an_endpoint_that_refuses_every_text_is_not_believed(server: EmbeddingServer) -> None:
    server.chars_max = 0

    async def embed(embedder: OpenAiEmbedder) -> None:
        with pytest.raises(EmbeddingFailed, match="status 400"):
            await embedder.embed(["sardines", "a heron"])

    run(server.url, embed)


async def fails(embedder: OpenAiEmbedder) -> None:
    with pytest.raises(EmbeddingFailed):
        await embedder.embed_query("a")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:8000",
        "ftp://host/v1",
        "http://",
        "http://host:port/v1",
        "http://ann:password@host/v1",
        "http://host/v1?version=2",
        "http://host/v1#top",
    ],
)
def test_an_address_that_will_not_do_is_refused_at_once(url: str) -> None:
    with pytest.raises(ValueError, match="base URL") as caught:
        EmbeddingEndpoint(base_url=url, model="bag", dimensions=DIMENSIONS)
    assert "password" not in str(caught.value)


@pytest.mark.parametrize("key", ["", "two\nlines", "schlüssel", " spaced "])
def test_a_key_that_no_header_can_hold_is_refused_without_saying_it(key: str) -> None:
    with pytest.raises(ValueError, match="key holds characters") as caught:
        EmbeddingEndpoint(
            base_url="http://host/v1", model="bag", dimensions=DIMENSIONS, api_key=key
        )
    assert key == "" or key not in str(caught.value)


def test_the_key_is_not_in_the_settings_printed() -> None:
    endpoint = EmbeddingEndpoint(base_url="http://host/v1", model="bag", dimensions=1, api_key=KEY)
    assert KEY not in repr(endpoint)
