"""Two server processes and one worker on one PostgreSQL database, and the ways into them."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.nodes.surfaces import Surfaces
from tests.support.api import RestApi
from tests.support.engines import TestDatabase
from tests.support.grpc.memories import MemoriesApi
from tests.support.processes import on_database, start_command, start_server
from tests.support.searching import embedding_flags
from tests.support.servers.embedding import EmbeddingServer
from tests.support.world import CLIENT_KEYS


@dataclass(frozen=True, slots=True)
class Cluster:
    """Its nodes, each with its surfaces: REST, then gRPC."""

    database: TestDatabase
    nodes: tuple[Surfaces, ...]


@contextmanager
def a_cluster(
    folder: Path, database: TestDatabase, embeddings: EmbeddingServer
) -> Iterator[Cluster]:
    """Two nodes that leave the jobs to a worker. In `local` mode, so that callers need no token."""
    flags = embedding_flags(embeddings)
    settings: dict[str, Any] = {n.upper().replace(".", "__"): value for n, value in flags.items()}
    settings["AUTH__API_KEYS"] = {client: [key] for client, key in CLIENT_KEYS.items()}
    with ExitStack() as stack:
        nodes = []
        for _ in range(2):
            server = start_server(folder, database, JOBS__EMBEDDED_WORKER=False, **settings)
            _, port = stack.enter_context(server)
            apis = [kind(f"http://127.0.0.1:{port}") for kind in (RestApi, MemoriesApi)]
            for api in apis:
                stack.callback(api.close)
            nodes.append(apis)
        worker = on_database(database) | settings
        stack.enter_context(start_command(folder, "worker", **worker))
        yield Cluster(database, tuple(nodes))
