"""Limits the number of concurrent streams, per node and per user."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from recollect.kernel.errors import Unavailable
from recollect.kernel.ids import UserId
from recollect.recordings.model import StreamQuota

RETRY_SECONDS = 10


class StreamLimits:
    """Counts streams. `of_what` names them in error messages."""

    def __init__(self, most: StreamQuota, of_what: str) -> None:
        self._most = most
        self._of_what = of_what
        self._taken: Counter[UserId] = Counter()

    def check(self, user_id: UserId) -> None:
        """Raise Unavailable if the user or the node is at its limit."""
        if self._taken[user_id] >= self._most.of_one:
            self._refuse(f"one user may have {self._most.of_one} {self._of_what} at once")
        if self._taken.total() >= self._most.of_all:
            self._refuse(f"this node can't take more {self._of_what} at once")

    @contextmanager
    def reserve(self, user_id: UserId) -> Iterator[None]:
        """Count one stream until the end of the block. Raises Unavailable at the limit."""
        self.check(user_id)
        self._taken[user_id] += 1
        try:
            yield
        finally:
            self._taken[user_id] -= 1
            if not self._taken[user_id]:
                del self._taken[user_id]

    def _refuse(self, why: str) -> None:
        raise Unavailable(why, retry_after_seconds=RETRY_SECONDS)
