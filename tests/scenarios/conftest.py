"""A server of its own process, with everything it logs on file."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from tests.hostile.process import ServerProcess, a_server_process
from tests.support.api import RestApi
from tests.support.clock import TestClock
from tests.support.engines import TestDatabase
from tests.support.memory.callers import Callers
from tests.support.world import World


@dataclass(frozen=True, slots=True)
class LoggedServer:
    """A server, and all that it writes down."""

    callers: Callers
    process: ServerProcess

    def written(self) -> str:
        """Its log and its database, in lower case."""
        return (self.process.logged_of_all() + self.process.database.stored_text()).lower()


@pytest.fixture(scope="module")
def logged_server(
    new_database: Callable[[], TestDatabase], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LoggedServer]:
    """Shared by the tests of one module. Its clock is the machine's."""
    with a_server_process(new_database(), tmp_path_factory.mktemp("watched")) as process:
        api = RestApi(f"http://127.0.0.1:{process.port}")
        yield LoggedServer(Callers(World(api, TestClock(), process.database)), process)
        api.close()
