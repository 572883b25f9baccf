"""Workers are killed while they make vectors; in the end every entry has its own, once."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from tests.conftest import Host, SoakSize
from tests.crash.test_worker import LEASE, number, wait_until
from tests.support.engines import TestDatabase
from tests.support.processes import on_database, run_doctor, start_command
from tests.support.servers.embedding import EmbeddingServer, Mode, bag_of_words
from tests.support.world import World, new_id

NewDatabase = Callable[[], TestDatabase]

DIMENSIONS = 64
MODEL = "counting-words"
TEXTS_PER_TREE = 2
LATENCY_SECONDS = 0.01
# All but what comes back regularly and was not tried yet.
JOBS = """
SELECT count(*) FROM tasks
WHERE retry_count > 0 OR task_type IN ('vector_store_index', 'vector_store_index_retry')
"""
DONE = "SELECT count(*) FROM entries WHERE indexed_at IS NOT NULL"
VECTORS = """
SELECT e.id, e.indexed_content, v.embedding, v.model, v.window_embedding IS NOT NULL
FROM entries e LEFT JOIN entry_embeddings v ON v.entry_id = e.id
"""


class SlowerServer(EmbeddingServer):
    """Takes its time, so that a kill meets a job at hand."""

    def answer(self, mode: Mode, texts: Sequence[str]) -> bytes:
        time.sleep(LATENCY_SECONDS)
        return super().answer(mode, texts)


def test_every_entry_is_indexed_once_though_workers_are_killed(
    new_database: NewDatabase, host: Host, tmp_path: Path, soak_size: SoakSize
) -> None:
    database = new_database()
    trees, kills = soak_size(100, 1_000), soak_size(2, 20)
    with SlowerServer(dimensions=DIMENSIONS) as server:
        flags = settings_of(server)
        with host(database, jobs__embedded_worker=False, **flags) as world:
            append(world, trees)
        assert number(database, DONE) == 0
        assert number(database, JOBS) >= trees
        for kill in range(kills):
            wanted = (kill + 1) * trees * TEXTS_PER_TREE // (kills + 2)
            with a_worker(tmp_path, database, flags) as worker:
                wait_until(lambda wanted=wanted: number(database, DONE) >= wanted)  # type: ignore[misc]
                worker.kill()
            assert number(database, JOBS) > 0, "the kill came too late"
        with a_worker(tmp_path, database, flags) as worker:
            wait_until(lambda: number(database, JOBS) == 0)
            assert worker.stop() == 0
    check(database, trees * TEXTS_PER_TREE)
    assert run_doctor(tmp_path, database)["queue"] == {"depth": 0, "stuck": 0}


def settings_of(server: EmbeddingServer) -> dict[str, Any]:
    """Flags of a server that gets its vectors from this endpoint."""
    return {
        "embedding__provider": "openai",
        "embedding__openai__base_url": server.url,
        "embedding__openai__model": MODEL,
        "embedding__openai__dimensions": server.dimensions,
    }


def append(world: World, trees: int) -> None:
    """So many conversations, each with a job that waits."""
    ann = world.user("ann")
    for tree in range(trees):
        conversation = new_id()
        for place in range(TEXTS_PER_TREE):
            ann.says(conversation, f"words of tree{tree} at place{place}")


@contextmanager
def a_worker(folder: Path, database: TestDatabase, flags: dict[str, Any]) -> Iterator[Any]:
    """A worker with a short lease, so that a killed one's jobs come back soon."""
    named = {name.upper(): value for name, value in flags.items()}
    settings = on_database(database) | LEASE | named
    with start_command(folder, "worker", **settings) as worker:
        yield worker


def check(database: TestDatabase, entries: int) -> None:
    """Every entry has one vector, that of its text by the current model, and nothing waits."""
    rows = database.rows(VECTORS)
    assert len({str(id_) for id_, *_ in rows}) == len(rows) == entries
    for _, text, vector, model, has_window in rows:
        assert (model, has_window) == (f"{MODEL}/{DIMENSIONS}", True)
        np.testing.assert_allclose(numbers(vector), bag_of_words(text, DIMENSIONS), atol=1e-6)
    assert number(database, DONE) == entries
    assert number(database, "SELECT count(*) FROM entry_index WHERE NOT pending") == entries
    assert number(database, "SELECT count(*) FROM entry_embeddings") == entries


def numbers(stored: bytes | str) -> Any:
    """A stored vector: bytes of one engine, text of the other."""
    return np.frombuffer(stored, ">f4") if isinstance(stored, bytes) else json.loads(stored)
