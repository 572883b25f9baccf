"""What a sync does to one client's memory: the contract's table as one pure function."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from recollect.domain.jsontext import equal


@dataclass(frozen=True, slots=True)
class SyncPlan:
    """What to store and what to answer.

    `store` is the content of the one entry to write; None writes nothing, an empty list writes an
    entry that clears the memory.
    """

    store: list[Any] | None
    epoch: int | None
    no_op: bool
    epoch_incremented: bool


def plan_sync(
    latest: int | None,
    existing: Sequence[tuple[str, list[Any]]],
    content_type: str,
    new: list[Any],
) -> SyncPlan:
    """Compare a client's whole new memory with the entries of its latest epoch, by position.

    `existing` holds the content type and content of each. The caller holds the tree's lock and has
    checked access: a plan tells what the stored memory is.
    """
    if latest is None:
        return _start(new)
    if any(stored_type != content_type for stored_type, _ in existing):
        return _supersede(latest, new)
    stored = [item for _, content in existing for item in content]
    if len(stored) > len(new) or not all(map(equal, stored, new)):
        return _supersede(latest, new)
    return _extend(latest, new[len(stored) :])


def _start(new: list[Any]) -> SyncPlan:
    if not new:
        return SyncPlan(None, None, no_op=True, epoch_incremented=False)
    return SyncPlan(new, 1, no_op=False, epoch_incremented=False)


def _extend(latest: int, rest: list[Any]) -> SyncPlan:
    return SyncPlan(rest or None, latest, no_op=not rest, epoch_incremented=False)


def _supersede(latest: int, new: list[Any]) -> SyncPlan:
    return SyncPlan(new, latest + 1, no_op=False, epoch_incremented=True)
