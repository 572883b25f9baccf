"""What we count about ourselves. Labels are names from our own tables, never a caller's text."""

from typing import Literal, Protocol

TransactionKind = Literal["read", "write"]


class Metrics(Protocol):
    """Takes observations. Every call is cheap, never fails, and may come from any thread."""

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """A request was answered. `route` is the template (`/v1/conversations/{id}`)."""
        ...

    def transaction(self, kind: TransactionKind, seconds: float) -> None:
        """A transaction ended, from the call to its durable commit."""
        ...

    def commit_batch(self, size: int) -> None:
        """So many transactions were committed together."""
        ...

    def job(self, type: str, outcome: str, seconds: float) -> None:
        """A job was run once. `outcome` is a word such as `done`, `retry` or `failed`."""
        ...

    def queue(self, depth: int, age_seconds: float, stuck: int) -> None:
        """The state of the job queue now; `age_seconds` is that of the oldest job due."""
        ...

    def indexed(self, entries: int) -> None:
        """So many entries got their vectors."""
        ...

    def pending(self, entries: int) -> None:
        """So many entries wait for their vectors now."""
        ...


class NoMetrics:
    """Counts nothing: for the command line and for tests."""

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """See `Metrics`."""

    def transaction(self, kind: TransactionKind, seconds: float) -> None:
        """See `Metrics`."""

    def commit_batch(self, size: int) -> None:
        """See `Metrics`."""

    def job(self, type: str, outcome: str, seconds: float) -> None:
        """See `Metrics`."""

    def queue(self, depth: int, age_seconds: float, stuck: int) -> None:
        """See `Metrics`."""

    def indexed(self, entries: int) -> None:
        """See `Metrics`."""

    def pending(self, entries: int) -> None:
        """See `Metrics`."""
