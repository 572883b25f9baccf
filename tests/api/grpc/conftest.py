"""A real server for what needs one, an adapter over fakes for what does not. One engine will do:
what gRPC adds is nothing that a database sees."""

from collections.abc import Callable, Iterator

import pytest

from tests.api.grpc.adapter import Adapter, an_adapter
from tests.api.grpc.client import Client
from tests.support.engines import TestDatabase, a_sqlite_database
from tests.support.grpc.api import GrpcApi
from tests.support.world import World


@pytest.fixture(scope="module")
def new_database(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], TestDatabase]:
    """Makes fresh databases."""
    folder = tmp_path_factory.mktemp("database")
    return lambda: a_sqlite_database(folder)


@pytest.fixture(scope="module")
def surface() -> str:
    """Worlds are called over gRPC."""
    return "grpc"


@pytest.fixture(scope="module")
def client(world: World) -> Client:
    """A caller of the running server."""
    return client_of(world)


@pytest.fixture
def adapter() -> Iterator[Adapter]:
    """An adapter over fakes."""
    with an_adapter() as running:
        yield running


def client_of(world: World) -> Client:
    """A caller of this world's server."""
    assert isinstance(world.api, GrpcApi)
    return Client(world.api.channel)
