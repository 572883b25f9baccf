"""Fixtures of all suites: engines, servers, worlds. A missing engine is a failure, never a skip."""

import gc
import importlib
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import pytest
from hypothesis import settings

from tests.support import searching
from tests.support.engines import (
    ENGINES,
    TestDatabase,
    a_fast_folder,
    a_postgres_database,
    a_postgres_server,
    a_sqlite_database,
)
from tests.support.memory.callers import Callers
from tests.support.servers.embedding import EmbeddingServer
from tests.support.surfaces import parametrize_surfaces
from tests.support.world import World

# A slow machine is not a broken rule.
settings.register_profile("recollect", deadline=None)
settings.load_profile("recollect")

SoakSize = Callable[[int, int], int]
Host = Callable[..., AbstractContextManager[World]]
Serve = Callable[..., World]


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--soak` gives long proofs their full size."""
    parser.addoption("--soak", action="store_true", help="run long proofs at their full size")


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers."""
    # With it gRPC writes a line to stderr when a process is started in the middle of a call.
    os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"
    config.addinivalue_line("markers", "scenario(number): proves this scenario of the contract")
    config.addinivalue_line("markers", "amendment(number): proves this change to the contract")
    config.addinivalue_line("markers", "rest_only(reason): no other surface has it to prove")
    config.addinivalue_line("markers", "surfaces(name, scenarios_only): also over these surfaces")
    config.addinivalue_line("markers", "long: takes so long that it has to begin early")


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what is marked so over other surfaces than REST too."""
    mark = metafunc.definition.get_closest_marker("surfaces")
    if mark:
        parametrize_surfaces(metafunc, *mark.args, **mark.kwargs)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with files that take long: as the last ones they would keep all but one worker idle."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


def pytest_collection_finish() -> None:
    """What collection made stays: without it the collector takes a tenth of the time of a run."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The servers of tests are on this machine, whatever its environment says."""
    monkeypatch.setenv("no_proxy", "*")


@pytest.fixture(scope="session")
def soak_size(request: pytest.FixtureRequest) -> SoakSize:
    """`soak_size(small, full)`: how large a long proof is in this run."""
    full_run = bool(request.config.getoption("--soak"))
    return lambda small, full: full if full_run else small


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A PostgreSQL server, shared by all workers of a run."""
    with a_postgres_server(os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))) as url:
        yield url


@pytest.fixture(scope="session")
def postgres_origin(postgres_url: str) -> Iterator[str]:
    """The name of a database with our tables: to copy it takes a tenth of the time to make it."""
    with a_postgres_database(postgres_url) as database:
        with _storage().a_storage(database):
            pass
        yield database.name


@pytest.fixture(scope="module", params=ENGINES)
def new_database(request: pytest.FixtureRequest) -> Iterator[Callable[[], TestDatabase]]:
    """Makes fresh databases of each engine in turn: a file that is not there yet, or a copy."""
    with ExitStack() as stack:
        if request.param == "sqlite":
            folder = stack.enter_context(a_fast_folder())
            yield lambda: a_sqlite_database(folder)
        else:
            url = request.getfixturevalue("postgres_url")
            origin = request.getfixturevalue("postgres_origin")
            yield lambda: stack.enter_context(a_postgres_database(url, origin))


@pytest.fixture(scope="module")
def engine(new_database: Callable[[], TestDatabase], surface: str) -> TestDatabase:
    """A fresh database, shared by the tests of one module that use one surface."""
    return new_database()


@pytest.fixture(scope="module")
def surface() -> str:
    """How worlds are called; suites that hold on every surface put others here."""
    return "rest"


@pytest.fixture(scope="module")
def world(engine: TestDatabase, surface: str) -> Iterator[World]:
    """A server in its default setting for tests: `jwt` mode, clients k1, k2 and a trusted one."""
    with _hosting().a_world(engine, surface=surface) as running:
        yield running


@pytest.fixture(scope="module")
def storage(engine: TestDatabase) -> Iterator[Any]:
    """A running engine on a fresh database."""
    with _storage().a_storage(engine) as running:
        yield running


@pytest.fixture
def callers(world: World) -> Callers:
    """The default server, and its people."""
    return Callers(world)


@pytest.fixture
def stored_memories(world: World) -> Iterator[Any]:
    """The store behind the default server."""
    with importlib.import_module("tests.support.memory.store").open_stored_memories(
        world
    ) as opened:
        yield opened


@pytest.fixture(scope="module")
def embeddings() -> Iterator[EmbeddingServer]:
    """An endpoint that makes vectors, for worlds that search by meaning."""
    with EmbeddingServer(dimensions=searching.DIMENSIONS) as server:
        yield server


@pytest.fixture(scope="module")
def vector_world(
    engine: TestDatabase, embeddings: EmbeddingServer, surface: str
) -> Iterator[World]:
    """The same server as `world`, with every kind of search."""
    flags = searching.embedding_flags(embeddings)
    with _hosting().a_world(engine, flags, surface=surface) as running:
        yield running


@pytest.fixture
def host(new_database: Callable[[], TestDatabase], surface: str) -> Host:
    """`with host(**flags) as world`: another server, on `database` or on a fresh one.

    In the name of a flag `__` stands for the dot.
    """

    def start(database: TestDatabase | None = None, **flags: Any) -> AbstractContextManager[World]:
        dotted = {name.replace("__", "."): value for name, value in flags.items()}
        running: AbstractContextManager[World] = _hosting().a_world(
            database or new_database(), dotted, surface=surface
        )
        return running

    return start


@pytest.fixture
def serve(host: Host) -> Iterator[Serve]:
    """`serve(**flags)`: the same, until the end of the test."""
    with ExitStack() as stack:
        yield lambda *args, **flags: stack.enter_context(host(*args, **flags))


def _storage() -> Any:
    """Loaded by those who need it, for the same reason as `_hosting`."""
    return importlib.import_module("tests.support.storage")


def _hosting() -> Any:
    """Loaded by those who need it: suites of the inner layers run without the server's modules."""
    return importlib.import_module("tests.support.hosting")
