"""A fresh adapter for each test."""

import pytest

from tests.rest.fakes import Rest


@pytest.fixture
def rest() -> Rest:
    return Rest()
