"""A queue under a clock that tests move, and workers on it."""

from collections.abc import Callable, Iterator

import pytest

from tests.support.clock import TestClock
from tests.support.engines import TestDatabase
from tests.support.job_queue import JobQueue
from tests.support.storage import a_storage


@pytest.fixture(scope="module")
def shared(new_database: Callable[[], TestDatabase]) -> Iterator[JobQueue]:
    """One database for the tests of a module."""
    clock = TestClock()
    with a_storage(new_database(), clock=clock) as storage:
        yield JobQueue(storage, clock)


@pytest.fixture
def job_queue(shared: JobQueue) -> JobQueue:
    """The same, with an empty queue."""
    shared.clear()
    return shared
