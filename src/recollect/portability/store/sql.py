"""Queries of an export: the chosen memories, and by type the rows that they refer to, in pages."""

from functools import cache
from typing import Any

from sqlalchemy import (
    CTE,
    ColumnElement,
    Select,
    and_,
    func,
    or_,
    select,
    tuple_,
    union,
)

from recollect.db.engines.expressions import InTextList
from recollect.db.statements import Query, literal_word, param
from recollect.db.tables.memories import memories, memory_subjects
from recollect.db.tables.people import (
    agents,
    chat_participations,
    named_chats,
    people,
    person_merges,
    run_ancestors,
    runs,
)
from recollect.kernel.space import SpaceKind
from recollect.memories.store.filters_sql import FilterShape, filter_clause
from recollect.memories.store.pages import PageShape
from recollect.memories.store.prefilter_sql import PageOrder, prefilter_clause
from recollect.portability.lines import LineType
from recollect.portability.store import rows
from recollect.retention.quarantine_store import writable_clause
from recollect.visibility.spaces_sql import ASKER_CHATS
from recollect.visibility.sql import (
    ViewerShape,
    visible_clause,
    visible_or_compacted_clause,
)

_m, _p = memories.c, people.c

TABLES = {
    LineType.AGENT: rows.AGENTS,
    LineType.PERSON: rows.PEOPLE,
    LineType.MERGE: rows.MERGES,
    LineType.CHAT: rows.CHATS,
    LineType.PARTICIPANT: rows.PARTICIPATIONS,
    LineType.RUN: rows.RUNS,
    LineType.VERSION: rows.VERSIONS,
    LineType.RELATION: rows.RELATIONS,
    LineType.APPROVAL: rows.APPROVALS,
}
_PARTICIPATIONS = chat_participations.c
_RUN_DEPTH: ColumnElement[Any] = (
    select(func.count())
    .where(run_ancestors.c.run_id == runs.c.id)
    .correlate(runs)
    .scalar_subquery()
)
# The sort key of a type is its cursor, so it must be unique. Runs are ordered by depth: a run comes
# after its ancestors, because an import needs the parent to find the root.
SORT_KEYS: dict[LineType, tuple[ColumnElement[Any], ...]] = {
    LineType.AGENT: (agents.c.id,),
    LineType.PERSON: (_p.id,),
    LineType.MERGE: (person_merges.c.at, person_merges.c.id),
    LineType.CHAT: (named_chats.c.id,),
    LineType.PARTICIPANT: (
        _PARTICIPATIONS.chat_id,
        _PARTICIPATIONS.kind,
        _PARTICIPATIONS.member_id,
        _PARTICIPATIONS.joined_at,
    ),
    LineType.RUN: (_RUN_DEPTH, runs.c.id),
}


def memory_pages(seen: ViewerShape, filters: FilterShape) -> PageShape:
    """Memories, oldest first."""
    return PageShape(seen, filters, PageOrder.OLDEST_FIRST, _memory_clause, writable=True)


@cache
def page(
    type_: LineType,
    seen: ViewerShape,
    filters: FilterShape,
    *,
    everything: bool,
    cursor: bool,
) -> Query:
    """Rows of another type: the columns of its sort key, then the exported columns. The queries are
    cached by the shapes of viewer and filter: values are bound as parameters, so few texts exist.
    """
    order = SORT_KEYS[type_]
    query = select(*order, *TABLES[type_].columns)
    if type_ is LineType.PERSON:
        query = query.where(_p.erasure_id.is_(None))
    if not everything:
        picked = _picked_memories(seen, filters)
        query = query.where(_REFERRED_CLAUSES[type_](picked, seen.system))
    return Query(_add_paging(query, order, cursor=cursor))


def _memory_clause(seen: ViewerShape, filters: FilterShape) -> ColumnElement[bool]:
    # Compacted memories are exported as well, unless with `as_of`: what they said then is gone.
    viewer = visible_clause(seen) if filters.as_of else visible_or_compacted_clause(seen)
    return and_(viewer, writable_clause(seen), filter_clause(filters))


# The clauses below say which rows of a type the picked memories refer to. The second argument is
# True for an admin's export. An owner's has fewer rows: no people that were merged into others, and
# only chats in which the owner takes part.


def _picked_memories(seen: ViewerShape, filters: FilterShape) -> CTE:
    named = (
        _m.id,
        _m.agent_id,
        _m.source_agent,
        _m.stated_by,
        _m.learned_in,
        _m.space_kind,
        _m.space_id,
        _m.run_id,
    )
    query = select(*named).where(_memory_clause(seen, filters))
    prefilter = prefilter_clause(seen, filters, writable=True)
    return (query if prefilter is None else query.where(prefilter)).cte("picked")


def _add_paging(query: Select[Any], order: tuple[Any, ...], *, cursor: bool) -> Select[Any]:
    if cursor:
        here = tuple_(*(param(f"after_{at}", column) for at, column in enumerate(order)))
        query = query.where(tuple_(*order) > here)
    return query.order_by(*order).limit(param("limit"))


def _agents_clause(picked: CTE, _all: bool) -> ColumnElement[bool]:
    ids = union(select(picked.c.agent_id), select(picked.c.source_agent))
    return agents.c.id.in_(ids)


def _people_ids(picked: CTE) -> Any:
    subjects = select(memory_subjects.c.person_id).where(
        memory_subjects.c.memory_id.in_(select(picked.c.id))
    )
    stated = select(picked.c.stated_by).where(picked.c.stated_by.is_not(None))
    return union(subjects, stated)


def _people_clause(picked: CTE, all_: bool) -> ColumnElement[bool]:
    ids = _people_ids(picked)
    return or_(_p.id.in_(ids), _p.merged_into.in_(ids)) if all_ else _p.id.in_(ids)


def _merges_clause(picked: CTE, _all: bool) -> ColumnElement[bool]:
    ids = _people_ids(picked)
    return or_(person_merges.c.primary_id.in_(ids), person_merges.c.secondary_id.in_(ids))


def _chats_clause(picked: CTE, all_: bool) -> ColumnElement[bool]:
    learned = select(picked.c.learned_in).where(picked.c.learned_in.is_not(None))
    lying = select(picked.c.space_id).where(picked.c.space_kind == literal_word(SpaceKind.CHAT))
    named = named_chats.c.id.in_(union(learned, lying))
    return named if all_ else and_(named, InTextList(named_chats.c.id, ASKER_CHATS))


def _participations_clause(picked: CTE, all_: bool) -> ColumnElement[bool]:
    return _PARTICIPATIONS.chat_id.in_(select(named_chats.c.id).where(_chats_clause(picked, all_)))


def _runs_clause(picked: CTE, _all: bool) -> ColumnElement[bool]:
    # With all ancestors: an import needs the parent of each run.
    own = select(picked.c.run_id).where(picked.c.run_id.is_not(None))
    above = select(run_ancestors.c.ancestor_id).where(run_ancestors.c.run_id.in_(own))
    return or_(runs.c.id.in_(own), runs.c.id.in_(above))


_REFERRED_CLAUSES = {
    LineType.AGENT: _agents_clause,
    LineType.PERSON: _people_clause,
    LineType.MERGE: _merges_clause,
    LineType.CHAT: _chats_clause,
    LineType.PARTICIPANT: _participations_clause,
    LineType.RUN: _runs_clause,
}
