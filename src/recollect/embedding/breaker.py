"""A circuit breaker: calls to an endpoint that just failed are refused at once."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from recollect.kernel.errors import EmbeddingFailed


class EndpointDown(EmbeddingFailed):
    """The endpoint gave no usable answer after all attempts."""


class CircuitBreaker:
    """Opens when a call raises EndpointDown, and then refuses calls for as long as the error says.
    After that one call may probe. Its success closes the breaker; until it ends, other calls are
    still refused. For use on one event loop.
    """

    def __init__(self, name: str, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._name = name
        self._monotonic = monotonic
        self._open_until: float | None = None
        self._probing = False

    @contextmanager
    def guard_call(self) -> Iterator[None]:
        """Wraps one call. Raises EndpointDown without making the call while the breaker is open."""
        probe = self._admit_probe()
        try:
            yield
            self._open_until = None
        except EndpointDown as error:
            self._open_until = self._monotonic() + error.retry_after_seconds
            raise
        finally:
            # Only the end of the probe itself admits the next probe. Calls that were admitted
            # before the breaker opened end here too.
            self._probing = self._probing and not probe

    def _admit_probe(self) -> bool:
        """Admit a call or raise; returns whether it is the probe."""
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
