"""SQL statements of the graph. An edge is visible iff its memory is, so reads join the two and use
the clauses of visibility and filter. Edges from an entity to itself, which a merge of people may
leave, are never returned."""

from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    func,
    insert,
    or_,
    select,
    tuple_,
    union_all,
    update,
)

from recollect.db.engines.expressions import InTextList, insert_if_absent
from recollect.db.statements import Query, param
from recollect.db.tables.memories import (
    entities,
    memories,
    memory_subjects,
    memory_versions,
    relations,
)
from recollect.graph.fact_patterns import EntityKind
from recollect.memories.store.filters_sql import (
    FilterShape,
    changed_since_clause,
    filter_clause,
)
from recollect.memories.store.prefilter_sql import prefilter_clause
from recollect.visibility.sql import ViewerShape, visible_clause

_e, _r, _m, _s, _v = entities.c, relations.c, memories.c, memory_subjects.c, memory_versions.c

_IDS = param("ids", _r.from_id)
_LIMIT = param("limit", _m.doc)
_AS_OF = param("f_as_of", _m.valid_from)
_ENTITY = (_e.id, _e.kind, _e.name, _e.space_kind, _e.space_id)


@cache
def neighbours(viewer_shape: ViewerShape, filter_shape: FilterShape) -> Query:
    """Visible edges at any of the ids, the newest first."""
    query = _visible_edges(
        viewer_shape, filter_shape, or_(InTextList(_r.from_id, _IDS), InTextList(_r.to_id, _IDS))
    )
    return Query(query.order_by(_r.recorded_at.desc(), _r.id.desc()).limit(_LIMIT))


@cache
def entity_page(
    viewer_shape: ViewerShape, filter_shape: FilterShape, *, kind: EntityKind | None, cursor: bool
) -> Query:
    """Entities at visible edges, each with the time of its first visible edge."""
    # MATERIALIZED: the visible edges are needed twice, once for each end, and checking visibility
    # is the expensive part.
    reach = prefilter_clause(viewer_shape, filter_shape)
    within = () if reach is None else (reach,)
    edges = (
        _visible_edges(viewer_shape, filter_shape, *within)
        .cte("edges")
        .prefix_with("MATERIALIZED")
        .c
    )
    ends = union_all(
        select(edges.from_id.label("id"), edges.recorded_at.label("at")),
        select(edges.to_id.label("id"), edges.recorded_at.label("at")),
    ).subquery()
    first = select(ends.c.id, func.min(ends.c.at).label("since")).group_by(ends.c.id).subquery().c
    query = select(first.id, _e.kind, _e.name, _e.space_kind, _e.space_id, first.since)
    query = query.outerjoin_from(first.id.table, entities, _e.id == first.id)
    if kind is not None:
        is_person = kind is EntityKind.PERSON
        query = query.where(_e.id.is_(None) if is_person else _e.kind == param("kind", _e.kind))
    if cursor:
        here = tuple_(param("at", _r.recorded_at), param("id", _r.id))
        query = query.where(tuple_(first.since, first.id) < here)
    return Query(query.order_by(first.since.desc(), first.id.desc()).limit(_LIMIT))


@cache
def memories_about(viewer_shape: ViewerShape, filter_shape: FilterShape) -> Query:
    """Visible memories about any of the people. With `as_of`, only memories that did not change
    since: the table of subjects holds the current ones only."""
    unchanged = (~changed_since_clause(),) if filter_shape.as_of else ()
    query = (
        select(_m.id, _s.person_id)
        .join_from(memory_subjects, memories, _s.memory_id == _m.id)
        .where(
            InTextList(_s.person_id, _IDS),
            visible_clause(viewer_shape),
            filter_clause(filter_shape),
        )
        .where(*unchanged)
    )
    return Query(query.order_by(_m.created_at.desc(), _m.id.desc()).limit(_LIMIT))


def _visible_edges(
    viewer_shape: ViewerShape, filter_shape: FilterShape, *where: ColumnElement[bool]
) -> Select[tuple[Any, ...]]:
    """Visible edges. The time in which the fact was true is that of the memory; with `as_of`, that
    of the memory's version of then."""
    valid = _v if filter_shape.as_of else _m
    query = select(
        _r.id,
        _r.from_id,
        _r.to_id,
        _r.relation,
        _r.memory_id,
        _m.space_kind,
        _m.space_id,
        valid.valid_from,
        valid.valid_until,
        _r.recorded_at,
        func.coalesce(_r.retracted_at, _m.retracted_at).label("retracted_at"),
    ).join_from(relations, memories, _r.memory_id == _m.id)
    if filter_shape.as_of:
        query = query.join(
            memory_versions, and_(_v.memory_id == _m.id, _contains_as_of(_v.at, _v.until))
        )
        query = query.where(_contains_as_of(_r.recorded_at, _r.retracted_at))
    else:
        query = query.where(_r.retracted_at.is_(None))
    return query.where(
        *where, _r.from_id != _r.to_id, visible_clause(viewer_shape), filter_clause(filter_shape)
    )


def _contains_as_of(start: ColumnElement[Any], end: ColumnElement[Any]) -> ColumnElement[bool]:
    return and_(start <= _AS_OF, or_(end.is_(None), end > _AS_OF))


_SAME_ENTITY = (
    _e.space_kind == param("space_kind", _e.space_kind),
    _e.space_id == param("space_id", _e.space_id),
    _e.kind == param("kind", _e.kind),
    _e.fold == param("fold", _e.fold),
)
PUT_ENTITY = Query(
    insert_if_absent(entities, "space_kind", "space_id", "kind", "fold").values(
        {column.name: param(column.name, column) for column in entities.columns}
    )
)
LOCK_ENTITY = Query(select(_e.id).where(*_SAME_ENTITY).with_for_update())
FIND_ENTITY = Query(select(_e.id).where(*_SAME_ENTITY))
FETCH_ENTITIES = Query(select(*_ENTITY).where(InTextList(_e.id, _IDS)))
CURRENT_EDGES = Query(
    select(_r.id, _r.from_id, _r.relation, _r.to_id)
    .where(_r.memory_id == param("memory_id", _r.memory_id), _r.retracted_at.is_(None))
    .order_by(_r.id)
)
INSERT_EDGE = Query(
    insert(relations).values(
        {
            column.name: param(column.name, column)
            for column in relations.columns
            if column.name != "retracted_at"
        }
    )
)
RETRACT_EDGE = Query(
    update(relations)
    .where(_r.id == param("id", _r.id))
    .values(retracted_at=param("at", _r.recorded_at))
)
