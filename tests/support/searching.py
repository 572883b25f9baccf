"""What tests of search need beside a world: its vectors, and to know when all of them are there."""

import time
from typing import Any

from tests.support.engines import TestDatabase
from tests.support.servers.embedding import EmbeddingServer
from tests.support.world import User, World

TYPES = ("auto", "fulltext", "semantic")
DIMENSIONS = 1024
WAIT_SECONDS_MAX = 60
PAUSE_SECONDS = 0.02
_WAITING = """
SELECT (SELECT count(*) FROM entries WHERE indexed_content IS NOT NULL AND indexed_at IS NULL)
     + (SELECT count(*) FROM tasks
        WHERE task_type IN ('vector_store_index', 'vector_store_index_retry'))
"""
_WAITING_MEMORIES = """
SELECT (SELECT count(*) FROM memory_index WHERE pending)
     + (SELECT count(*) FROM tasks
        WHERE task_type IN ('memory_vectors', 'memory_vectors_retry', 'memory_reconcile'))
"""


def embedding_flags(server: EmbeddingServer) -> dict[str, Any]:
    """Settings of a server that gets its vectors from this endpoint, and soon."""
    return {
        "embedding.provider": "openai",
        "embedding.openai.base_url": server.url,
        "embedding.openai.dimensions": server.dimensions,
        "embedding.openai.retries": 0,
        "jobs.poll_ms": 10,
    }


def settle(world: World) -> None:
    """Wait until everything that was written is in every index."""
    deadline = time.monotonic() + WAIT_SECONDS_MAX
    while waiting(world.database):
        assert time.monotonic() < deadline, "some entries are not indexed yet"
        time.sleep(PAUSE_SECONDS)


def settle_memories(world: World) -> None:
    """Wait until every memory that was written has its vector and was compared with others."""
    deadline = time.monotonic() + WAIT_SECONDS_MAX
    while waiting_memories(world.database):
        assert time.monotonic() < deadline, "some memories are not indexed yet"
        time.sleep(PAUSE_SECONDS)


def waiting_memories(database: TestDatabase) -> int:
    """How many memories and jobs wait for vectors, or for being compared."""
    return int(database.rows(_WAITING_MEMORIES)[0][0])


def waiting(database: TestDatabase) -> int:
    """How many entries and jobs wait for vectors."""
    return int(database.rows(_WAITING)[0][0])


def walk(user: User, operation: str = "search", **members: Any) -> list[dict[str, Any]]:
    """All results of a search, page by page."""
    found: list[dict[str, Any]] = []
    while True:
        page = user.call(operation, body=members).expect(200)
        found += page["data"]
        if page["nextCursor"] is None:
            return found
        assert page["data"], "a cursor led to an empty page"
        assert len(page["nextCursor"]) <= 100
        members["after"] = page["nextCursor"]
