"""Search beside very many entries of other people: nobody's answers change by a bit."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.conftest import Host, SoakSize
from tests.hostile.foreign_entries import put_foreign
from tests.support.engines import TestDatabase
from tests.support.searching import TYPES, embedding_flags, settle
from tests.support.servers.embedding import EmbeddingServer
from tests.support.world import User, World, new_id

Answers = dict[str, Any]

DIMENSIONS = 32
QUERIES = (
    "saffron harvest",
    "When was the saffron harvest in autumn?",
    "what did I say about a heron",
    "saff",
    "a word that nobody said",
)
OWN = (
    "The saffron harvest was in October.",
    "When do you plant them?",
    "In summer, when the soil is dry.",
    "A heron stood by the pond.",
    "We talked about spices of the east.",
)
CLOSER = 60


@pytest.fixture(scope="module")
def endpoint() -> Iterator[EmbeddingServer]:
    """An endpoint that makes vectors."""
    with EmbeddingServer(dimensions=DIMENSIONS) as server:
        yield server


@pytest.fixture
def database(new_database: Callable[[], TestDatabase]) -> TestDatabase:
    """One that two servers share in turn."""
    return new_database()


@pytest.fixture
def start(host: Host, database: TestDatabase, endpoint: EmbeddingServer) -> Callable[[], Any]:
    """Starts a server on that database."""
    named = {key.replace(".", "__"): value for key, value in embedding_flags(endpoint).items()}
    return lambda: host(database, **named)


def test_scores_beside_foreign_rows_are_equal_bit_by_bit(
    start: Callable[[], Any], database: TestDatabase, soak_size: SoakSize
) -> None:
    with start() as world:
        ann, bob = said(world, "ann"), said(world, "bob")
        before = [answers(user) for user in (ann, bob, world.named("nobody"))]
        assert any(page["data"] for page in before[0].values())
        stranger = strangers(database, soak_size(10_000, 100_000))
        for kind in TYPES:
            assert len(world.named(stranger).finds("saffron harvest", searchType=kind)) == 20
        assert [answers(user) for user in (ann, bob, world.named("nobody"))] == before
    with start() as world:
        again = [answers(world.named(name)) for name in (ann.name, bob.name, "nobody")]
        assert again == before


@pytest.mark.parametrize("kind", TYPES)
def test_closer_foreign_rows_push_nobody_out(
    start: Callable[[], Any], database: TestDatabase, kind: str
) -> None:
    with start() as world:
        ann = said(world, "ann")
        strangers(database, CLOSER, texts=["saffron harvest"])
        found = ann.finds("saffron harvest", searchType=kind, limit=1)
        assert found[0]["entry"]["content"][0]["text"] == OWN[0]


def test_a_stranger_sees_no_difference(start: Callable[[], Any], database: TestDatabase) -> None:
    """Neither in pages nor in cursors, and no stage is said to have failed."""
    with start() as world:
        sam = world.user("sam")
        before = answers(sam)
        assert all(page == {"data": [], "nextCursor": None} for page in before.values())
        strangers(database, CLOSER, texts=list(QUERIES))
        assert answers(sam) == before


def said(world: World, name: str) -> User:
    """Somebody who has said a few things, the first of them in one conversation."""
    user, talk = world.user(name), new_id()
    for text in OWN[:3]:
        user.says(talk, text)
    for text in OWN[3:]:
        user.says(new_id(), text)
    settle(world)
    return user


def strangers(database: TestDatabase, count: int, texts: list[str] | None = None) -> str:
    """Somebody else who said the same, and what is asked for, much more often."""
    owner = f"stranger-{new_id()}"
    put_foreign(
        database,
        texts or [*OWN, *QUERIES],
        count,
        owner=owner,
        model=f"text-embedding-3-small/{DIMENSIONS}",
        dimensions=DIMENSIONS,
    )
    return owner


def answers(user: User) -> Answers:
    """Whole pages, with scores, highlights and cursors, by question."""
    return {
        f"{query} {kind} {grouped} {limit}": user.call(
            "search",
            body={
                "query": query,
                "searchType": kind,
                "groupByConversation": grouped,
                "limit": limit,
            },
        ).expect(200)
        for query in QUERIES
        for kind in TYPES
        for grouped in (True, False)
        for limit in (1, 20)
    }
