"""Clients of a server and of a system in this process, on every engine."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from recollect_client import Recollect
from tests.support.engines import TestDatabase
from tests.support.hosting import a_world
from tests.support.world import CLIENT_KEYS

WAYS = ("remote", "embedded")
EMBEDDED: dict[str, Any] = {"embedding.provider": "none", "log.level": "error"}

NewDatabase = Callable[[], TestDatabase]


@pytest.fixture(scope="module", params=WAYS)
def memory(request: pytest.FixtureRequest, new_database: NewDatabase) -> Iterator[Recollect]:
    """One face, two ways."""
    database = new_database()
    if request.param == "embedded":
        with Recollect.open(database.url, settings=EMBEDDED) as client:
            yield client
        return
    with (
        a_world(database) as world,
        Recollect.connect(server_url(world.api), api_key=CLIENT_KEYS["trusted"]) as client,
    ):
        yield client


def server_url(api: Any) -> str:
    """Where a server of the tests listens."""
    return str(api.http.base_url).removesuffix("/v1/")
