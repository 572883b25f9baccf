"""From settings to a world: builds the application as the server does and runs it."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from recollect.app.application import App, build
from recollect.settings.load import load
from tests.support.api import RestApi
from tests.support.clock import TestClock
from tests.support.engines import TestDatabase
from tests.support.grpc.memories import MemoriesApi
from tests.support.servers.thread import RunningServer
from tests.support.services.api import ServiceApi
from tests.support.world import ADMIN, AUDITOR, CLIENT_KEYS, INDEXER, JWT_SECRET, World

DEFAULT_FLAGS: dict[str, Any] = {
    "auth.mode": "jwt",
    "auth.jwt_secret": JWT_SECRET,
    "auth.api_keys": {client: [key] for client, key in CLIENT_KEYS.items()},
    "auth.trusted_clients": ["trusted"],
    # Tests share an address, and many of them try bad credentials.
    "auth.failures_per_minute": 0,
    "auth.roles": {
        "admin": {"users": [ADMIN]},
        "auditor": {"users": [AUDITOR], "token_roles": ["auditor"]},
        "indexer": {"users": [INDEXER]},
    },
    # Only tests of search need vectors, and they say from where.
    "embedding.provider": "none",
    "database.migrate_at_start": True,
    "log.level": "error",
}


SURFACES: dict[str, Callable[[RunningServer, App], RestApi]] = {
    "rest": lambda server, _: RestApi(server.url),
    "grpc": lambda server, _: MemoriesApi(server.url),
    "service": lambda server, app: ServiceApi(server.url, app, server.loop),
}


@contextmanager
def a_world(
    database: TestDatabase, flags: Mapping[str, Any] | None = None, *, surface: str = "rest"
) -> Iterator[World]:
    """A running server on the database, called over this surface, stopped afterwards."""
    chosen = DEFAULT_FLAGS | {"database.url": database.url} | dict(flags or {})
    clock = TestClock()
    app = build(load(flags=chosen, environ={}).settings, clock=clock)
    server = RunningServer(app.asgi, app.http_protocol)
    app.set_listen_address(*server.address)
    server.start()
    api = SURFACES[surface](server, app)
    try:
        yield World(api, clock, database)
    finally:
        api.close()
        server.stop()
