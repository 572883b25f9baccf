"""Transactions. A transaction is a plain function that gets a `Tx`: it can't await, commits when
it returns and rolls back when it raises."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Tx(Protocol):
    """An open transaction. Only stores know what a statement is; services pass the Tx on."""

    def fetch(self, statement: Any, params: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
        """Run and return every row."""
        ...

    def first(self, statement: Any, params: Mapping[str, Any]) -> tuple[Any, ...] | None:
        """Run and return the first row."""
        ...

    def run(self, statement: Any, params: Mapping[str, Any]) -> None:
        """Run for its effect. An engine with round trips need not wait for it."""
        ...

    def lock(self, statement: Any, params: Mapping[str, Any]) -> None:
        """Hold the rows that the statement selects until the transaction ends. What later
        statements read is then current; an engine with one writer has nothing to do."""
        ...

    def change(self, statement: Any, params: Mapping[str, Any]) -> int:
        """Run and return how many rows changed."""
        ...


class Database(Protocol):
    """Runs transactions. Their functions neither block nor compute for long: on one engine they
    share the event loop's thread."""

    async def read(self, work: Callable[[Tx], T]) -> T:
        """Run `work` on one snapshot. It must not write."""
        ...

    async def scan(self, work: Callable[[Tx], T]) -> T:
        """A read that takes long to compute, such as a filter over many rows: like `read`, but
        nobody has to wait behind it."""
        ...

    async def write(self, work: Callable[[Tx], T]) -> T:
        """Run `work` and commit it durably before this returns.

        `work` may run more than once (lost races, deadlocks), so it changes nothing but the Tx.
        """
        ...

    async def apart(self, statements: Sequence[Any]) -> None:
        """Run a store's statements one after the other, outside of any transaction and beside
        all others: for what may take minutes. Each may run again."""
        ...

    async def close(self) -> None:
        """Finish what was accepted, then close every connection."""
        ...


class Retry(Exception):
    """Raised inside a transaction that lost a race: roll back and run it again from the start."""
