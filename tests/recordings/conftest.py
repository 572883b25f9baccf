"""A server in this process for what one node shows, pairs of real processes for the rest."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.recordings.callers import Node
from tests.recordings.nodes import NodeProcess, a_node
from tests.support.engines import TestDatabase, a_postgres_database, a_sqlite_database
from tests.support.hosting import a_world
from tests.support.servers.redis import RedisServer, a_redis_server
from tests.support.world import World

Pair = tuple[NodeProcess, NodeProcess]
StartNode = Callable[..., AbstractContextManager[NodeProcess]]


@pytest.fixture(scope="module")
def redis_server() -> Iterator[RedisServer]:
    """Shared by the nodes of one module."""
    with a_redis_server() as server:
        yield server


@pytest.fixture(scope="module")
def shared_database(postgres_url: str) -> Iterator[TestDatabase]:
    """A PostgreSQL database for several nodes."""
    with a_postgres_database(postgres_url) as database:
        yield database


@pytest.fixture(scope="module", params=("database", "redis"))
def pair(
    request: pytest.FixtureRequest,
    shared_database: TestDatabase,
    redis_server: RedisServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Pair]:
    """Two nodes, with each locator that needs nothing but what is here."""
    folder = tmp_path_factory.mktemp("pair")
    settings = {"RECORDER__LOCATORS": request.param, "REDIS__URL": redis_server.url}
    with ExitStack() as stack:
        first, second = (
            stack.enter_context(a_node(folder, shared_database, **settings)) for _ in "12"
        )
        yield first, second


@pytest.fixture
def start_node(shared_database: TestDatabase, tmp_path: Path) -> StartNode:
    """`with start_node(**settings) as node`: a process for tests that end or trouble it."""
    return lambda **settings: a_node(tmp_path, shared_database, **settings)


class OneNode(Node):
    """A server in this process."""

    def __init__(self, port: int, world: World, folder: Path) -> None:
        super().__init__(port)
        self.clock = world.clock
        self.database = world.database
        self.folder = folder

    def recording_files(self) -> list[Path]:
        """The files of its recordings."""
        return sorted(self.folder.glob("*"))

    def locations(self) -> list[str]:
        """The keys of all locations, with the locator `database`."""
        rows = self.database.rows("SELECT key FROM recording_locations")
        return [key for (key,) in rows]


Serving = Callable[..., AbstractContextManager[OneNode]]


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Serving:
    """`with serving(**settings) as node`, where `__` stands for the dot: a server in this process,
    in `local` mode, with the locator `database`, that keeps nothing after the end."""

    @contextmanager
    def start(**flags: Any) -> Iterator[OneNode]:
        folder = tmp_path_factory.mktemp("one")
        database = a_sqlite_database(folder)
        chosen: dict[str, Any] = {
            "auth.mode": "local",
            "recorder.directory": folder / "recordings",
            "recorder.locators": "database",
            "recorder.keep_seconds": 0,
        } | {name.replace("__", "."): value for name, value in flags.items()}
        with a_world(database, chosen) as world:
            port = int(world.api.http.base_url.port or 0)
            node = OneNode(port, world, Path(chosen["recorder.directory"]))
            try:
                yield node
            finally:
                node.close()

    return start


@pytest.fixture(scope="module")
def node(serving: Serving) -> Iterator[OneNode]:
    """One of them, for all tests of a module."""
    with serving() as running:
        yield running
