"""Quarantined memories."""

from datetime import datetime
from functools import cache

from sqlalchemy import ColumnElement, and_, select, tuple_

from recollect.db.statements import Query, param
from recollect.db.tables.memories import memories
from recollect.db.transaction import Tx
from recollect.kernel.runtime import Cipher
from recollect.memories.model import MemoryFilter, StoredMemory
from recollect.memories.store import relations
from recollect.memories.store.filters_sql import (
    FilterShape,
    filter_clause,
    filter_params,
)
from recollect.memories.store.rows import (
    MEMORY_COLUMNS,
    NO_RELATED_ROWS,
    MemoryRows,
)
from recollect.visibility.spaces_sql import all_can_write
from recollect.visibility.sql import ViewerShape, disclosed_clause, viewer_params
from recollect.visibility.viewer import Viewer

_m = memories.c


def writable_clause(shape: ViewerShape) -> ColumnElement[bool]:
    """May every caller write the row's space? A system viewer may write all."""
    if shape.system:
        return _m.erasure_id.is_(None)
    return and_(_m.erasure_id.is_(None), all_can_write(shape.callers))


class QuarantineStore:
    """Quarantined rows. Unlike other reads this returns rows by write permission: of spaces that
    the viewer's callers may write, or all rows for a system viewer."""

    def __init__(self, cipher: Cipher) -> None:
        self._rows = MemoryRows(cipher)

    def list_quarantined(
        self,
        tx: Tx,
        viewer: Viewer,
        filters: MemoryFilter,
        *,
        after: tuple[datetime, str] | None,
        limit: int,
    ) -> list[StoredMemory]:
        """Quarantined rows, newest first by `created_at` and id. No other read returns them; this
        is for those who may release them."""
        params = {**viewer_params(viewer), **filter_params(filters, viewer.now), "limit": limit}
        if after is not None:
            params |= {"at": after[0], "id": after[1]}
        shapes = ViewerShape.from_viewer(viewer), FilterShape.from_filter(filters)
        rows = tx.fetch(_quarantine_query(*shapes, cursor=after is not None), params)
        related = relations.fetch_related(tx, [row[_ID_AT] for row in rows])
        return [self._rows.from_row(row, related.get(row[_ID_AT], NO_RELATED_ROWS)) for row in rows]


@cache
def _quarantine_query(viewer_shape: ViewerShape, filters: FilterShape, *, cursor: bool) -> Query:
    query = select(*MEMORY_COLUMNS).where(
        writable_clause(viewer_shape), disclosed_clause(viewer_shape), filter_clause(filters)
    )
    if cursor:
        here = tuple_(param("at", _m.created_at), param("id", _m.id))
        query = query.where(tuple_(_m.created_at, _m.id) < here)
    query = query.order_by(_m.created_at.desc(), _m.id.desc())
    return Query(query.limit(param("limit")))


_ID_AT = MEMORY_COLUMNS.index(_m.id)
