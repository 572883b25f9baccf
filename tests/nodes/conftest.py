"""Nodes share a PostgreSQL database; nothing else tells them of each other."""

from collections.abc import Iterator

import pytest

from tests.nodes.pair import Pair, a_pair
from tests.support.engines import a_postgres_database
from tests.support.servers.embedding import EmbeddingServer


@pytest.fixture(scope="module")
def pair(postgres_url: str, embeddings: EmbeddingServer) -> Iterator[Pair]:
    """Two nodes, shared by the tests of one module."""
    with a_postgres_database(postgres_url) as database, a_pair(database, embeddings) as running:
        yield running
