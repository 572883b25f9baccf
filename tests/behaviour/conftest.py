"""The suite runs over REST, gRPC and the handlers without a wire, on a fresh database each time."""

import pytest

from tests.support.surfaces import parametrize_surfaces


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run every test on all surfaces."""
    parametrize_surfaces(metafunc, "grpc", "service")
