"""Pages of memories in the order of their creation, for lists and exports.

A read that names no space takes candidates from the prefilter, in order and a batch at a time,
until enough of them are visible. So it reads what the caller may see and little beside it. Any
other read is one statement over the spaces that it names.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Select, select

from recollect.db.engines.expressions import InNumberList
from recollect.db.statements import Query, Row, param
from recollect.db.tables.memories import memories
from recollect.db.transaction import Tx
from recollect.kernel import strict_json
from recollect.memories.store.filters_sql import FilterShape
from recollect.memories.store.prefilter_sql import (
    PageOrder,
    candidate_page,
    in_order,
    is_behind,
)
from recollect.memories.store.rows import MEMORY_COLUMNS
from recollect.visibility.sql import ViewerShape

_m = memories.c

PageCursor = tuple[datetime, str]
PermittedClause = Callable[[ViewerShape, FilterShape], ColumnElement[bool]]
# A batch is a few times a page, then four times the one before: a filter that few of many rows pass
# costs some statements, not one for each page's worth of rows.
_BATCH_MIN, _BATCH_MAX, _BATCH_GROWTH = 100, 10_000, 4


@dataclass(frozen=True, slots=True)
class PageShape:
    """What decides the text of the statements of a page; the key of their caches. `permitted` has
    the clause that every row must pass. `writable`: it demands the right to write the space."""

    viewer: ViewerShape
    filters: FilterShape
    order: PageOrder
    permitted: PermittedClause
    writable: bool = False


def fetch_page(
    tx: Tx,
    shape: PageShape,
    params: Mapping[str, Any],
    *,
    after: PageCursor | None,
    limit: int,
) -> Sequence[Row]:
    """The first `limit` permitted rows after the cursor, with the columns `MEMORY_COLUMNS`; fewer
    only at the end."""
    found: list[Row] = []
    batch = max(_BATCH_MIN, 2 * limit)
    while len(found) < limit:
        here = {**params, **_cursor_params(after), "limit": limit, "batch": batch}
        query = _candidates(shape, cursor=after is not None)
        if query is None:
            return tx.fetch(_whole_query(shape, cursor=after is not None), here)
        candidates = tx.fetch(query, here)
        docs = strict_json.dump([row[0] for row in candidates])
        found += tx.fetch(_rows_query(shape), {**params, "docs": docs})
        if len(candidates) < batch:
            break
        after = (candidates[-1][1], candidates[-1][2])
        batch = min(_BATCH_MAX, batch * _BATCH_GROWTH)
    return found[:limit]


def _cursor_params(after: PageCursor | None) -> dict[str, Any]:
    return {} if after is None else {"at": after[0], "id": after[1]}


def _candidates(shape: PageShape, *, cursor: bool) -> Query | None:
    return candidate_page(
        shape.viewer, shape.filters, shape.order, cursor=cursor, writable=shape.writable
    )


@cache
def _whole_query(shape: PageShape, *, cursor: bool) -> Query:
    # Keyset pagination: pages stay stable while rows are inserted, and a late page costs no more
    # than the first.
    query = _select_permitted(shape)
    if cursor:
        query = query.where(is_behind(shape.order))
    return Query(query.limit(param("limit")))


@cache
def _rows_query(shape: PageShape) -> Query:
    return Query(_select_permitted(shape).where(InNumberList(_m.doc, param("docs"))))


def _select_permitted(shape: PageShape) -> Select[Any]:
    query = select(*MEMORY_COLUMNS).where(shape.permitted(shape.viewer, shape.filters))
    return query.order_by(*in_order(shape.order, _m.created_at, _m.id))
