"""A server with its doctor."""

from collections.abc import Iterator

import pytest

from tests.doctor.doctor_server import DoctorServer, a_doctor_server
from tests.support.world import World


@pytest.fixture
def server(world: World) -> Iterator[DoctorServer]:
    """The default server, looked after by its doctor."""
    with a_doctor_server(world) as opened:
        yield opened
