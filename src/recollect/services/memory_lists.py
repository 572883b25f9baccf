"""Pages of memories under a sight, the newest first."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.domain.memories import Memory
from recollect.domain.pages import Page, encode_key
from recollect.policy.sight import Sight
from recollect.ports.database import Tx
from recollect.ports.memories import MemoryFilter, Stored
from recollect.ports.stores import Stores
from recollect.services.past import Past
from recollect.services.read_audit import context_word

_Place = tuple[datetime, str]


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """A page of memories, at an instant and in a context."""

    page: Page[Stored]
    now: datetime
    context: str


class MemoryLists:
    """What lists of memories share."""

    def __init__(self, stores: Stores, past: Past) -> None:
        self._stores = stores
        self._past = past

    def page(
        self,
        tx: Tx,
        sight: Sight,
        chosen: MemoryFilter,
        *,
        name: str,
        after: _Place | None,
        limit: int,
    ) -> MemoryPage:
        """A page of the list of that name, behind a place in it."""
        found = self.gather(tx, sight, chosen, after=after, limit=limit + 1)
        shown = found[:limit]
        cursor = encode_key(name, *_place(shown[-1])) if len(found) > limit else None
        return MemoryPage(Page(shown, cursor), sight.now, context_word(sight))

    def shown(
        self, tx: Tx, sight: Sight, rows: Sequence[Stored], chosen: MemoryFilter
    ) -> Sequence[Stored]:
        """As they were at `as_of`, those that are shown so and were what is asked for; all as they
        are without one."""
        if chosen.as_of is None:
            return rows
        then = self._past.canonical(tx, rows)
        fitting = (row for row in then if was_asked_for(row.memory, chosen))
        return [row for row in fitting if self._past.shows(tx, sight, row)]

    def gather(
        self,
        tx: Tx,
        sight: Sight,
        chosen: MemoryFilter,
        *,
        after: _Place | None,
        limit: int,
    ) -> Sequence[Stored]:
        """So many rows that are shown, if there are as many."""
        shown: list[Stored] = []
        while len(shown) < limit:
            wanted = limit - len(shown)
            rows = self._stores.memories.page(tx, sight, chosen, after=after, limit=wanted)
            shown += self.shown(tx, sight, rows, chosen)
            if len(rows) < wanted:
                break
            after = _place(rows[-1])
        return shown


def was_asked_for(memory: Memory, chosen: MemoryFilter) -> bool:
    """Has an earlier version what the filter asks of members that change? The rest, and the present
    version in whole, are judged by `stores/memory_filters.py`."""
    return (
        frozenset(chosen.tags) <= frozenset(memory.tags)
        and (not chosen.types or memory.type in chosen.types)
        and (not chosen.subjects or not frozenset(chosen.subjects).isdisjoint(memory.subjects))
        and chosen.sensitivity in (None, memory.sensitivity)
        and chosen.stated_by in (None, memory.stated_by)
        and (chosen.told_in is None or memory.portable or memory.learned_in == chosen.told_in)
    )


def _place(stored: Stored) -> _Place:
    return stored.memory.created_at, stored.memory.id
