"""Logging put back as it was."""

import logging
from collections.abc import Iterator

import pytest
import structlog


@pytest.fixture
def logging_restored() -> Iterator[None]:
    """Undo what `configure` does to the process."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()
