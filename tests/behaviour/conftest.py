"""The suite runs over REST, gRPC, the handlers without a wire and the Python client of a server and
of a system in the process, on a fresh database each time."""

import pytest

from tests.support.surfaces import CLIENTS, parametrize_surfaces


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run every test on all surfaces."""
    parametrize_surfaces(metafunc, "grpc", "service", *CLIENTS)
