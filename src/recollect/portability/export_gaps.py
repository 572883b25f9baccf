"""Removed memories in the middle of a chain of `supersedes`. They have no line of their own, so an
export lists them with the memory that superseded them: otherwise the chain to what they had
superseded would break."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from recollect.db.transaction import Tx
from recollect.kernel.ids import MemoryId
from recollect.portability.fields import LineValues
from recollect.portability.store.bundle import PortabilityStores

_Links = Mapping[MemoryId, Sequence[MemoryId]]


def removed_predecessors(
    tx: Tx, stores: PortabilityStores, memory_ids: Sequence[MemoryId]
) -> dict[MemoryId, list[LineValues]]:
    """For each memory the removed ones that it supersedes, directly or over other removed ones,
    nearest first. The walk stops at memories that exist: those have lines, with gaps of their own.
    Memories without gaps are absent."""
    removed, links = _gather_removed(tx, stores, memory_ids)
    found = {memory_id: _removed_chain(memory_id, removed, links) for memory_id in memory_ids}
    return {memory_id: several for memory_id, several in found.items() if several}


def _gather_removed(
    tx: Tx, stores: PortabilityStores, memory_ids: Sequence[MemoryId]
) -> tuple[dict[MemoryId, datetime], dict[MemoryId, Sequence[MemoryId]]]:
    """When each removed memory was removed, and what each had superseded: one pair of queries a
    level of the chain, for all memories of the page together."""
    removed: dict[MemoryId, datetime] = {}
    links: dict[MemoryId, Sequence[MemoryId]] = {}
    level = list(memory_ids)
    while level:
        replaced = stores.memories.predecessors(tx, level)
        links |= replaced
        named = {old for several in replaced.values() for old in several}
        gone = stores.memories.removals(tx, sorted(named - removed.keys())) if named else {}
        removed |= gone
        level = sorted(gone)
    return removed, links


def _removed_chain(
    memory_id: MemoryId, removed: Mapping[MemoryId, datetime], links: _Links
) -> list[LineValues]:
    walked, level = dict[MemoryId, None](), [memory_id]
    while level:
        named = (old for one in level for old in links.get(one, ()))
        level = [old for old in dict.fromkeys(named) if old in removed and old not in walked]
        walked |= dict.fromkeys(level)
    return [
        {"memory_id": one, "removed_at": removed[one], "supersedes": list(links.get(one, ()))}
        for one in walked
    ]
