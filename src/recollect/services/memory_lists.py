"""Pages of memories under a sight, the newest first."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

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
        found = self._gather(tx, sight, chosen, after=after, limit=limit + 1)
        shown = found[:limit]
        cursor = encode_key(name, *_place(shown[-1])) if len(found) > limit else None
        return MemoryPage(Page(shown, cursor), sight.now, context_word(sight))

    def shown(
        self, tx: Tx, sight: Sight, rows: Sequence[Stored], chosen: MemoryFilter
    ) -> Sequence[Stored]:
        """As they were at `as_of`, those that are shown so; all as they are without one."""
        if chosen.as_of is None:
            return rows
        kept = [row for row in rows if self._past.shows(tx, sight, row)]
        return self._past.canonical(tx, kept)

    def _gather(
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


def _place(stored: Stored) -> _Place:
    return stored.memory.created_at, stored.memory.id
