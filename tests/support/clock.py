"""A clock that tests can hold still or move on, so that many rows get one and the same instant."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta


class TestClock:
    """The machine's clock plus an offset that only grows; while held, always the same instant."""

    __test__ = False

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._offset = timedelta()
        self._held: datetime | None = None

    def now(self) -> datetime:
        """The present instant, in UTC."""
        with self._lock:
            return self._held or datetime.now(UTC) + self._offset

    def advance(self, **by: float) -> datetime:
        """Move on by `timedelta(**by)`; a held clock stays held, later. Returns the new instant."""
        with self._lock:
            self._offset += timedelta(**by)
            if self._held is not None:
                self._held += timedelta(**by)
        return self.now()

    @contextmanager
    def hold(self) -> Iterator[datetime]:
        """Let time stand still inside the block."""
        instant = self.now()
        with self._lock:
            self._held = instant
        try:
            yield instant
        finally:
            with self._lock:
                self._held = None
