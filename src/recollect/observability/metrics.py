"""Metrics of the server. Labels are names from our own tables, never a caller's text."""

from typing import Literal, Protocol

from recollect.observability.tracing import Tracer

TransactionKind = Literal["read", "write"]


class Metrics(Protocol):
    """Records observations. Every call is cheap, never raises, and may come from any thread."""

    @property
    def tracer(self) -> Tracer | None:
        """Records traces as well; None if nothing does."""
        ...

    def record_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """A request was answered. `route` is the template (`/v1/conversations/{id}`)."""
        ...

    def record_transaction(self, kind: TransactionKind, seconds: float) -> None:
        """A transaction ended, from the call to its durable commit."""
        ...

    def record_commit_batch(self, size: int) -> None:
        """`size` transactions were committed together."""
        ...

    def record_job(self, type: str, outcome: str, seconds: float) -> None:
        """A job was run once. `outcome` is a word such as `done`, `retry` or `failed`."""
        ...

    def record_queue(self, depth: int, age_seconds: float, stuck: int) -> None:
        """The state of the job queue now; `age_seconds` is that of the oldest job due."""
        ...

    def record_indexed(self, entries: int) -> None:
        """`entries` entries got their vectors."""
        ...

    def record_pending(self, entries: int) -> None:
        """`entries` entries are waiting for their vectors now."""
        ...


class NoMetrics:
    """Records nothing: for the command line and for tests."""

    tracer: Tracer | None = None

    def record_request(self, method: str, route: str, status: int, seconds: float) -> None: ...

    def record_transaction(self, kind: TransactionKind, seconds: float) -> None: ...

    def record_commit_batch(self, size: int) -> None: ...

    def record_job(self, type: str, outcome: str, seconds: float) -> None: ...

    def record_queue(self, depth: int, age_seconds: float, stuck: int) -> None: ...

    def record_indexed(self, entries: int) -> None: ...

    def record_pending(self, entries: int) -> None: ...
