"""Databases that have nothing in them, on both engines."""

import pytest

from tests.support.engines import EMPTY


@pytest.fixture(scope="session")
def postgres_origin() -> str:
    """Here tables are what is tested."""
    return EMPTY
