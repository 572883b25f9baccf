"""The clock, a protocol so that tests can stop it. Instants are aware datetimes in UTC."""

from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Source of the current time."""

    def now(self) -> datetime:
        """The present instant, in UTC."""
        ...


class SystemClock:
    """The system clock."""

    def now(self) -> datetime:
        """The present instant, in UTC."""
        return datetime.now(UTC)


def to_text(instant: datetime) -> str:
    """ISO-8601 in UTC with six digits of microseconds and `Z`, so that texts sort by time."""
    return instant.astimezone(UTC).isoformat(timespec="microseconds")[:26] + "Z"


def from_text(text: str) -> datetime:
    """The inverse of `to_text`."""
    return datetime.fromisoformat(text)
