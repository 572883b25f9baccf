"""Transactions. A transaction is a plain function that gets a `Tx`: it can't await, commits when
it returns and rolls back when it raises."""

from collections.abc import Callable
from typing import Protocol, TypeVar

T = TypeVar("T")


class Tx(Protocol):
    """An open transaction. Opaque here; stores know what to do with it."""


class Database(Protocol):
    """Runs transactions on threads of its own."""

    async def read(self, work: Callable[[Tx], T]) -> T:
        """Run `work` on one snapshot. It must not write."""
        ...

    async def write(self, work: Callable[[Tx], T]) -> T:
        """Run `work` and commit it durably before this returns.

        `work` may run more than once (lost races, deadlocks), so it changes nothing but the Tx.
        """
        ...

    async def close(self) -> None:
        """Finish what was accepted, then close every connection."""
        ...


class Retry(Exception):
    """Raised inside a transaction that lost a race: roll back and run it again from the start."""
