"""The suite runs on each engine over each surface, on a fresh database each time."""

from collections.abc import Callable

import pytest

from tests.support.engines import TestDatabase

SURFACES = ("rest", "grpc")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that calls a server does so over each surface, unless it is marked for REST alone."""
    if "surface" in metafunc.fixturenames:
        alone = metafunc.definition.get_closest_marker("rest_only")
        metafunc.parametrize("surface", SURFACES[:1] if alone else SURFACES, scope="module")


@pytest.fixture(scope="module")
def engine(new_database: Callable[[], TestDatabase], surface: str) -> TestDatabase:
    """A fresh database, shared by the tests of one module that use one surface."""
    return new_database()
