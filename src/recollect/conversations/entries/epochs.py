"""Decides what a sync does to a client's memory, as a pure function.

A client's memory is the content of all entries of its latest epoch, joined. A sync that only adds
items appends them to that epoch. Any other change begins a new epoch with the whole list."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from recollect.kernel.strict_json import is_equal


@dataclass(frozen=True, slots=True)
class SyncPlan:
    """What a sync stores and returns.

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
    """Compare the new list with the entries of the client's latest epoch, item by item.

    `existing` holds the content type and content of each entry. The caller must hold the tree's
    lock, or the plan may be outdated when it is carried out. It must also have checked access: the
    plan reveals whether the stored memory is equal to the list.
    """
    if latest is None:
        return _plan_first(new)
    # An entry has one content type, so another type can't be added to the same epoch.
    if any(stored_type != content_type for stored_type, _ in existing):
        return _plan_new_epoch(latest, new)
    # Entries are joined: how earlier syncs cut the list into entries does not matter.
    stored = [item for _, content in existing for item in content]
    if len(stored) > len(new) or not all(map(is_equal, stored, new)):
        return _plan_new_epoch(latest, new)
    return _plan_extension(latest, new[len(stored) :])


def _plan_first(new: list[Any]) -> SyncPlan:
    if not new:
        return SyncPlan(None, None, no_op=True, epoch_incremented=False)
    return SyncPlan(new, 1, no_op=False, epoch_incremented=False)


def _plan_extension(latest: int, rest: list[Any]) -> SyncPlan:
    return SyncPlan(rest or None, latest, no_op=not rest, epoch_incremented=False)


def _plan_new_epoch(latest: int, new: list[Any]) -> SyncPlan:
    return SyncPlan(new, latest + 1, no_op=False, epoch_incremented=True)
