"""Background jobs: queued in the transaction that causes them, tried a limited number of times."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

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
    """A job to queue. If a job of the same name is queued already, it is not queued again."""

    type: str
    body: dict[str, Any]
    due_at: datetime
    name: str | None = None


@dataclass(frozen=True, slots=True)
class QueueState:
    """The state of the queue: jobs waiting, jobs stuck, and when the oldest was due."""

    depth: int
    stuck: int
    oldest_due_at: datetime | None


def backoff_delay(attempt: int, *, outage: bool = False) -> timedelta:
    """The delay after a failed attempt: 2, 4, 8 … seconds, at most an hour.

    During an `outage` of another system it is at most a minute, so that work resumes soon after.
    """
    seconds_max = _OUTAGE_SECONDS_MAX if outage else _BACK_OFF_SECONDS_MAX
    return timedelta(seconds=min(2 ** min(attempt, 20), seconds_max))


JobHandler = Callable[[Job], Awaitable[NewJob | None]]
