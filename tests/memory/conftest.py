"""Fixtures of the memory family's suites."""

from collections.abc import Iterator

import pytest

from tests.memory.doctoring import Ward, a_ward
from tests.memory.shelf import Shelf, a_shelf
from tests.support.town import Town
from tests.support.world import World


@pytest.fixture
def town(world: World) -> Town:
    """The default server of tests, and its people."""
    return Town(world)


@pytest.fixture
def shelf(world: World) -> Iterator[Shelf]:
    """The store behind the default server."""
    with a_shelf(world) as opened:
        yield opened


@pytest.fixture
def ward(world: World) -> Iterator[Ward]:
    """The default server, looked after by its doctor."""
    with a_ward(world) as opened:
        yield opened
