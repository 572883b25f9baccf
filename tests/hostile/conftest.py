"""A server whose worker rests, so that nothing is written but what requests write."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.hostile.sample_tree import SampleTree, a_sample_tree
from tests.hostile.secret_world import Scene, a_scene
from tests.hostile.stored import nothing_stored
from tests.support.engines import TestDatabase
from tests.support.hosting import a_world
from tests.support.searching import embedding_flags
from tests.support.servers.embedding import EmbeddingServer
from tests.support.world import World


@pytest.fixture(scope="module")
def world(engine: TestDatabase, embeddings: EmbeddingServer) -> Iterator[World]:
    """A server without background work. Every kind of search is on, though no vector is stored."""
    flags = embedding_flags(embeddings) | {"jobs.embedded_worker": False}
    with a_world(engine, flags) as running:
        yield running


@pytest.fixture(scope="module")
def sample_tree(world: World) -> SampleTree:
    """A tree with something of everything in it."""
    return a_sample_tree(world)


@pytest.fixture
def untouched(sample_tree: SampleTree) -> Iterator[None]:
    """Fails the test if a row was added, changed or removed meanwhile."""
    with nothing_stored(sample_tree.world.database):
        yield


@pytest.fixture(scope="module")
def scenes(new_database: Callable[[], TestDatabase]) -> Iterator[tuple[Scene, Scene]]:
    """Two worlds, one with secrets and one without."""
    with ExitStack() as stack:
        full = stack.enter_context(a_scene(new_database(), secrets=True))
        yield full, stack.enter_context(a_scene(new_database(), secrets=False))
