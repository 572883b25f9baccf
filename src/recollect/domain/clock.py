"""Time comes from a Clock, so tests can hold it still. Instants are aware datetimes in UTC."""

from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Says what time it is."""

    def now(self) -> datetime:
        """The present instant, in UTC."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """The present instant, in UTC."""
        return datetime.now(UTC)


def to_text(instant: datetime) -> str:
    """ISO-8601, UTC, always six digits of microseconds, `Z`: text order is time order."""
    return instant.astimezone(UTC).isoformat(timespec="microseconds")[:26] + "Z"


def from_text(text: str) -> datetime:
    """The inverse of `to_text`."""
    return datetime.fromisoformat(text)
