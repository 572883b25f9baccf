"""SQL store of reconciliation. The nearest statements are found exactly: every comparable vector is
read in batches, and the best are kept."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import ColumnElement, and_, false, not_, select

from recollect.db.engines.expressions import InNumberList
from recollect.db.statements import Params, Query, Row, literal_word, param
from recollect.db.tables.memories import memories, memory_embeddings
from recollect.db.transaction import Tx
from recollect.embedding.port import Vector
from recollect.kernel import strict_json
from recollect.kernel.ids import MemoryId, PersonId
from recollect.memories.model import Memory, MemoryFilter, StoredMemory, TrustLevel
from recollect.memories.store.filters_sql import (
    FilterShape,
    filter_clause,
    filter_params,
)
from recollect.memories.supersede.rules import HEARSAY_KINDS

_m, _v = memories.c, memory_embeddings.c
_BATCH_ROWS = 4_000
_HEARSAY_SPACES = tuple((kind, None) for kind in HEARSAY_KINDS)


class SimilarMemory(NamedTuple):
    """A statement and the cosine similarity of its vector to the compared one."""

    memory_id: MemoryId
    similarity: float


class ComparisonQuery(NamedTuple):
    """The compared statement with its vector, at an instant. Finds at most `limit` others, among
    vectors of the same model."""

    stored: StoredMemory
    vector: Vector
    model: str
    now: datetime
    limit: int


class SimilarityStore:
    """Finds active, unexpired statements whose subjects are resolved. Lists of messages are left
    out."""

    def fetch_ids(self, tx: Tx, docs: Sequence[int]) -> list[MemoryId]:
        """The memories with these `doc` numbers, in the order of the numbers: oldest row first."""
        return [MemoryId(row[0]) for row in tx.fetch(_IDS, {"docs": strict_json.dump(list(docs))})]

    def fetch_vector(self, tx: Tx, memory_id: MemoryId, *, model: str) -> Vector | None:
        """The memory's vector of this model; None if there is none."""
        row = tx.fetch_first(_VECTOR, {"id": memory_id, "model": model})
        return None if row is None else np.frombuffer(row[0], dtype=">f4")

    def nearest_in_space(self, tx: Tx, what: ComparisonQuery) -> list[SimilarMemory]:
        """The nearest in the same space with a common subject; without subjects if it has none."""
        memory = what.stored.memory
        space = memory.space
        people = tuple(map(PersonId, memory.subjects))
        filters = MemoryFilter(spaces=((space.kind, space.id),), subjects=people)
        return _search_nearest(tx, what, filters, elsewhere=False, hearsay=False)

    def nearest_elsewhere(self, tx: Tx, what: ComparisonQuery) -> list[SimilarMemory]:
        """The nearest in other spaces that could replace it or be replaced by it.

        For a statement about oneself: hearsay about that person. For hearsay about one person: what
        that person said of themself. For anything else nothing.
        """
        memory = what.stored.memory
        if len(memory.subjects) != 1:
            return []
        person = PersonId(memory.subjects[0])
        if memory.stated_by == person:
            filters = MemoryFilter(spaces=_HEARSAY_SPACES, subjects=(person,))
            return _search_nearest(tx, what, filters, elsewhere=True, hearsay=True)
        if not _is_replaceable_hearsay(memory):
            return []
        filters = MemoryFilter(stated_by=person, subjects=(person,))
        return _search_nearest(tx, what, filters, elsewhere=True, hearsay=False)


def _is_replaceable_hearsay(memory: Memory) -> bool:
    """Whether it is hearsay that its subject may replace from another space."""
    return memory.trust is TrustLevel.HEARSAY and memory.space.kind in HEARSAY_KINDS


def _search_nearest(
    tx: Tx, what: ComparisonQuery, filters: MemoryFilter, *, elsewhere: bool, hearsay: bool
) -> list[SimilarMemory]:
    shape = FilterShape.from_filter(filters)
    statement = _comparable_query(
        shape, nobody=not filters.subjects, elsewhere=elsewhere, hearsay=hearsay
    )
    space = what.stored.memory.space
    params = filter_params(filters, what.now) | {
        "id": what.stored.memory.id,
        "model": what.model,
        "space_kind": space.kind,
        "space_id": space.id,
    }
    # Exact, without an approximate index: the filter leaves the rows of one space or one person,
    # and a missed duplicate would stay. Stored vectors have length 1, so one matrix product a
    # batch gives all cosines. Memory is bounded by the batch, not by the space.
    wanted = np.asarray(what.vector, dtype=np.float32)
    best: list[SimilarMemory] = []
    for rows in _fetch_batches(tx, statement, params):
        block = np.frombuffer(b"".join(row[2] for row in rows), dtype=">f4")
        found = block.reshape(len(rows), -1).astype(np.float32) @ wanted
        near = (
            SimilarMemory(MemoryId(row[1]), float(one))
            for row, one in zip(rows, found, strict=True)
        )
        best = _keep_best([*best, *near], what.limit)
    return best


def _keep_best(found: Iterable[SimilarMemory], limit: int) -> list[SimilarMemory]:
    return sorted(found, key=lambda one: (-one.similarity, one.memory_id))[:limit]


def _fetch_batches(tx: Tx, statement: Query, params: Params) -> Iterator[Sequence[Row]]:
    after, more = 0, True
    while more:
        rows = tx.fetch(statement, {**params, "after_doc": after, "limit": _BATCH_ROWS})
        more = len(rows) == _BATCH_ROWS
        if rows:
            after = rows[-1][0]
            yield rows


@cache
def _comparable_query(
    filters: FilterShape, *, nobody: bool, elsewhere: bool, hearsay: bool
) -> Query:
    conditions: list[ColumnElement[bool]] = [filter_clause(filters), *_COMPARABLE]
    if nobody:
        conditions.append(_m.has_subjects == false())
    if elsewhere:
        conditions.append(not_(_IN_SPACE))
    if hearsay:
        conditions.append(_m.trust == literal_word(TrustLevel.HEARSAY))
    vectors = and_(_v.doc == _m.doc, _v.model == param("model", _v.model))
    return Query(
        select(_m.doc, _m.id, _v.embedding)
        .select_from(memories.join(memory_embeddings, vectors))
        .where(*conditions)
        .order_by(_m.doc)
        .limit(param("limit", _m.doc))
    )


_ID = param("id", _m.id)
_IN_SPACE = and_(
    _m.space_kind == param("space_kind", _m.space_kind),
    _m.space_id == param("space_id", _m.space_id),
)
# Narrows the rows before `is_comparable` judges them. Statements with unresolved names are about
# somebody unknown; a list of messages says many things.
_COMPARABLE: tuple[ColumnElement[Any], ...] = (
    _m.kind == literal_word("statement"),
    _m.messages.is_(None),
    _m.bare_names.is_(None),
    _m.erasure_id.is_(None),
    _m.id != _ID,
    _m.doc > param("after_doc", _m.doc),
)
_IDS = Query(select(_m.id).where(InNumberList(_m.doc, param("docs", _m.content))).order_by(_m.doc))
_VECTOR = Query(
    select(_v.embedding).where(
        _v.memory_id == param("id", _v.memory_id), _v.model == param("model", _v.model)
    )
)
