"""The log of requests: one line each, with names and numbers only."""

from typing import Protocol


class RequestLog(Protocol):
    """Takes a line for every request. On the hottest path: it never blocks and never fails."""

    def write(
        self, request_id: str, *, method: str, route: str, status: int, seconds: float
    ) -> None:
        """`route` is the path's template, so that no caller's text gets into the log."""
        ...

    def close(self) -> None:
        """Write what is still held back."""
        ...


class NoRequestLog:
    """Writes nothing: when only warnings and errors are wanted."""

    def write(
        self, request_id: str, *, method: str, route: str, status: int, seconds: float
    ) -> None:
        """See `RequestLog`."""

    def close(self) -> None:
        """See `RequestLog`."""
