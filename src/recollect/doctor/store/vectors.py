"""SQL for pages of statement vectors, ordered by space and time, which an index supports."""

import numpy as np
from sqlalchemy import and_, select, true, tuple_

from recollect.db.statements import Query, literal_word, param
from recollect.db.tables.memories import memories, memory_embeddings
from recollect.db.transaction import Tx
from recollect.doctor.rows import CheckContext, StatementVector, VectorCursor
from recollect.doctor.store.checks_sql import ACTIVE
from recollect.memories.model import MemoryKind

_m, _v = memories.c, memory_embeddings.c
_CURSOR_COLUMNS = (_m.space_kind, _m.space_id, _m.created_at, _m.id)


def vectors_page(
    tx: Tx, context: CheckContext, *, after: VectorCursor | None, limit: int
) -> list[StatementVector]:
    """The page after the cursor. Vectors are stored big-endian."""
    params = {"model": context.model, "now": context.now, "limit": limit}
    statement = _FIRST if after is None else _NEXT
    rows = tx.fetch(statement, params | (after._asdict() if after is not None else {}))
    return [
        StatementVector(
            VectorCursor(*row[:4]), np.frombuffer(row[4], dtype=">f4").astype(np.float32)
        )
        for row in rows
    ]


_CURSOR = tuple_(
    param("space_kind", _m.space_kind),
    param("space_id", _m.space_id),
    param("created_at", _m.created_at),
    param("memory_id", _m.id),
)
_ALL = (
    select(*_CURSOR_COLUMNS, _v.embedding)
    .select_from(
        memories.join(
            memory_embeddings, and_(_v.doc == _m.doc, _v.model == param("model", _v.model))
        )
    )
    .where(
        ACTIVE,
        _m.kind == literal_word(MemoryKind.STATEMENT),
        _m.verified == true(),
        _m.messages.is_(None),
        _m.bare_names.is_(None),
    )
    .order_by(*_CURSOR_COLUMNS)
    .limit(param("limit"))
)
_FIRST = Query(_ALL)
_NEXT = Query(_ALL.where(tuple_(*_CURSOR_COLUMNS) > _CURSOR))
