"""The system in this process: safe for threads and event loops, and one file with the server."""

import asyncio
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from recollect_client import AsyncRecollect, Recollect, RecollectError, ServerUnreachable
from tests.client.conftest import EMBEDDED, NewDatabase, server_url
from tests.support.hosting import a_world
from tests.support.world import CLIENT_KEYS

THREADS, WRITES_EACH = 8, 10


def test_threads_share_a_client(new_database: NewDatabase) -> None:
    with Recollect.open(new_database().url, settings=EMBEDDED) as memory:

        def write(thread: int) -> None:
            for number in range(WRITES_EACH):
                memory.user("ann").remember(f"Thread {thread} says {number}.")

        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(write, range(THREADS)))
        assert len(list(memory.user("ann").memories(limit=50))) == THREADS * WRITES_EACH


def test_event_loops_share_a_client(new_database: NewDatabase) -> None:
    memory = AsyncRecollect.open(new_database().url, settings=EMBEDDED)

    async def write(number: int) -> None:
        await asyncio.gather(
            *(memory.user("ann").remember(f"Loop {number} says {one}.") for one in range(5))
        )

    async def count() -> int:
        found = [one async for one in memory.user("ann").memories()]
        await memory.aclose()
        return len(found)

    asyncio.run(write(1))
    asyncio.run(write(2))
    assert asyncio.run(count()) == 10


def test_a_file_of_this_process_opens_in_a_server_and_back(new_database: NewDatabase) -> None:
    database = new_database()
    with Recollect.open(database.url, settings=EMBEDDED) as memory:
        first = memory.user("ann").remember("Written without a server.")
    with a_world(database) as world:
        url, key = server_url(world.api), CLIENT_KEYS["trusted"]
        with Recollect.connect(url, api_key=key) as remote:
            assert remote.user("ann").get(first.id).content == "Written without a server."
            second = remote.user("ann").remember("Written on a server.")
    with Recollect.open(database.url, settings=EMBEDDED) as memory:
        assert memory.user("ann").get(second.id).content == "Written on a server."


def test_a_closed_client_says_so(new_database: NewDatabase) -> None:
    memory = Recollect.open(new_database().url, settings=EMBEDDED)
    memory.close()
    memory.close()
    with pytest.raises(ServerUnreachable, match="closed"):
        memory.user("ann").remember("Too late.")


def test_a_bad_setting_is_named() -> None:
    with pytest.raises(RecollectError, match=r"retention\.profil"):
        Recollect.open("x.db", settings={"retention.profil": "none"})


def test_who_asks_is_the_user_of_the_client_if_no_handle_says_so(
    new_database: NewDatabase,
) -> None:
    with Recollect.open(new_database().url, user="ann", settings=EMBEDDED) as memory:
        talk = memory.conversation()
        talk.append("Hello")
        assert talk.details().owner_user_id == "ann"


def test_the_client_alone_loads_nothing_of_the_server() -> None:
    loaded = "import sys, recollect_client; print(*sys.modules)"
    modules = subprocess.run(
        [sys.executable, "-c", loaded], capture_output=True, text=True, check=True
    ).stdout.split()
    heavy = {"recollect", "sqlalchemy", "grpc", "numpy", "onnxruntime", "starlette", "apsw"}
    assert heavy.isdisjoint(modules)
