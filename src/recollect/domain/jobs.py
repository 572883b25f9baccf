"""Background work: written in the transaction that caused it, tried a bounded number of times."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

LEASE_SECONDS = 60
_BACK_OFF_SECONDS_MAX = 3_600
_OUTAGE_SECONDS_MAX = 60


@dataclass(frozen=True, slots=True)
class Job:
    """A job as its handler gets it. `attempt` counts from 1."""

    id: str
    type: str
    body: dict[str, Any]
    attempt: int


@dataclass(frozen=True, slots=True)
class NewJob:
    """A job to queue. Of two with one name, only the first is queued."""

    type: str
    body: dict[str, Any]
    due_at: datetime
    name: str | None = None


@dataclass(frozen=True, slots=True)
class QueueState:
    """What an operator wants to know: how much waits, for how long, and what is stuck."""

    depth: int
    stuck: int
    oldest_due_at: datetime | None


def back_off(attempt: int, *, outage: bool = False) -> timedelta:
    """How long to wait after the given failed attempt: 2, 4, 8 … seconds, an hour at the most.

    What only waits for another system to come back looks again every minute at least.
    """
    most = _OUTAGE_SECONDS_MAX if outage else _BACK_OFF_SECONDS_MAX
    return timedelta(seconds=min(2 ** min(attempt, 20), most))
