"""Divides the file descriptors of the process, so that no part of it takes the last one.

A process without free descriptors can't even refuse a connection.
"""

import resource
from contextlib import suppress
from dataclasses import dataclass

_MOST = 65_536


@dataclass(frozen=True, slots=True)
class Descriptors:
    """Descriptors for the HTTP port (1/2), gRPC's own port (1/8) and running recordings (1/16).

    Ended recordings get as many as running ones. A quarter is left for the database and the rest.
    """

    http: int
    grpc: int
    recordings: int

    @classmethod
    def of(cls, all_: int) -> "Descriptors":
        """Divide a number of descriptors."""
        return cls(http=all_ // 2, grpc=all_ // 8, recordings=all_ // 16)


def obtain() -> Descriptors:
    """Raise the soft limit of open files to the hard limit, and divide what we got.

    The default soft limit (often 1,024) is far too low for a server.
    """
    soft, hard = (_MOST if one == resource.RLIM_INFINITY else one for one in _limits())
    if soft < min(hard, _MOST):
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, _MOST), _limits()[1]))
            soft = min(hard, _MOST)
    return Descriptors.of(min(soft, _MOST))


def _limits() -> tuple[int, int]:
    return resource.getrlimit(resource.RLIMIT_NOFILE)
