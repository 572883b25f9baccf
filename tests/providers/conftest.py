"""Hypothesis without a deadline, no proxy, and logging put back as it was."""

import logging
from collections.abc import Iterator

import pytest
import structlog
from hypothesis import settings

settings.register_profile("recollect", deadline=None)
settings.load_profile("recollect")


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The issuers of these tests are on this machine, whatever its environment says."""
    monkeypatch.setenv("no_proxy", "*")


@pytest.fixture
def logging_restored() -> Iterator[None]:
    """Undo what `logs.configure` does to the process."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()
