"""A circuit breaker: an endpoint that is known to be down is not asked by everyone in turn."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from recollect.errors import EmbeddingFailed


class EndpointDown(EmbeddingFailed):
    """It gave no usable answer, however often it was asked."""


class Breaker:
    """Closed, until a call raises EndpointDown. Then calls fail at once, for as long as the error
    asks for; after that one call may try. Its success lets all pass again. Belongs to one loop.
    """

    def __init__(self, name: str, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._name = name
        self._monotonic = monotonic
        self._open_until: float | None = None
        self._probing = False

    @contextmanager
    def call(self) -> Iterator[None]:
        """Surrounds one call; raises EndpointDown instead of letting it in while open."""
        probe = self._admit()
        try:
            yield
            self._open_until = None
        except EndpointDown as error:
            self._open_until = self._monotonic() + error.retry_after_seconds
            raise
        finally:
            # Only the probe's own end makes room for the next one.
            self._probing = self._probing and not probe

    def _admit(self) -> bool:
        """Whether the call is the one that may try."""
        if self._open_until is None:
            return False
        left_seconds = self._open_until - self._monotonic()
        if left_seconds > 0 or self._probing:
            raise EndpointDown(
                f"{self._name} failed a moment ago",
                retry_after_seconds=max(1, math.ceil(left_seconds)),
            )
        self._probing = True
        return True
