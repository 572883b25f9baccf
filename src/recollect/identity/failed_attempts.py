"""Slows down whoever guesses credentials: counts refused ones for each address.

Only a refused credential is ever answered with 429. A good one is accepted from any address at any
time: behind a proxy all callers have its address, and one of them must not lock out the others.
"""

import time
from collections import OrderedDict
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address

from recollect.kernel.errors import TooManyAttempts

WINDOW_SECONDS = 60
ADDRESSES_MAX = 10_000
# Whoever has one IPv6 address usually has the whole network of this size.
_NETWORK_BITS = 64


class FailedAttempts:
    """Use it from one event loop only. With `most` 0 nothing is counted."""

    def __init__(self, most: int, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._monotonic = monotonic
        # The end of each address's window, and its failures. The oldest window comes first.
        self._counted: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def count(self, address: str | None) -> None:
        """Count one failure. Raises TooManyAttempts above the limit, until the window ends."""
        if not self._most:
            return
        source, now = _source(address), self._monotonic()
        ends_at, failures = self._counted.get(source, (0.0, 0))
        if now >= ends_at:
            self._counted.pop(source, None)
            ends_at, failures = now + WINDOW_SECONDS, 0
        self._counted[source] = (ends_at, failures + 1)
        # Memory stays bounded however many addresses there are: the oldest window goes.
        if len(self._counted) > ADDRESSES_MAX:
            self._counted.popitem(last=False)
        if failures >= self._most:
            raise TooManyAttempts(retry_after_seconds=max(1, round(ends_at - now)))


def _source(address: str | None) -> str:
    """What failures are counted for: an IPv4 address, an IPv6 network, or all unknown ones."""
    try:
        parsed = ip_address(address or "")
    except ValueError:
        return ""
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return parsed.packed[: _NETWORK_BITS // 8].hex()
