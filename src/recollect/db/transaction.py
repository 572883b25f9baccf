"""Transactions. A transaction is a plain function that gets a `Tx`.

It commits when the function returns and rolls back when it raises. The function can't await, so no
network call can sit inside a transaction (decision 0002).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Tx(Protocol):
    """An open transaction. Services only pass it on; stores run statements on it."""

    def fetch(self, statement: Any, params: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
        """Run the statement and return every row."""
        ...

    def fetch_first(self, statement: Any, params: Mapping[str, Any]) -> tuple[Any, ...] | None:
        """Run the statement and return its first row; None without rows."""
        ...

    def run(self, statement: Any, params: Mapping[str, Any]) -> None:
        """Run the statement for its effect alone.

        PostgreSQL only queues it: its error appears at a later statement or at the commit.
        """
        ...

    def lock(self, statement: Any, params: Mapping[str, Any]) -> None:
        """Lock the rows that a `SELECT … FOR UPDATE` returns until the transaction ends.

        What later statements read is then current. SQLite has one writer and does nothing.
        """
        ...

    def run_and_count(self, statement: Any, params: Mapping[str, Any]) -> int:
        """Run the statement and return how many rows it changed."""
        ...


class Database(Protocol):
    """Runs transactions.

    Their functions must neither block nor compute for long: on PostgreSQL they run on the event
    loop's thread, and every other request waits.
    """

    async def read(self, work: Callable[[Tx], T]) -> T:
        """Run `work` on one consistent snapshot. It must not write."""
        ...

    async def scan(self, work: Callable[[Tx], T]) -> T:
        """Like `read`, for functions that compute for long, such as a filter over many rows.

        It runs on a thread, so nobody waits behind it.
        """
        ...

    async def write(self, work: Callable[[Tx], T]) -> T:
        """Run `work` and commit it durably before this returns.

        `work` may run more than once (lost races, deadlocks, the rerun of a group commit), so it
        must change nothing but the `Tx`.
        """
        ...

    async def run_outside_transaction(self, statements: Sequence[Any]) -> None:
        """Run statements one after the other, outside of any transaction, such as VACUUM.

        They may take minutes. A caller that failed halfway runs all of them again, so each must
        be repeatable.
        """
        ...

    async def close(self) -> None:
        """Finish every accepted transaction, then close every connection."""
        ...


class RetryTransaction(Exception):
    """Raised inside a transaction that lost a race: it is rolled back and run again."""


class DatabaseStorage(Protocol):
    """The physical storage below the tables."""

    async def scrub(self, tables: Sequence[str]) -> None:
        """Remove the remains of deleted rows from the storage of these tables: free pages, dead
        rows, index words. With no table only the log of recent changes. May take minutes."""
        ...

    async def count_bytes(self, needles: Sequence[bytes]) -> Sequence[int] | None:
        """How often each occurs in the database files, ignoring ASCII case; None if the files
        belong to a database server."""
        ...
