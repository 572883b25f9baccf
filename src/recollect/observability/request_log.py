"""The request log: lines are buffered, and written by a thread a few times a second.

A logging call with its formatting and its write was the largest single cost of an append on the
event loop (decision 0010). Every part of a line is a name from our own tables, a number or a
checked request id, so nothing needs escaping.
"""

import threading
from collections import deque
from datetime import UTC, datetime
from time import time
from typing import Literal, Protocol, TextIO

HOLD_SECONDS = 0.2

_JSON = (
    '{{"event": "request", "request_id": "{}", "method": "{}", "route": "{}", "status": {},'
    ' "milliseconds": {:.2f}, "level": "info", "logger": "recollect.rest", "time": "{}"}}\n'
)
_CONSOLE = "{5} [info] request request_id={0} method={1} route={2} status={3} ms={4:.2f}\n"


class RequestLog(Protocol):
    """Takes one line per request. On the hottest path, so it never blocks and never raises."""

    def write(
        self, request_id: str, *, method: str, route: str, status: int, seconds: float
    ) -> None:
        """Log a request. `route` is the path's template, so no caller's text gets into the log."""

    def close(self) -> None:
        """Write the lines that are still buffered."""


class NoRequestLog:
    """Writes nothing: for log levels above `info`."""

    def write(
        self, request_id: str, *, method: str, route: str, status: int, seconds: float
    ) -> None: ...

    def close(self) -> None: ...


class BufferedRequestLog:
    """A thread writes the lines. It starts with the first one."""

    def __init__(self, stream: TextIO, format: Literal["json", "console"]) -> None:
        self._stream = stream
        self._template = _JSON if format == "json" else _CONSOLE
        self._buffer: deque[tuple[str, str, str, int, float, float]] = deque()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def write(
        self, request_id: str, *, method: str, route: str, status: int, seconds: float
    ) -> None:
        """Buffer the line for the thread."""
        self._buffer.append((request_id, method, route, status, seconds * 1000, time()))
        if self._thread is None:
            self._thread = threading.Thread(
                target=self._run, name="recollect-request-log", daemon=True
            )
            self._thread.start()

    def close(self) -> None:
        """Write the buffered lines and end the thread."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        self._flush_lines()

    def _run(self) -> None:
        while not self._stop.wait(HOLD_SECONDS):
            self._flush_lines()

    def _flush_lines(self) -> None:
        # A deque's append and popleft are atomic, so no lock is needed. The length is taken once:
        # lines that are added meanwhile wait for the next round.
        lines = [self._format_line(*self._buffer.popleft()) for _ in range(len(self._buffer))]
        try:
            self._stream.write("".join(lines))
            self._stream.flush()
        except (OSError, ValueError):  # stderr is closed: lines are lost, requests go on
            return

    def _format_line(
        self, request_id: str, method: str, route: str, status: int, ms: float, at: float
    ) -> str:
        moment = datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds")
        return self._template.format(request_id, method, route, status, ms, moment[:26] + "Z")
