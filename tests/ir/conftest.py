"""Fixtures of the embedded store's suite: stores on each engine."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from recollect.ir import AbstractMemoryStore
from tests.ir.library import Library, a_store
from tests.support.engines import EMPTY, TestDatabase


@pytest.fixture(scope="session")
def postgres_origin() -> str:
    """A store makes its tables itself."""
    return EMPTY


@pytest.fixture(scope="module")
def library(engine: TestDatabase) -> Iterator[Library]:
    """A store that the tests of one module share; each keeps to agents of its own."""
    store = a_store(engine)
    asyncio.run(store.initialize())
    yield Library(store, engine)
    asyncio.run(store.close())


@pytest.fixture
def fresh(
    new_database: Callable[[], TestDatabase], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Library]:
    """A store of one's own, in a folder of one's own."""
    monkeypatch.chdir(tmp_path)
    database = new_database()
    store = a_store(database)
    asyncio.run(store.initialize())
    yield Library(store, database)
    asyncio.run(store.close())


@pytest.fixture
def opened(new_database: Callable[[], TestDatabase]) -> Iterator[Callable[[], AbstractMemoryStore]]:
    """Makes stores that are not open yet; they are closed afterwards."""
    with ExitStack() as stack:

        def make() -> AbstractMemoryStore:
            store = a_store(new_database())
            stack.callback(lambda: asyncio.run(store.close()))
            return store

        yield make
