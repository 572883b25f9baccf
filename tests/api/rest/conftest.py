"""A fresh adapter for each test."""

import pytest

from tests.api.fakes import Rest


@pytest.fixture
def rest() -> Rest:
    return Rest()
