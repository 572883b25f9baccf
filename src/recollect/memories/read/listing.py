"""Pages of the memories that a viewer can see, newest first."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.db.transaction import Tx
from recollect.kernel.pages import Page, encode_key
from recollect.memories.fields import FILTERED_FIELDS
from recollect.memories.model import Memory, MemoryFilter, StoredMemory
from recollect.memories.read.audit import context_word
from recollect.memories.read.history import VersionHistory
from recollect.memories.store.bundle import MemoryStores
from recollect.visibility.model import Closeness
from recollect.visibility.viewer import Viewer

_EQUAL_FIELDS = [field.name for field in FILTERED_FIELDS if field.versioned]
_ListCursor = tuple[datetime, str]


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """A page of memories, the instant of the read, and its context for the audit."""

    page: Page[StoredMemory]
    now: datetime
    context: str


class MemoryLister:
    """Reads pages of visible memories, with or without `as_of`."""

    def __init__(self, stores: MemoryStores, past: VersionHistory) -> None:
        self._stores = stores
        self._past = past

    def page(
        self,
        tx: Tx,
        viewer: Viewer,
        filters: MemoryFilter,
        *,
        name: str,
        after: _ListCursor | None,
        limit: int,
    ) -> MemoryPage:
        """A page of at most `limit` rows after the cursor. `name` is part of the next cursor."""
        found = self.gather_rows(tx, viewer, filters, after=after, limit=limit + 1)
        page_rows = found[:limit]
        cursor = encode_key(name, *_row_cursor(page_rows[-1])) if len(found) > limit else None
        return MemoryPage(Page(page_rows, cursor), viewer.now, context_word(viewer))

    def visible_as_of(
        self, tx: Tx, viewer: Viewer, rows: Sequence[StoredMemory], filters: MemoryFilter
    ) -> Sequence[StoredMemory]:
        """Those of the rows that matched the filter at `as_of` and that the viewer may see as they
        were then. Without `as_of`, all rows as they are."""
        if filters.as_of is None:
            return rows
        then = self._past.with_canonical_ids(tx, rows)
        fitting = (row for row in then if matches_filter(row.memory, filters))
        return [row for row in fitting if self._past.is_visible(tx, viewer, row)]

    def gather_rows(
        self,
        tx: Tx,
        viewer: Viewer,
        filters: MemoryFilter,
        *,
        after: _ListCursor | None,
        limit: int,
        closeness: Closeness | None = None,
    ) -> Sequence[StoredMemory]:
        """At most `limit` visible rows, of any closeness or of one; fewer only at the end of the
        list."""
        # With `as_of` the query can't judge a version of that instant in full, because its fields
        # are in an sealed snapshot. Rows that `visible_as_of` drops are made up for by reading
        # on.
        page_rows: list[StoredMemory] = []
        while len(page_rows) < limit:
            wanted = limit - len(page_rows)
            rows = self._stores.memories.page(
                tx, viewer, filters, after=after, limit=wanted, closeness=closeness
            )
            page_rows += self.visible_as_of(tx, viewer, rows, filters)
            if len(rows) < wanted:
                break
            after = _row_cursor(rows[-1])
        return page_rows


def matches_filter(memory: Memory, filters: MemoryFilter) -> bool:
    """Whether an earlier version matches the filter in the fields that a PATCH may change.

    The same conditions as `_VERSIONED_CLAUSES` in `memories/store/filters_sql.py`, which judges
    everything else.
    """
    return (
        frozenset(filters.tags) <= frozenset(memory.tags)
        and (not filters.types or memory.type in filters.types)
        and (not filters.subjects or not frozenset(filters.subjects).isdisjoint(memory.subjects))
        and all(getattr(filters, name) in (None, getattr(memory, name)) for name in _EQUAL_FIELDS)
        and (filters.told_in is None or memory.portable or memory.learned_in == filters.told_in)
    )


def _row_cursor(stored: StoredMemory) -> _ListCursor:
    return stored.memory.created_at, stored.memory.id
