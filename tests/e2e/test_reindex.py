"""`recollect reindex`, run as its users run it: in a process of its own, on what a server wrote."""

import os
import pty
import signal
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from io import FileIO
from pathlib import Path

import pytest

from tests.conftest import Host
from tests.support.engines import TestDatabase
from tests.support.processes import (
    RECOLLECT,
    WAIT_SECONDS,
    environment,
    run_command,
    start_command,
)
from tests.support.searching import embedding_flags, settle, waiting
from tests.support.servers.embedding import EmbeddingServer
from tests.support.world import new_id

TEXTS = 30
PAUSE_SECONDS = 0.02

Reindex = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def database(new_database: Callable[[], TestDatabase], host: Host) -> TestDatabase:
    """What a server without vectors wrote."""
    made = new_database()
    with host(made) as world:
        for conversation in (new_id(), new_id()):
            for number in range(TEXTS // 2):
                world.named("ann").says(conversation, f"the harbour at dawn, picture {number}")
    return made


@pytest.fixture
def reindex(database: TestDatabase, embeddings: EmbeddingServer, tmp_path: Path) -> Reindex:
    """`reindex(*flags, **settings)`: to its end."""

    def run(*flags: str, **settings: str) -> subprocess.CompletedProcess[str]:
        return run_command(
            tmp_path, "reindex", *flags, **settings_of(database, embeddings, **settings)
        )

    return run


def settings_of(database: TestDatabase, server: EmbeddingServer, **more: str) -> dict[str, str]:
    return {
        "DATABASE__URL": database.url,
        "EMBEDDING__PROVIDER": "openai",
        "EMBEDDING__OPENAI__BASE_URL": server.url,
        "EMBEDDING__OPENAI__DIMENSIONS": str(server.dimensions),
        "EMBEDDING__OPENAI__RETRIES": "0",
        "SERVER__SHUTDOWN_GRACE_SECONDS": "0",
        "LOG__LEVEL": "warning",
    } | more


def models(database: TestDatabase) -> dict[tuple[str, int], int]:
    """How many vectors there are of each model and length."""
    found = database.rows("SELECT model, dimensions, count(*) FROM entry_embeddings GROUP BY 1, 2")
    return {(model, dimensions): count for model, dimensions, count in found}


def test_every_entry_gets_a_vector_each_time_and_the_command_says_so(
    reindex: Reindex, database: TestDatabase, host: Host, embeddings: EmbeddingServer
) -> None:
    done = reindex()
    assert (done.returncode, done.stdout) == (0, f"Done: {TEXTS} texts have new vectors.\n")
    assert f"of {TEXTS} texts" in done.stderr
    assert waiting(database) == 0
    with host(database, **embedding_flags(embeddings)) as world:
        found = world.named("ann").finds("harbour picture 7", searchType="semantic")
        assert found[0]["entry"]["content"][0]["text"].endswith("picture 7")
    asked = len(embeddings.requests)
    assert reindex().returncode == 0
    assert len(embeddings.requests) > asked
    assert sum(models(database).values()) == TEXTS


def test_another_model_replaces_every_vector(reindex: Reindex, database: TestDatabase) -> None:
    reindex(EMBEDDING__OPENAI__MODEL="one")
    (before,) = models(database)
    with EmbeddingServer(dimensions=32) as other:
        settings = {
            "EMBEDDING__OPENAI__MODEL": "two",
            "EMBEDDING__OPENAI__BASE_URL": other.url,
            "EMBEDDING__OPENAI__DIMENSIONS": "32",
        }
        assert reindex(**settings).returncode == 0
    ((after, count),) = models(database).items()
    assert (after[1], count) == (32, TEXTS)
    assert after[0] != before[0]


def test_a_text_that_the_index_lost_is_put_back(
    reindex: Reindex, database: TestDatabase, host: Host
) -> None:
    database.rows("DELETE FROM entry_index")
    database.rows("UPDATE conversation_groups SET index_entries = 0")
    assert f"Done: {TEXTS} texts" in reindex().stdout
    with host(database) as world:
        assert (
            len(world.named("ann").finds("harbour", groupByConversation=False, limit=100)) == TEXTS
        )


def test_no_wait_leaves_the_work_to_a_server(
    reindex: Reindex, database: TestDatabase, host: Host, embeddings: EmbeddingServer
) -> None:
    done = reindex("--no-wait")
    assert done.returncode == 0
    assert "Queued" in done.stdout
    assert models(database) == {}
    with host(database, **embedding_flags(embeddings)) as world:
        deadline = time.monotonic() + WAIT_SECONDS
        while sum(models(database).values()) < TEXTS:
            assert time.monotonic() < deadline
            time.sleep(PAUSE_SECONDS)
        settle(world)


def test_an_interrupted_run_keeps_its_queue_and_says_so(
    reindex: Reindex, database: TestDatabase, embeddings: EmbeddingServer, tmp_path: Path
) -> None:
    embeddings.mode = "slow"
    try:
        settings = settings_of(database, embeddings, JOBS__LEASE_SECONDS="1")
        with start_command(tmp_path, "reindex", **settings) as process:
            shown = process.wait_for_stderr("\n")
            assert process.stop(signal.SIGINT) == 130
    finally:
        embeddings.mode = "ok"
    assert shown == f"0 of {TEXTS} texts\n"
    assert f"{TEXTS} of {TEXTS} texts still wait, and stay queued" in process.stderr()
    assert waiting(database) > 0
    assert f"Done: {TEXTS} texts" in reindex().stdout


def test_a_job_that_was_given_up_is_told(reindex: Reindex, database: TestDatabase) -> None:
    reindex("--no-wait")
    database.rows("UPDATE tasks SET stuck_at = retry_at WHERE task_type = 'vector_store_reindex'")
    done = reindex()
    assert done.returncode == 1
    assert "1 jobs were given up" in done.stderr
    assert "recollect doctor --retry-stuck" in done.stderr


def test_a_terminal_shows_a_bar(
    database: TestDatabase, embeddings: EmbeddingServer, tmp_path: Path
) -> None:
    terminal, its_end = pty.openpty()
    with (
        open(terminal, "rb", buffering=0) as screen,
        ThreadPoolExecutor(1) as reader,
        subprocess.Popen(
            [RECOLLECT, "reindex"],
            cwd=tmp_path,
            env=environment(settings_of(database, embeddings))
            | {"TERM": "xterm", "COLUMNS": "120"},
            stdout=subprocess.PIPE,
            stderr=its_end,
        ) as process,
    ):
        os.close(its_end)
        shown = reader.submit(read_all, screen)
        process.communicate(timeout=WAIT_SECONDS)
    assert process.returncode == 0
    assert "Vectors" in shown.result()
    assert f"{TEXTS}/{TEXTS}" in shown.result()


def read_all(screen: FileIO) -> str:
    """All that comes until nobody writes any more; a terminal tells that by an error."""
    read = b""
    with suppress(OSError):
        while chunk := screen.read(4096):
            read += chunk
    return read.decode()
