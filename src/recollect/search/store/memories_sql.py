"""SQL of memory search. Statements that select rows are built and cached per shape of viewer and
filter: which values these have, not what the values are."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    Text,
    delete,
    exists,
    false,
    func,
    insert,
    literal_column,
    null,
    select,
    true,
    update,
)

from recollect.db.engines.expressions import (
    FullTextMatch,
    InNumberList,
    InTextList,
    insert_if_absent,
)
from recollect.db.statements import Query, literal_word, param
from recollect.db.tables.memories import (
    memories,
    memory_embeddings,
    memory_index,
    memory_sources,
    memory_subjects,
)
from recollect.kernel import strict_json
from recollect.memories.store.filters_sql import (
    FilterShape,
    changed_since_clause,
    filter_clause,
    filter_params,
)
from recollect.memories.store.prefilter_sql import prefilter_clause
from recollect.search.memories.rows import BUCKETS, SearchContext
from recollect.visibility.sql import ViewerShape, viewer_params, visible_clause

_m, _i, _v = memories.c, memory_index.c, memory_embeddings.c
_s, _p = memory_sources.c, memory_subjects.c

_DOC = param("doc", _i.doc)
_DOCS = param("docs", _i.terms)
_AFTER = param("after_doc", _i.doc)
_LIMIT = param("limit", _i.doc)
_MODEL = param("model", _v.model)
# The kind first: an agent and a user may have the same id.
_WRITTEN_BY_ONE = InTextList(
    _m.written_by_kind + literal_column("':'", Text) + _m.written_by_id,
    param("authors", _m.written_by_id),
)
_NEWEST_FIRST = (_m.updated_at.desc(), _m.doc.desc())
_ONE: ColumnElement[int] = literal_column("1")


@dataclass(frozen=True, slots=True)
class SearchContextShape:
    """Which parts of a search context are present; the key of the statement cache."""

    viewer: ViewerShape
    filters: FilterShape
    people: bool
    vectors: bool

    @classmethod
    def from_context(cls, context: SearchContext) -> "SearchContextShape":
        """The shape of a search context."""
        return cls(
            ViewerShape.from_viewer(context.viewer),
            FilterShape.from_filter(context.filters),
            bool(context.people),
            bool(context.model),
        )


def context_params(context: SearchContext) -> dict[str, Any]:
    """The values of a search context as statement parameters."""
    params = {
        **viewer_params(context.viewer),
        **filter_params(context.filters, context.viewer.now),
        "model": context.model,
    }
    return params | {"people": strict_json.dump(context.people)} if context.people else params


@cache
def candidates(shape: SearchContextShape) -> Query:
    """All rows that may be ranked."""
    return Query(_select_permitted(shape).limit(_LIMIT))


@cache
def word_matches(shape: SearchContextShape, *, every: bool) -> Query:
    """Rows that match the word query, or all rows, in batches."""
    query = _select_permitted(shape)
    if not every:
        query = query.where(FullTextMatch(param("query", _i.terms), memory_index))
    return _batch_query(query)


@cache
def embedded_rows(shape: SearchContextShape) -> Query:
    """Rows that have a vector of the model, in batches."""
    return _batch_query(_select_permitted(shape).where(_i.vector_model == _MODEL))


@cache
def pending_docs(shape: SearchContextShape, *, by_authors: bool) -> Query:
    """Pending rows that the viewer may see, of everybody or of these authors, newest first."""
    query = _select_permitted(shape).where(_i.pending == true())
    if by_authors:
        query = query.where(_WRITTEN_BY_ONE)
    return Query(query.with_only_columns(_m.doc).order_by(*_NEWEST_FIRST).limit(_LIMIT))


@cache
def rows_by_doc(shape: SearchContextShape) -> Query:
    """Those rows of a list that may be ranked."""
    return Query(_select_permitted(shape).where(InNumberList(_m.doc, _DOCS)))


@cache
def changed_ids(shape: SearchContextShape) -> Query:
    """Memories that changed since the filter's `as_of`: the index has their present text only."""
    query = select(_m.id).where(*_permitted_clauses(shape), changed_since_clause())
    return Query(query.order_by(_m.doc))


def _batch_query(query: Select[Any]) -> Query:
    return Query(query.where(_i.doc > _AFTER).order_by(_i.doc).limit(_LIMIT))


def _select_permitted(shape: SearchContextShape) -> Select[Any]:
    """The rows that the viewer may see and that pass the filter. With an `as_of`, only rows that
    have not changed since; past versions are added elsewhere."""
    source = memories.join(memory_index, _i.doc == _m.doc)
    unchanged = (~changed_since_clause(),) if shape.filters.as_of else ()
    # Without a query vector there is no model to compare with, and no row counts as having one.
    has_vector = _i.vector_model.is_not_distinct_from(_MODEL) if shape.vectors else false()
    return (
        select(
            _m.doc,
            _m.id,
            _i.revision,
            has_vector.label("has_vector"),
            _m.trust,
            _m.observed_at,
            _m.valid_from,
            _m.valid_until,
            _about_column(people=shape.people).label("about"),
        )
        .select_from(source)
        .where(*_permitted_clauses(shape), *unchanged)
    )


def _permitted_clauses(shape: SearchContextShape) -> Iterator[ColumnElement[bool]]:
    """What every row must pass. The prefilter grants nothing: it only lets the planner find the
    rows by index when the filter names no space."""
    yield visible_clause(shape.viewer)
    yield filter_clause(shape.filters)
    prefilter = prefilter_clause(shape.viewer, shape.filters)
    if prefilter is not None:
        yield prefilter


def _about_column(*, people: bool) -> ColumnElement[Any]:
    if not people:
        return false()
    asked_for = InTextList(_p.person_id, param("people", _p.person_id))
    return exists(select(_ONE).where(_p.memory_id == _m.id, asked_for).correlate(memories))


@cache
def pending_texts(*, bucket: bool) -> Query:
    """Pending texts, of one bucket or of all."""
    query = (
        select(_i.doc, _i.revision, _m.content, _m.id)
        .select_from(memory_index.join(memories, _m.doc == _i.doc))
        .where(_i.pending == true())
    )
    if bucket:
        share = _i.doc % literal_column(str(BUCKETS))
        query = query.where(share == param("bucket", _i.doc))
    return Query(query.order_by(_i.doc).limit(_LIMIT))


@cache
def pending_texts_by_doc(*, by_authors: bool) -> Query:
    """Those of these texts that are pending, of everybody or of these authors, newest first."""
    query = (
        select(_i.doc, _i.revision, _m.content, _m.id)
        .select_from(memory_index.join(memories, _m.doc == _i.doc))
        .where(InNumberList(_i.doc, _DOCS), _i.pending == true())
    )
    if by_authors:
        query = query.where(_WRITTEN_BY_ONE)
    return Query(query.order_by(*_NEWEST_FIRST).limit(_LIMIT))


@cache
def next_rows(*, lacking: bool) -> Query:
    """Rows by number: all, or those that have no vector of the model and are not pending."""
    query = select(_i.doc).where(_i.doc > _AFTER)
    if lacking:
        vector_exists = exists(select(_ONE).where(_v.doc == _i.doc, _v.model == _MODEL))
        query = query.where(_i.pending == false(), ~vector_exists)
    return Query(query.order_by(_i.doc).limit(_LIMIT))


_TEXT = {
    name: param(name, memory_index.c[name])
    for name in ("revision", "head", "terms", "stems", "pending")
}
SELECT_PENDING = Query(select(_i.pending).where(_i.memory_id == param("memory_id", _i.memory_id)))
SELECT_TERMS = Query(select(_i.terms, _i.revision).where(_i.doc == _DOC))
INSERT = Query(
    insert(memory_index).values(doc=_DOC, memory_id=param("memory_id", _i.memory_id), **_TEXT)
)
REPLACE = Query(update(memory_index).where(_i.doc == _DOC).values(_TEXT | {"vector_model": null()}))
DELETE_VECTOR = Query(delete(memory_embeddings).where(_v.doc == _DOC))
_ID = param("memory_id", _i.memory_id)
# In this order: a job that stores a vector locks the index row first. The other order could
# deadlock with it, or miss the vector that it is about to insert.
DELETE_ROWS = (
    Query(delete(memory_index).where(_i.memory_id == _ID)),
    Query(delete(memory_embeddings).where(_v.memory_id == _ID)),
)
WORDS = Query(
    select(_i.doc, _i.revision, _i.terms, _i.memory_id).where(InNumberList(_i.doc, _DOCS))
)
VECTORS = Query(
    select(_v.doc, _i.revision, _v.embedding)
    .select_from(memory_embeddings.join(memory_index, _i.doc == _v.doc))
    .where(InNumberList(_v.doc, _DOCS), _v.model == _MODEL)
)
DERIVED_IDS = Query(
    select(_s.source_id, _s.memory_id).where(
        _s.kind == literal_word("memory"), InTextList(_s.source_id, param("ids", _s.source_id))
    )
)
# Revision and pending flag are compared in the update itself: of two jobs that embedded the same
# text one changes the row, and neither can do so for a text that was replaced.
CLEAR_PENDING = Query(
    update(memory_index)
    .where(_i.doc == _DOC, _i.revision == param("revision", _i.revision), _i.pending == true())
    .values(pending=literal_column("false"), vector_model=_MODEL)
)
# From the index row, so that nothing is inserted for a row that was dropped meanwhile.
INSERT_VECTOR = Query(
    insert_if_absent(memory_embeddings, "doc").from_select(
        ["doc", "memory_id", "embedding", "model", "dimensions"],
        select(
            _i.doc,
            _i.memory_id,
            param("embedding", _v.embedding),
            _MODEL,
            param("dimensions", _v.dimensions),
        ).where(_i.doc == _DOC),
    )
)
MARK_PENDING = Query(
    update(memory_index).where(InNumberList(_i.doc, _DOCS)).values(pending=literal_column("true"))
)
PROGRESS = Query(
    select(func.count(), func.count().filter(_i.pending == true())).select_from(memory_index)
)
