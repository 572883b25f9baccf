"""When a call is tried again, and after how long."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from recollect_client.errors import CLOSED, NOT_CONNECTED, RecollectError, ServerUnreachable
from recollect_client.values import Operation, Response

_STATUSES = frozenset({429, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """At most so many attempts. The pause before an attempt doubles each time up to
    `pause_seconds_max`, and a random half of it is taken off so that clients don't come together.
    """

    attempts: int = 4
    pause_seconds: float = 0.2
    pause_seconds_max: float = 8.0

    def pauses(self) -> Iterator[float]:
        """The pauses between the attempts."""
        pause = self.pause_seconds
        for _ in range(self.attempts - 1):
            yield pause * random.uniform(0.5, 1.0)  # noqa: S311 - no secret hangs on it
            pause = min(2 * pause, self.pause_seconds_max)


NO_RETRIES = RetryPolicy(attempts=1)


def is_worth_another_try(operation: Operation, response: Response) -> bool:
    """Did the server refuse for a reason that passes? A request that runs already under the same
    key is asked for again, until its answer is there."""
    if response.status == 409:
        return operation.takes_key and "retry-after" in response.headers
    if response.status in _STATUSES:
        # 503 and 429 come before anything was done; 502 and 504 may come after it.
        return operation.is_repeatable or response.status in (429, 503)
    return False


def is_safe_to_repeat(operation: Operation, error: RecollectError) -> bool:
    """After a lost connection: may it be sent again, though it may have been carried out?"""
    if error.code == CLOSED:
        return False
    never_sent = isinstance(error, ServerUnreachable) and error.code == NOT_CONNECTED
    return operation.is_repeatable or never_sent
