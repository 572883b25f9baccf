"""How the file descriptors of this process are shared out, so that no part of it takes the last: a
process without any can't even refuse a connection."""

import resource
from contextlib import suppress
from dataclasses import dataclass

_MOST = 65_536


@dataclass(frozen=True, slots=True)
class Descriptors:
    """How many connections the HTTP port, gRPC's own port and recordings may have; as many again
    are for recordings that ended. A quarter is left for the database and all else."""

    http: int
    grpc: int
    recordings: int

    @classmethod
    def of(cls, all_: int) -> "Descriptors":
        """Shares of so many."""
        return cls(http=all_ // 2, grpc=all_ // 8, recordings=all_ // 16)


def obtain() -> Descriptors:
    """Ask the system for as many as this process may have: what a shell gives by default is meant
    for programs of another time."""
    soft, hard = (_MOST if one == resource.RLIM_INFINITY else one for one in _limits())
    if soft < min(hard, _MOST):
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, _MOST), _limits()[1]))
            soft = min(hard, _MOST)
    return Descriptors.of(min(soft, _MOST))


def _limits() -> tuple[int, int]:
    return resource.getrlimit(resource.RLIMIT_NOFILE)
