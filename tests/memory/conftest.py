"""Fixtures of the memory family's suites.

Those that mostly call methods of `MemoriesService` run over gRPC too, and of some others the
contract's scenarios. What a surface adds is nothing that an engine sees, so one engine will do,
except for the scenarios.
"""

from collections.abc import Callable, Iterator

import pytest

from tests.memory.doctoring import Ward, a_ward
from tests.memory.shelf import Shelf, a_shelf
from tests.support.engines import ENGINES, TestDatabase
from tests.support.town import Town
from tests.support.world import World

REST = [(engine, "rest") for engine in ENGINES]
GRPC = [(engine, "grpc") for engine in ENGINES]
OVER_GRPC = {
    "batch",
    "changing",
    "chat_reading",
    "disclosure",
    "filters",
    "hidden_rows",
    "history",
    "idempotency",
    "moving",
    "reading",
    "recall",
    "repeating",
    "screening",
    "search",
    "writing",
}
SCENARIOS_OVER_GRPC = {
    "agent_removal",
    "approvals",
    "graph",
    "own_word",
    "reconciliation",
    "runs",
    "search_stages",
    "subjects",
}


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what calls a server on each pair of an engine and a surface that is owed."""
    if "surface" in metafunc.fixturenames:
        pairs = owed_to(metafunc.definition)
        mark = pytest.mark.parametrize(
            ("new_database", "surface"), pairs, indirect=["new_database"], scope="module"
        )
        metafunc.definition.add_marker(mark)


def owed_to(test: pytest.Item) -> list[tuple[str, str]]:
    """The pairs that a test runs on."""
    suite = test.path.stem.removeprefix("test_")
    if test.get_closest_marker("rest_only"):
        return REST
    if test.get_closest_marker("scenario") and suite in OVER_GRPC | SCENARIOS_OVER_GRPC:
        return REST + GRPC
    return REST + GRPC[:1] if suite in OVER_GRPC else REST


@pytest.fixture(scope="module")
def engine(new_database: Callable[[], TestDatabase], surface: str) -> TestDatabase:
    """A fresh database, shared by the tests of one module that use one surface."""
    return new_database()


@pytest.fixture
def town(world: World) -> Town:
    """The default server of tests, and its people."""
    return Town(world)


@pytest.fixture
def shelf(world: World) -> Iterator[Shelf]:
    """The store behind the default server."""
    with a_shelf(world) as opened:
        yield opened


@pytest.fixture
def ward(world: World) -> Iterator[Ward]:
    """The default server, looked after by its doctor."""
    with a_ward(world) as opened:
        yield opened
