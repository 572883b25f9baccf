"""When a call is tried again, and after how long."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from recollect_client.errors import CLOSED, NOT_CONNECTED, RecollectError, ServerUnreachable
from recollect_client.values import KEY_HEADER, Operation, Request, Response

_REPEATABLE_METHODS = frozenset({"GET", "PUT", "DELETE"})
_STATUSES = frozenset({429, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """At most so many attempts. The pause before an attempt doubles each time up to
    `pause_seconds_max`, and a random half of it is taken off so that clients don't come together.
    A server that asks for a longer pause gets it, up to `retry_after_seconds_max`; beyond that its
    refusal is raised at once.
    """

    attempts: int = 6
    pause_seconds: float = 0.2
    pause_seconds_max: float = 8.0
    retry_after_seconds_max: float = 60.0

    def __post_init__(self) -> None:
        if not isinstance(self.attempts, int) or self.attempts < 1:
            raise ValueError(f"attempts: must be a whole number from 1 on, not {self.attempts!r}")
        for name in ("pause_seconds", "pause_seconds_max", "retry_after_seconds_max"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not value >= 0:
                raise ValueError(f"{name}: must be a number of seconds from 0 on, not {value!r}")

    def pauses(self) -> Iterator[float]:
        """The pauses between the attempts."""
        pause = self.pause_seconds
        for _ in range(self.attempts - 1):
            yield pause * random.uniform(0.5, 1.0)  # noqa: S311 - no secret hangs on it
            pause = min(2 * pause, self.pause_seconds_max)


NO_RETRIES = RetryPolicy(attempts=1)


def is_repeatable(operation: Operation, request: Request) -> bool:
    """May it be sent again when nobody knows whether the server has done it?"""
    return (
        KEY_HEADER in request.headers
        or operation.only_reads
        or operation.method in _REPEATABLE_METHODS
    )


def is_worth_another_try(
    operation: Operation, request: Request, response: Response, *, may_be_done: bool
) -> bool:
    """Did the server refuse for a reason that passes? A request that runs already under the same
    key is asked for again, until its answer is there. `may_be_done`: a server whose database did
    not answer says 503 too, and may have done it."""
    if response.status == 409:
        return KEY_HEADER in request.headers and "retry-after" in response.headers
    if response.status not in _STATUSES:
        return False
    return (
        is_repeatable(operation, request)
        or response.status == 429
        or (response.status == 503 and not may_be_done)
    )


def is_safe_to_repeat(operation: Operation, request: Request, error: RecollectError) -> bool:
    """After a lost connection: may it be sent again, though it may have been carried out?"""
    if error.code == CLOSED:
        return False
    never_sent = isinstance(error, ServerUnreachable) and error.code == NOT_CONNECTED
    return never_sent or is_repeatable(operation, request)
