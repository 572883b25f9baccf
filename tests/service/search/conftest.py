"""A running engine on a fresh database, shared by the tests of one module."""

from collections.abc import Iterator

import pytest

from tests.store.storage import Storage, a_storage
from tests.support.engines import TestDatabase


@pytest.fixture(scope="module")
def storage(engine: TestDatabase) -> Iterator[Storage]:
    """Each engine in turn."""
    with a_storage(engine) as running:
        yield running
