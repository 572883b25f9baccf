"""SQL for pages of statement vectors, ordered by space and time. An index has that order."""

import numpy as np
from sqlalchemy import and_, select, true, tuple_

from recollect.domain.memories import Kind
from recollect.ports.database import Tx
from recollect.ports.doctor import Looking, SpacedVector, SpacePlace
from recollect.stores.doctor_checks import ACTIVE
from recollect.stores.memory_tables import memories, memory_embeddings
from recollect.stores.statements import Statement, param, word

_m, _v = memories.c, memory_embeddings.c
_PLACE = (_m.space_kind, _m.space_id, _m.created_at, _m.id)


def page(tx: Tx, looking: Looking, *, after: SpacePlace | None, limit: int) -> list[SpacedVector]:
    """The page after the cursor. Vectors are stored big-endian."""
    params = {"model": looking.model, "now": looking.now, "limit": limit}
    statement = _FIRST if after is None else _NEXT
    rows = tx.fetch(statement, params | (after._asdict() if after is not None else {}))
    return [
        SpacedVector(SpacePlace(*row[:4]), np.frombuffer(row[4], dtype=">f4").astype(np.float32))
        for row in rows
    ]


_HERE = tuple_(
    param("space_kind", _m.space_kind),
    param("space_id", _m.space_id),
    param("created_at", _m.created_at),
    param("memory_id", _m.id),
)
_ALL = (
    select(*_PLACE, _v.embedding)
    .select_from(
        memories.join(
            memory_embeddings, and_(_v.doc == _m.doc, _v.model == param("model", _v.model))
        )
    )
    .where(
        ACTIVE,
        _m.kind == word(Kind.STATEMENT),
        _m.verified == true(),
        _m.messages.is_(None),
        _m.bare_names.is_(None),
    )
    .order_by(*_PLACE)
    .limit(param("limit"))
)
_FIRST = Statement(_ALL)
_NEXT = Statement(_ALL.where(tuple_(*_PLACE) > _HERE))
