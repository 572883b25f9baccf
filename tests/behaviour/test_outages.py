"""The endpoint that makes vectors fails: nobody who writes notices, who searches is told, and when
it is back everything gets its vector without anybody's doing."""

import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from tests.conftest import Serve
from tests.support.engines import TestDatabase
from tests.support.searching import embedding_flags, settle, waiting
from tests.support.servers.embedding import EmbeddingServer, Mode
from tests.support.world import User, World, new_id

pytestmark = pytest.mark.rest_only("what jobs do in the background, whoever asked")

WAIT_SECONDS = 60
PAUSE_SECONDS = 0.02
# Longer than the longest pause between two tries of what waits for another system.
A_WHILE: dict[str, float] = {"seconds": 61}
TEXT = "My kayak is in the shed."
RETRIES = """
SELECT last_error, retry_at, retry_count, stuck_at, claim_id FROM tasks
WHERE task_type = 'vector_store_index_retry'
"""
every_fault = pytest.mark.parametrize("mode", ["down", "slow", "wrong_dimensions", "nan", "error"])


@pytest.fixture
def endpoint() -> Iterator[EmbeddingServer]:
    """An endpoint of its own, so that its faults are nobody else's."""
    with EmbeddingServer(dimensions=64) as server:
        yield server


@pytest.fixture
def world(serve: Serve, endpoint: EmbeddingServer) -> World:
    """A server that is quick to lose patience, and gives up what fails twice by its own fault."""
    flags = embedding_flags(endpoint) | {
        "embedding.openai.timeout_seconds": 0.2,
        "jobs.attempts_max": 2,
    }
    return serve(**{name.replace(".", "__"): value for name, value in flags.items()})


@every_fault
def test_an_outage_passes_by_itself(world: World, endpoint: EmbeddingServer, mode: Mode) -> None:
    ann = world.user("ann")
    endpoint.mode = mode
    entry = ann.says(new_id(), TEXT)
    retries = wait_for_retries(world, tries=4)
    assert [(row["stuck_at"], bool(row["last_error"])) for row in retries] == [(None, True)]
    assert TEXT not in retries[0]["last_error"]
    assert_degraded(ann, entry)
    endpoint.mode = "ok"
    recover(world)
    assert_whole(ann, entry)


def test_what_was_said_during_an_outage_waits_in_one_job(
    world: World, endpoint: EmbeddingServer
) -> None:
    ann, conversation = world.user("ann"), new_id()
    endpoint.mode = "nan"
    for number in range(6):
        ann.says(conversation, f"{TEXT} {number}")
        wait_for_idle_jobs(world.database)
    retries = wait_for_retries(world, tries=3)
    assert len(retries) == 1
    endpoint.mode = "ok"
    recover(world)
    found = ann.finds(TEXT, searchType="semantic", groupByConversation=False)
    assert len(found) == 6


def test_what_is_said_after_an_outage_brings_the_rest_along(
    world: World, endpoint: EmbeddingServer
) -> None:
    """A new text is tried at once, and with it all others of its tree."""
    ann, conversation = world.user("ann"), new_id()
    endpoint.mode = "nan"
    first = ann.says(conversation, TEXT)
    wait_for_retries(world, tries=1)
    endpoint.mode = "ok"
    ann.says(conversation, "And the paddle is in the hall.")
    wait_until(lambda: not unindexed(world.database))
    assert ann.finds(TEXT, searchType="semantic")[0]["entryId"] == first["id"]


def test_the_pause_between_tries_grows_and_stays_short(
    world: World, endpoint: EmbeddingServer
) -> None:
    endpoint.mode = "nan"
    with world.clock.hold():
        world.user("ann").says(new_id(), TEXT)
        pauses = []
        for tries in range(1, 9):
            [row] = wait_for_retries(world, tries=tries, advance=False)
            now = world.clock.now()
            world.clock.advance(**A_WHILE)
            pauses.append(as_time(row["retry_at"], now) - now)
    assert pauses == sorted(pauses)
    assert pauses[0] <= timedelta(seconds=4)
    assert pauses[-1] == timedelta(minutes=1)


def test_a_search_during_a_slow_outage_is_answered_soon(
    world: World, endpoint: EmbeddingServer
) -> None:
    ann = world.user("ann")
    entry = ann.says(new_id(), TEXT)
    settle(world)
    endpoint.mode = "slow"
    started = time.monotonic()
    for number in range(10):
        page = search(ann, f"kayak {number}", "auto")
        assert [hit["entryId"] for hit in page["data"]] == [entry["id"]]
        assert page["degraded"] == ["embedding"]
    assert time.monotonic() - started < 3, "each search waited for the endpoint"


def assert_degraded(user: User, entry: dict[str, Any]) -> None:
    """Words answer, and the page says what is missing."""
    page = search(user, "kayak", "auto")
    assert [hit["entryId"] for hit in page["data"]] == [entry["id"]]
    assert page["degraded"] == ["embedding"]
    page = search(user, "kayak", "semantic")
    assert page == {"data": [], "nextCursor": None, "degraded": ["embedding"]}
    assert "degraded" not in search(user, "kayak", "fulltext")


def assert_whole(user: User, entry: dict[str, Any]) -> None:
    """Every type finds it, and nothing is missing any more."""
    for kind in ("auto", "semantic", "fulltext"):
        assert [hit["entryId"] for hit in user.finds(TEXT, searchType=kind)] == [entry["id"]]


def search(user: User, query: str, kind: str) -> dict[str, Any]:
    page = user.call("search", body={"query": query, "searchType": kind}).expect(200)
    assert isinstance(page, dict)
    return page


def recover(world: World) -> None:
    """Let time pass until nothing waits; a rest that the endpoint is given is of real time."""
    end = time.monotonic() + WAIT_SECONDS
    while waiting(world.database):
        assert time.monotonic() < end, "some entries are not indexed"
        world.clock.advance(**A_WHILE)
        time.sleep(10 * PAUSE_SECONDS)


def wait_for_retries(world: World, *, tries: int, advance: bool = True) -> list[dict[str, Any]]:
    """The retry jobs, when one has failed so often."""
    end = time.monotonic() + WAIT_SECONDS
    while True:
        names = ("last_error", "retry_at", "retry_count", "stuck_at", "claim_id")
        rows = [dict(zip(names, row, strict=True)) for row in world.database.rows(RETRIES)]
        resting = [row for row in rows if row["last_error"] and row["claim_id"] is None]
        if len(resting) == len(rows) and any(row["retry_count"] >= tries for row in rows):
            return rows
        assert time.monotonic() < end, f"not tried {tries} times: {rows}"
        if advance:
            world.clock.advance(**A_WHILE)
        time.sleep(PAUSE_SECONDS)


def wait_for_idle_jobs(database: TestDatabase) -> None:
    """Return when each job of vectors has failed and rests."""
    untried = "SELECT count(*) FROM tasks WHERE task_type = 'vector_store_index'"
    wait_until(lambda: not (claimed(database) or database.rows(untried)[0][0]))


def claimed(database: TestDatabase) -> bool:
    return bool(database.rows("SELECT 1 FROM tasks WHERE claim_id IS NOT NULL"))


def unindexed(database: TestDatabase) -> bool:
    return bool(database.rows("SELECT 1 FROM entries WHERE indexed_at IS NULL"))


def wait_until(true: Any) -> None:
    end = time.monotonic() + WAIT_SECONDS
    while not true():
        assert time.monotonic() < end, "it never became true"
        time.sleep(PAUSE_SECONDS)


def as_time(stored: Any, like: Any) -> Any:
    """A stored instant, which is text on one engine."""
    return type(like).fromisoformat(stored) if isinstance(stored, str) else stored
