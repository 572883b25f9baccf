"""Limits the connections of the port that REST and gRPC share.

A process without free file descriptors can't even refuse a connection, so they are counted before
they run out.
"""

RELAYED_COST = 3
REFUSED_MAX = 16


class ConnectionLimit:
    """Counts free file descriptors; not thread-safe, as all connections are on one event loop.

    A REST connection costs one. A relayed gRPC connection costs three: its own, and both ends of
    the unix socket to the gRPC server.

    A refused connection costs one too, while it is told why; there are only REFUSED_MAX of them
    at a time, outside of the main count.
    """

    def __init__(self, *, descriptors_max: int, relayed_max: int) -> None:
        self._free = descriptors_max
        self._relayed_free = relayed_max
        self._refused_free = REFUSED_MAX

    def acquire(self) -> bool:
        """Take a descriptor for a new connection. False if none is free."""
        if self._free < 1:
            return False
        self._free -= 1
        return True

    def release(self) -> None:
        """Give the descriptor of a closed connection back."""
        self._free += 1

    def acquire_refusal(self) -> bool:
        """Take a descriptor for a connection that is refused with an answer. False if none is."""
        if self._refused_free < 1:
            return False
        self._refused_free -= 1
        return True

    def release_refusal(self) -> None:
        """Give the descriptor of a refused connection back."""
        self._refused_free += 1

    def acquire_relay(self) -> bool:
        """Take two more descriptors for a connection that goes to gRPC. False if there is no room.

        The first one was taken by `acquire`; `release_relay` gives all three back.
        """
        if self._free < RELAYED_COST - 1 or self._relayed_free < 1:
            return False
        self._free -= RELAYED_COST - 1
        self._relayed_free -= 1
        return True

    def release_relay(self) -> None:
        """Give the three descriptors of a relayed connection back."""
        self._free += RELAYED_COST
        self._relayed_free += 1
