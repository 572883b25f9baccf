"""Fixtures of the memory family's suites."""

import pytest

from tests.support.town import Town
from tests.support.world import World


@pytest.fixture
def town(world: World) -> Town:
    """The default server of tests, and its people."""
    return Town(world)
