"""The suite runs on each engine and over each surface, on a fresh database each time.

The surfaces are REST, gRPC and the services themselves. What a surface adds is nothing that an
engine sees, so beside REST one engine will do, except for the scenarios of the contract: they hold
on every engine over every surface.
"""

from collections.abc import Callable

import pytest

from tests.support.engines import ENGINES, TestDatabase

REST = [(engine, "rest") for engine in ENGINES]
OTHERS = [(engine, surface) for engine in ENGINES for surface in ("grpc", "service")]
ON_ONE_ENGINE = OTHERS[:2]


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
    if test.get_closest_marker("rest_only"):
        return REST
    return REST + (OTHERS if test.get_closest_marker("scenario") else ON_ONE_ENGINE)


@pytest.fixture(scope="module")
def engine(new_database: Callable[[], TestDatabase], surface: str) -> TestDatabase:
    """A fresh database, shared by the tests of one module that use one surface."""
    return new_database()
