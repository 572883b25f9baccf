"""The request log: one line for each request, with names and numbers only."""

from typing import Protocol


class RequestLog(Protocol):
    """Takes one line per request. On the hottest path, so it never blocks and never raises."""

    def write(
        self, request_id: str, *, method: str, route: str, status: int, seconds: float
    ) -> None:
        """Log a request. `route` is the path's template, so no caller's text gets into the log."""
        ...

    def close(self) -> None:
        """Write the lines that are still buffered."""
        ...


class NoRequestLog:
    """Writes nothing: for log levels above `info`."""

    def write(
        self, request_id: str, *, method: str, route: str, status: int, seconds: float
    ) -> None: ...

    def close(self) -> None: ...
