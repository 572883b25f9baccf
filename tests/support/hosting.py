"""From settings to a world: builds the application as the server does and runs it."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from recollect.app.application import App, build
from recollect.app.in_process import InProcessApp
from recollect.app.loop_thread import LoopThread
from recollect.embedded import EmbeddedSystem
from recollect.settings import Settings
from recollect.settings.load import load
from tests.support.api import RestApi
from tests.support.client.api import ClientApi, client_in_process, client_of_server
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
    "client": lambda server, _: client_of_server(server.url),
}


@contextmanager
def a_world(
    database: TestDatabase, flags: Mapping[str, Any] | None = None, *, surface: str = "rest"
) -> Iterator[World]:
    """A running server on the database, called over this surface, stopped afterwards."""
    chosen = DEFAULT_FLAGS | {"database.url": database.url} | dict(flags or {})
    clock = TestClock()
    settings = load(flags=chosen, environ={}).settings
    if surface == "embedded":
        with in_process(settings, clock) as embedded:
            yield World(embedded, clock, database)
        return
    app = build(settings, clock=clock)
    server = RunningServer(app.asgi, app.http_protocol)
    app.set_listen_address(*server.address)
    server.start()
    api = SURFACES[surface](server, app)
    try:
        yield World(api, clock, database)
    finally:
        api.close()
        server.stop()


@contextmanager
def in_process(settings: Settings, clock: TestClock) -> Iterator[ClientApi]:
    """The same system without a server, as `Recollect.open` runs it; closed afterwards."""
    thread = LoopThread("tests")

    async def start() -> InProcessApp:
        app = InProcessApp(settings, clock=clock)
        await app.open()
        return app

    system = EmbeddedSystem(thread, thread.submit(start()).result())
    api = client_in_process(system.transport())
    try:
        yield api
    finally:
        api.close()
        system.close()
