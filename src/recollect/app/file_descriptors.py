"""Divides the file descriptors of the process, so that no part of it takes the last one.

A process without free descriptors can't even refuse a connection.
"""

import resource
from contextlib import suppress
from dataclasses import dataclass

_DESCRIPTORS_MAX = 65_536


@dataclass(frozen=True, slots=True)
class DescriptorBudget:
    """Descriptors for the HTTP port (1/2), gRPC's own port (1/8) and running recordings (1/16).

    Ended recordings get as many as running ones. A quarter is left for the database and the rest.
    """

    http: int
    grpc: int
    recordings: int

    @classmethod
    def share_out(cls, all_: int) -> "DescriptorBudget":
        """Divide a number of descriptors."""
        return cls(http=all_ // 2, grpc=all_ // 8, recordings=all_ // 16)


def raise_descriptor_limit() -> DescriptorBudget:
    """Raise the soft limit of open files to the hard limit, and divide what we got.

    The default soft limit (often 1,024) is far too low for a server.
    """
    soft, hard = (
        _DESCRIPTORS_MAX if one == resource.RLIM_INFINITY else one for one in _read_limits()
    )
    if soft < min(hard, _DESCRIPTORS_MAX):
        with suppress(OSError, ValueError):
            resource.setrlimit(
                resource.RLIMIT_NOFILE, (min(hard, _DESCRIPTORS_MAX), _read_limits()[1])
            )
            soft = min(hard, _DESCRIPTORS_MAX)
    return DescriptorBudget.share_out(min(soft, _DESCRIPTORS_MAX))


def _read_limits() -> tuple[int, int]:
    return resource.getrlimit(resource.RLIMIT_NOFILE)
