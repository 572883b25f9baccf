"""A prefilter for reads that name no space: a superset of the wanted rows that indexes can find.

It grants nothing: `visible_clause` still decides about every row. Without it, such a read would
evaluate the visibility clause on every memory of the database.

The prefilter is a union of small queries: one for each space that a caller may read, and one for
each relation between the asker and memories of other spaces; in a group, between those who take
part and these memories. Where a group may hear of anyone, a memory is visible by its own fields.
Then there is nothing to look up by index, and no prefilter. The property test of the visibility
rules also runs with the prefilter and must find the same rows, so it notices a part that is missing
here.

A search takes all of it, `prefilter_clause`. A page takes the next ones in its order,
`candidate_page`: what comes behind them is read from an index and no further.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    func,
    or_,
    select,
    true,
    tuple_,
    union,
    union_all,
)

from recollect.db.engines.expressions import InSubquery, InTextList
from recollect.db.statements import Query, literal_word, param
from recollect.db.tables.memories import memories, memory_subjects
from recollect.db.tables.people import agents, run_ancestors, runs
from recollect.kernel.owner import OwnerKind
from recollect.kernel.space import AGENT_KINDS, SpaceKind
from recollect.memories.model import MemoryOrigin, Sensitivity
from recollect.memories.store.filters_sql import FilterShape
from recollect.visibility.spaces_sql import ASKER_CHATS, CallerShape
from recollect.visibility.sql import (
    ASKER_PERSON,
    ASKER_USERS,
    CHAT_PEOPLE,
    CHAT_USERS,
    CURRENT_CHAT,
    ViewerShape,
    has_asker_joined,
    has_participant_joined,
)

_m, _s, _a, _r, _u = memories.c, memory_subjects.c, agents.c, runs.c, run_ancestors.c
_BATCH = param("batch", _m.doc)
_DISCLOSED_KINDS = (SpaceKind.USER, SpaceKind.CHAT)


@dataclass(frozen=True, slots=True)
class _PrefilterPart:
    """The kinds of spaces in which a part finds rows, and its condition. `ordered`: an index has
    these rows by time."""

    kinds: tuple[SpaceKind, ...]
    where: ColumnElement[bool]
    ordered: bool = False


class PageOrder(Enum):
    """The order of a list, by `created_at` and id."""

    NEWEST_FIRST = "newest"
    OLDEST_FIRST = "oldest"


@cache
def prefilter_clause(
    seen: ViewerShape, filters: FilterShape, *, writable: bool = False
) -> ColumnElement[bool] | None:
    """Could the viewer see the row, or with `writable` write its space? None where the prefilter
    would not help: for background work, in groups that may hear of anyone, and where the filter
    names spaces and thereby already narrows the read.
    """
    parts = _parts(seen, filters, writable=writable)
    if parts is None:
        return None
    # Parts may overlap, but IN asks once only, and a UNION would be sorted.
    found = union_all(*(_select_part(part, filters, _m.doc) for part in parts))
    return InSubquery(_m.doc, found.scalar_subquery())


@cache
def candidate_page(
    seen: ViewerShape,
    filters: FilterShape,
    order: PageOrder,
    *,
    cursor: bool,
    writable: bool = False,
) -> Query | None:
    """The first `batch` rows of the prefilter after the cursor (`at`, `id`): number, time and id of
    each. None where there is no prefilter."""
    parts = _parts(seen, filters, writable=writable)
    if parts is None:
        return None
    pages = (_page_of_part(part, filters, order, cursor=cursor) for part in parts)
    found = union(*(select(page.subquery()) for page in pages)).subquery().c
    query = select(found.doc, found.created_at, found.id)
    return Query(query.order_by(*in_order(order, found.created_at, found.id)).limit(_BATCH))


def _parts(
    seen: ViewerShape, filters: FilterShape, *, writable: bool
) -> Sequence[_PrefilterPart] | None:
    # Parts may overlap and may return rows that are not visible; they must not miss one. When a
    # new way to disclose a memory is added to `disclosed_clause`, it needs a part here.
    if seen.system or not filters.is_unrestricted:
        return None
    if writable:
        return [*_told_parts(), *(_writable_parts(seen.callers[0]) if seen.callers else ())]
    if seen.anyone:
        return None
    return [*_disclosure_parts(seen), *(_space_parts(seen.callers[0]) if seen.callers else ())]


def _select_part(
    part: _PrefilterPart, filters: FilterShape, *columns: ColumnElement[Any]
) -> Select[Any]:
    """The rows of one part. If the filter asks for some kinds of spaces only, a part of other kinds
    returns nothing. That comparison has no column in it, so it costs nothing for each row."""
    query = select(*columns).where(part.where)
    if filters.kinds is None or not filters.kinds.isdisjoint(part.kinds):
        return query
    listed = param("f_kinds", _m.space_kind)
    return query.where(or_(*(InTextList(literal_word(kind), listed) for kind in part.kinds)))


def _page_of_part(
    part: _PrefilterPart, filters: FilterShape, order: PageOrder, *, cursor: bool
) -> Select[Any]:
    query = _select_part(part, filters, _m.doc, _m.created_at, _m.id)
    if cursor:
        query = query.where(is_behind(order))
    # Elsewhere the order is by an expression that no index has. With the plain column an engine may
    # walk the index on time through everybody's rows, expecting to meet enough of the part soon.
    at = _m.created_at if part.ordered else func.coalesce(_m.created_at, _m.created_at)
    return query.order_by(*in_order(order, at, _m.id)).limit(_BATCH)


def is_behind(order: PageOrder) -> ColumnElement[bool]:
    """Does the row come after the cursor (`at`, `id`)?"""
    here = tuple_(param("at", _m.created_at), param("id", _m.id))
    place = tuple_(_m.created_at, _m.id)
    return place < here if order is PageOrder.NEWEST_FIRST else place > here


def in_order(order: PageOrder, *columns: ColumnElement[Any]) -> list[ColumnElement[Any]]:
    """The columns as an ORDER BY takes them."""
    if order is PageOrder.NEWEST_FIRST:
        return [column.desc() for column in columns]
    return list(columns)


def _told_parts() -> Iterator[_PrefilterPart]:
    """The asker's own spaces and chats."""
    yield _part_of(SpaceKind.USER, InTextList(_m.space_id, ASKER_USERS))
    yield _part_of(SpaceKind.CHAT, InTextList(_m.space_id, ASKER_CHATS))


def _disclosure_parts(seen: ViewerShape) -> Iterator[_PrefilterPart]:
    """Spaces of users and chats: the asker's own, and memories elsewhere to which the asker has one
    of the relations that disclose a memory."""
    if seen.is_group:
        yield from _group_parts(seen)
        return
    yield from _told_parts()
    if seen.chat is not None:
        yield _part_of(SpaceKind.CHAT, _m.space_id == CURRENT_CHAT)
    if not seen.closed:
        yield _PrefilterPart(_DISCLOSED_KINDS, _IS_OPEN_IMPORT, ordered=True)
    if seen.person:
        for related in (_m.stated_by == ASKER_PERSON, _is_about_asker(), has_asker_joined()):
            yield _PrefilterPart(_DISCLOSED_KINDS, related)


def _group_parts(seen: ViewerShape) -> Iterator[_PrefilterPart]:
    """The spaces of the chat and of the asker, and memories elsewhere to which one of the confirmed
    participants has a relation. Who asks need not be confirmed, and hears what is personal about
    themself."""
    yield _part_of(SpaceKind.CHAT, _m.space_id == CURRENT_CHAT)
    for users in (ASKER_USERS, CHAT_USERS):
        yield _part_of(SpaceKind.USER, InTextList(_m.space_id, users))
    about = _is_among(_m.id, select(_s.memory_id).where(InTextList(_s.person_id, CHAT_PEOPLE)))
    for related in (InTextList(_m.stated_by, CHAT_PEOPLE), about, has_participant_joined()):
        yield _PrefilterPart(_DISCLOSED_KINDS, related)
    if seen.person:
        yield _PrefilterPart(_DISCLOSED_KINDS, _is_about_asker())


def _is_about_asker() -> ColumnElement[bool]:
    return _is_among(_m.id, select(_s.memory_id).where(_s.person_id == ASKER_PERSON))


def _space_parts(caller: CallerShape) -> Iterator[_PrefilterPart]:
    """Spaces of agents, runs and orgs. All callers must be able to read them, so what the first
    caller can read is a superset already."""
    for kind in (SpaceKind.AGENT_PUBLIC, SpaceKind.AGENT):
        yield _PrefilterPart((kind,), _m.space_kind == literal_word(kind), ordered=True)
    yield _part_of(SpaceKind.ORG, InTextList(_m.space_id, caller.orgs))
    yield from _owned_parts(caller, (SpaceKind.AGENT_PRIVATE,))
    if caller.kind is OwnerKind.AGENT:
        yield from _lineage_parts(caller)


def _writable_parts(caller: CallerShape) -> Iterator[_PrefilterPart]:
    """Spaces of agents, runs and orgs that the first caller may write."""
    yield from _owned_parts(caller, sorted(AGENT_KINDS))
    by_owned = and_(_is_among(_m.agent_id, _owned_agents(caller)), _is_of(SpaceKind.ORG))
    yield _PrefilterPart((SpaceKind.ORG,), by_owned)
    yield _part_of(SpaceKind.ORG, caller.is_admin == true())


def _owned_parts(caller: CallerShape, kinds: Sequence[SpaceKind]) -> Iterator[_PrefilterPart]:
    """Spaces and runs of the caller's agents, and of the caller itself if it is an agent."""
    owned = _owned_agents(caller)
    for kind in kinds:
        yield _part_of(kind, _is_among(_m.space_id, owned))
        if caller.kind is OwnerKind.AGENT:
            yield _part_of(kind, _m.space_id == caller.acting_id)
    yield _PrefilterPart(
        (SpaceKind.RUN,), and_(_is_among(_m.agent_id, owned), _is_of(SpaceKind.RUN))
    )
    if caller.kind is OwnerKind.AGENT:
        own_runs = and_(_m.agent_id == caller.id, _is_of(SpaceKind.RUN))
        yield _PrefilterPart((SpaceKind.RUN,), own_runs)


def _owned_agents(caller: CallerShape) -> Select[Any]:
    return select(_a.id).where(_a.owner_kind == literal_word(caller.kind), _a.owner_id == caller.id)


def _lineage_parts(caller: CallerShape) -> Iterator[_PrefilterPart]:
    """The ancestors and descendants of an agent's own runs."""
    of_agent = _r.agent_id == caller.id
    above = (
        select(_u.run_id).join_from(runs, run_ancestors, _u.ancestor_id == _r.id).where(of_agent)
    )
    below = (
        select(_u.ancestor_id).join_from(runs, run_ancestors, _u.run_id == _r.id).where(of_agent)
    )
    for others in (above, below):
        yield _part_of(SpaceKind.RUN, _is_among(_m.space_id, others))


def _part_of(kind: SpaceKind, named: ColumnElement[bool]) -> _PrefilterPart:
    return _PrefilterPart((kind,), and_(_is_of(kind), named))


def _is_among(column: ColumnElement[Any], few: Select[Any]) -> ColumnElement[bool]:
    return InSubquery(column, few.scalar_subquery())


def _is_of(kind: SpaceKind) -> ColumnElement[bool]:
    return _m.space_kind == literal_word(kind)


# What was imported without an origin and is public and about somebody may be shown without any
# relation. An index has these rows, and its condition has the same words.
_IS_OPEN_IMPORT = and_(
    _m.origin == literal_word(MemoryOrigin.UNKNOWN),
    _m.sensitivity == literal_word(Sensitivity.PUBLIC),
    _m.has_subjects == true(),
)
