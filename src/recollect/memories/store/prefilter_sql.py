"""A prefilter for reads that name no space: a superset of the visible rows that indexes can find.

It grants nothing: `visible_clause` still decides about every row. Without it, such a read would
evaluate the visibility clause on every memory of the database.

The prefilter is a union of small queries: one for each space that a caller may read, and one for
each relation between the asker and memories of other spaces. In a group a public memory is
visible by its own fields, without any relation to the asker. So there is nothing to
look up by index, and no prefilter. The property test of the visibility rules also runs with the
prefilter and must find the same rows, so it notices a part that is missing here.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, or_, select, union

from recollect.db.engines.expressions import InSubquery, InTextList
from recollect.db.statements import literal_word, param
from recollect.db.tables.memories import memories, memory_subjects
from recollect.db.tables.people import agents, run_ancestors, runs
from recollect.kernel.owner import OwnerKind
from recollect.kernel.space import SpaceKind
from recollect.memories.model import MemoryOrigin
from recollect.memories.store.filters_sql import FilterShape
from recollect.visibility.spaces_sql import ASKER_CHATS, CallerShape
from recollect.visibility.sql import (
    ASKER_PERSON,
    ASKER_USERS,
    CURRENT_CHAT,
    ViewerShape,
    has_ever_participated,
)

_m, _s, _a, _r, _u = memories.c, memory_subjects.c, agents.c, runs.c, run_ancestors.c
# The kinds of spaces in which a part finds rows, and its condition.
_PrefilterPart = tuple[tuple[SpaceKind, ...], ColumnElement[bool]]
_DISCLOSED_KINDS = (SpaceKind.USER, SpaceKind.CHAT)


@cache
def prefilter_clause(seen: ViewerShape, filters: FilterShape) -> ColumnElement[bool] | None:
    """Could the viewer see the row? None where the prefilter would not help: for background work,
    in groups, and where the filter names spaces and thereby already narrows the read.
    """
    # Parts may overlap and may return rows that are not visible; they must not miss one. When a
    # new way to disclose a memory is added to `disclosed_clause`, it needs a part here.
    if seen.system or seen.is_group or not filters.is_unrestricted:
        return None
    parts = [*_disclosure_parts(seen), *(_space_parts(seen.callers[0]) if seen.callers else ())]
    found = union(*(_select_part(part, filters) for part in parts))
    return InSubquery(_m.doc, found.scalar_subquery())


def _select_part(part: _PrefilterPart, filters: FilterShape) -> Select[Any]:
    """The rows of one part. If the filter asks for some kinds of spaces only, a part of other kinds
    returns nothing. That comparison has no column in it, so it costs nothing for each row."""
    kinds, where = part
    query = select(_m.doc).where(where)
    if filters.kinds is None:
        return query
    listed_kinds = param("f_kinds", _m.space_kind)
    return query.where(or_(*(InTextList(literal_word(kind), listed_kinds) for kind in kinds)))


def _disclosure_parts(seen: ViewerShape) -> Iterator[_PrefilterPart]:
    """Spaces of users and chats: the asker's own, and memories elsewhere to which the asker has one
    of the relations that disclose a memory."""
    yield (SpaceKind.USER,), _is_in_space(SpaceKind.USER, InTextList(_m.space_id, ASKER_USERS))
    yield (SpaceKind.CHAT,), _is_in_space(SpaceKind.CHAT, InTextList(_m.space_id, ASKER_CHATS))
    if seen.chat is not None:
        yield (SpaceKind.CHAT,), _is_in_space(SpaceKind.CHAT, _m.space_id == CURRENT_CHAT)
    # A public import may be shown without any relation, so all of unknown origin are candidates.
    if not seen.closed:
        yield _DISCLOSED_KINDS, _m.origin == literal_word(MemoryOrigin.UNKNOWN)
    if seen.person:
        yield _DISCLOSED_KINDS, _m.stated_by == ASKER_PERSON
        yield _DISCLOSED_KINDS, _m.id.in_(select(_s.memory_id).where(_s.person_id == ASKER_PERSON))
        yield _DISCLOSED_KINDS, has_ever_participated()


def _space_parts(caller: CallerShape) -> Iterator[_PrefilterPart]:
    """Spaces of agents, runs and orgs. All callers must be able to read them, so what the first
    caller can read is a superset already."""
    for kind in (SpaceKind.AGENT_PUBLIC, SpaceKind.AGENT):
        yield (kind,), _m.space_kind == literal_word(kind)
    yield (SpaceKind.ORG,), _is_in_space(SpaceKind.ORG, InTextList(_m.space_id, caller.orgs))
    owned = select(_a.id).where(
        _a.owner_kind == literal_word(caller.kind), _a.owner_id == caller.id
    )
    yield (SpaceKind.AGENT_PRIVATE,), _is_in_space(SpaceKind.AGENT_PRIVATE, _m.space_id.in_(owned))
    yield (SpaceKind.RUN,), and_(_m.agent_id.in_(owned), _is_run_space())
    if caller.kind is OwnerKind.AGENT:
        acting = _m.space_id == caller.acting_id
        yield (SpaceKind.AGENT_PRIVATE,), _is_in_space(SpaceKind.AGENT_PRIVATE, acting)
        yield from _lineage_parts(caller)


def _lineage_parts(caller: CallerShape) -> Iterator[_PrefilterPart]:
    """An agent's own runs, and the ancestors and descendants of these runs."""
    yield (SpaceKind.RUN,), and_(_m.agent_id == caller.id, _is_run_space())
    of_agent = _r.agent_id == caller.id
    above = (
        select(_u.run_id).join_from(runs, run_ancestors, _u.ancestor_id == _r.id).where(of_agent)
    )
    below = (
        select(_u.ancestor_id).join_from(runs, run_ancestors, _u.run_id == _r.id).where(of_agent)
    )
    for others in (above, below):
        yield (SpaceKind.RUN,), _is_in_space(SpaceKind.RUN, _m.space_id.in_(others))


def _is_in_space(kind: SpaceKind, named: ColumnElement[bool]) -> ColumnElement[bool]:
    return and_(_m.space_kind == literal_word(kind), named)


def _is_run_space() -> ColumnElement[bool]:
    return _m.space_kind == literal_word(SpaceKind.RUN)
