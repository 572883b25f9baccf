"""Databases to restore into, of both engines."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.engines import TestDatabase, a_postgres_database, a_sqlite_database

NewTarget = Callable[[str], TestDatabase]


@pytest.fixture
def new_target(tmp_path: Path, postgres_url: str) -> Iterator[NewTarget]:
    """`new_target("postgres")`: a database without any tables."""
    with ExitStack() as stack:

        def make(engine: str) -> TestDatabase:
            if engine == "sqlite":
                return a_sqlite_database(tmp_path)
            return stack.enter_context(a_postgres_database(postgres_url))

        yield make
