"""A server with its doctor."""

from collections.abc import Iterator

import pytest

from tests.doctor.doctored_server import Ward, a_ward
from tests.support.world import World


@pytest.fixture
def ward(world: World) -> Iterator[Ward]:
    """The default server, looked after by its doctor."""
    with a_ward(world) as opened:
        yield opened
