"""Translates a MemoryFilter to SQL over `memories`. It is combined with the visibility clause by
AND, so it can only narrow.

A clause is built once for each shape of filter, because statements are compiled once and kept. The
shape has the fields that decide which index to use, and those about the past. All other fields are
in the statement together or not at all, as `parameter IS NULL OR …`, so that there are few shapes.
Parameters begin with `f_`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    and_,
    cast,
    false,
    func,
    literal_column,
    or_,
    select,
    true,
)
from sqlalchemy.sql.elements import BindParameter

from recollect.db.engines.expressions import InTextList
from recollect.db.statements import literal_word, param
from recollect.db.tables.memories import (
    memories,
    memory_subjects,
    memory_tags,
    memory_versions,
)
from recollect.kernel import strict_json
from recollect.kernel.space import AGENT_KINDS, Space, SpaceKind
from recollect.memories.fields import FILTERED_FIELDS
from recollect.memories.model import MemoryFilter, MemoryStatus
from recollect.visibility.spaces_sql import SPACE_KIND, is_not_expired

_m, _s, _t, _v = memories.c, memory_subjects.c, memory_tags.c, memory_versions.c
_ONE: ColumnElement[int] = literal_column("1")

# Combinations of space kinds with a statement of their own; any other combination shares one.
_ALL_KINDS = frozenset(SpaceKind)
_KIND_GROUPS = frozenset(
    {
        *(frozenset({kind}) for kind in SpaceKind),
        AGENT_KINDS,
        frozenset({SpaceKind.USER, SpaceKind.CHAT}),
        frozenset[SpaceKind](),
    }
)

_NOW = param("f_now", _m.expires_at)
_VALID_AT = param("f_valid_at", _m.valid_from)
_AS_OF = param("f_as_of", _m.valid_from)
_STATUSES = param("f_statuses", _m.status)


@dataclass(frozen=True, slots=True)
class FilterShape:
    """The part of a filter that decides the text of the statement.

    `kinds` are the kinds of the spaces that are named by id, None for all spaces. `single`: there
    is one space, whose rows an index has in order. `whole`: all spaces of some kinds are asked for.
    `about`: by subjects. `narrow`: one of the optional fields is set.
    """

    kinds: frozenset[SpaceKind] | None
    single: bool
    whole: bool
    about: bool
    narrow: bool
    include_expired: bool
    expired: bool
    valid_at: bool
    as_of: bool

    @property
    def is_unrestricted(self) -> bool:
        """Whether all spaces, or all of some kinds, are read, and not by subjects."""
        return not self.about and (self.kinds is None or self.whole)

    @classmethod
    def from_filter(cls, filters: MemoryFilter) -> "FilterShape":
        """The shape of a filter, without its values."""
        # A row that is expired today is not shown in the past either, so `as_of` ignores both.
        today = filters.as_of is None
        return cls(
            kinds=_named_kinds(filters),
            single=len(filters.spaces or ()) == 1,
            whole=any(space_id is None for _, space_id in filters.spaces or ()),
            about=bool(filters.subjects),
            narrow=any(value is not None for value in _narrowing_params(filters).values()),
            include_expired=today and filters.include_expired,
            expired=today and MemoryStatus.EXPIRED in filters.statuses,
            valid_at=filters.valid_at is not None,
            as_of=not today,
        )


def filter_params(filters: MemoryFilter, now: datetime) -> dict[str, Any]:
    """The parameters of a filter. A statement takes those that its shape needs."""
    named = filters.spaces or ()
    ids = {
        f"f_ids_{kind}": _json_list(id_ for of, id_ in named if of is kind and id_ is not None)
        for kind in SpaceKind
    }
    return (
        ids
        | _narrowing_params(filters)
        | {
            "f_space_id": next((space_id for _, space_id in named), None),
            "f_kinds": _json_list(kind for kind, id_ in named if id_ is None),
            "f_subjects": _json_list(filters.subjects),
            "f_now": now,
            "f_statuses": _json_list(_wanted_statuses(filters)),
            "f_valid_at": filters.valid_at,
            "f_as_of": filters.as_of,
            "f_tag_count": len(set(filters.tags)),
        }
    )


@cache
def filter_clause(shape: FilterShape) -> ColumnElement[bool]:
    """The WHERE clause of a filter.

    With `as_of`, fields that a PATCH may change are judged here only if the row has not changed
    since. The fields of an earlier version are in a sealed snapshot, so `matches_filter` judges
    those after it is opened.
    """
    lasting = (_space_clause(shape), _time_clause(shape), *(_FIXED_CLAUSES if shape.narrow else ()))
    changing = [_subjects_clause()] if shape.about else []
    changing += _VERSIONED_CLAUSES if shape.narrow else ()
    if shape.as_of and changing:
        return and_(*lasting, or_(changed_since_clause(), and_(*changing)))
    return and_(*lasting, *changing)


def changed_since_clause() -> ColumnElement[bool]:
    """Whether the version at `as_of` is not the present one."""
    return _has_version(_v.at <= _AS_OF, _v.until > _AS_OF)


def _has_version(*where: ColumnElement[bool]) -> ColumnElement[bool]:
    """Has the row such a version? Not EXISTS, which PostgreSQL may turn into a join: it would then
    look through everybody's versions."""
    query = select(_ONE).where(_v.memory_id == _m.id, *where).limit(_ONE)
    return query.correlate(memories).scalar_subquery().is_not(None)


def _named_kinds(filters: MemoryFilter) -> frozenset[SpaceKind] | None:
    if filters.spaces is None:
        return None
    kinds = frozenset(kind for kind, space_id in filters.spaces if space_id is not None)
    return kinds if kinds in _KIND_GROUPS else _ALL_KINDS


def _wanted_statuses(filters: MemoryFilter) -> frozenset[MemoryStatus]:
    """Statuses of the row, or of its version at `as_of`. With `valid_at` superseded rows count as
    active: they were true in their time."""
    statuses = frozenset(filters.statuses) - {MemoryStatus.EXPIRED}
    past = filters.valid_at is not None and MemoryStatus.ACTIVE in statuses
    return statuses | {MemoryStatus.SUPERSEDED} if past else statuses


def _narrowing_params(filters: MemoryFilter) -> dict[str, Any]:
    """The optional parameters; None means that the filter does not have them."""
    return {
        **{f"f_{field.name}": getattr(filters, field.name) for field in FILTERED_FIELDS},
        "f_of_kinds": _json_list_or_none(_matching_kinds(filters)),
        "f_tags": _json_list_or_none(set(filters.tags)),
        "f_types": _json_list_or_none(filters.types),
        "f_created_after": filters.created_after,
        "f_created_before": filters.created_before,
        "f_outside_user": filters.outside_user,
        "f_told_in": filters.told_in,
    }


def _matching_kinds(filters: MemoryFilter) -> list[str]:
    """The space kinds with the asked visibility and scope; a word that is no kind if there are
    none, because an empty list would mean any."""
    if filters.visibility is None and filters.scope is None:
        return []
    return [kind for kind in SpaceKind if _is_matching_kind(kind, filters)] or ["none"]


def _is_matching_kind(kind: SpaceKind, filters: MemoryFilter) -> bool:
    space = Space(kind, "")
    return filters.visibility in (None, space.visibility) and filters.scope in (None, space.scope)


def _json_list(texts: Iterable[str]) -> str:
    return strict_json.dump(sorted(texts))


def _json_list_or_none(texts: Iterable[str]) -> str | None:
    listed = sorted(texts)
    return strict_json.dump(listed) if listed else None


def _space_clause(shape: FilterShape) -> ColumnElement[bool]:
    if shape.kinds is None:
        return true()
    clauses: list[ColumnElement[bool]] = [
        and_(_m.space_kind == literal_word(kind), _space_id_clause(kind, shape))
        for kind in sorted(shape.kinds)
    ]
    if shape.whole:
        clauses.append(InTextList(SPACE_KIND, param("f_kinds", _m.space_kind)))
    return or_(false(), *clauses)


def _space_id_clause(kind: SpaceKind, shape: FilterShape) -> ColumnElement[bool]:
    if shape.single:
        return _m.space_id == param("f_space_id", _m.space_id)
    return InTextList(_m.space_id, param(f"f_ids_{kind}", _m.space_id))


def _time_clause(shape: FilterShape) -> ColumnElement[bool]:
    """Status and expiry, and what was true (`valid_at`) or recorded (`as_of`) at an instant."""
    if shape.as_of:
        return and_(is_not_expired(_NOW), _recorded_clause(shape))
    clauses: list[ColumnElement[bool]] = [InTextList(_m.status, _STATUSES)]
    if shape.valid_at:
        clauses += [_m.retracted_at.is_(None), *_validity_clauses(_m)]
    if not shape.include_expired:
        clauses.append(is_not_expired(_NOW))
    # `expired` is more than a stored status: rows past their expiry have it whatever is stored.
    return or_(and_(*clauses), _m.expires_at <= _NOW) if shape.expired else and_(*clauses)


def _recorded_clause(shape: FilterShape) -> ColumnElement[bool]:
    """Whether the version at `as_of` has an asked status, and was not retracted yet."""
    recorded = _has_version(
        _v.at <= _AS_OF,
        or_(_v.until.is_(None), _v.until > _AS_OF),
        InTextList(_v.status, _STATUSES),
        *(_validity_clauses(_v) if shape.valid_at else ()),
    )
    kept = or_(_m.retracted_at.is_(None), _m.retracted_at > _AS_OF)
    return and_(kept, recorded)


def _validity_clauses(columns: Any) -> tuple[ColumnElement[bool], ...]:
    """The validity interval is half open; NULL has no bound."""
    return (
        or_(columns.valid_from.is_(None), columns.valid_from <= _VALID_AT),
        or_(columns.valid_until.is_(None), columns.valid_until > _VALID_AT),
    )


def _optional_clause(
    value: BindParameter[Any], condition: ColumnElement[bool]
) -> ColumnElement[bool]:
    return or_(value.is_(None), condition)


def _equal_clauses(*, versioned: bool) -> Iterable[ColumnElement[bool]]:
    """Filters that compare a column for equality."""
    for field in FILTERED_FIELDS:
        if field.versioned is versioned:
            column = _m[field.name]
            value = param(f"f_{field.name}", column)
            # PostgreSQL can't tell the type of a flag's parameter from IS NULL.
            yield or_(cast(value, column.type).is_(None), column == value)


def _among_clause(name: str, column: ColumnElement[Any]) -> ColumnElement[bool]:
    value = param(name, column)
    return _optional_clause(value, InTextList(column, value))


def _tags_clause() -> ColumnElement[bool]:
    """All tags must be present."""
    tags = param("f_tags", _t.tag)
    matching = select(func.count()).where(_t.memory_id == _m.id, InTextList(_t.tag, tags))
    count = matching.correlate(memories).scalar_subquery()
    return _optional_clause(tags, count == param("f_tag_count", _m.version))


def _subjects_clause() -> ColumnElement[bool]:
    """One subject is enough. IN, not EXISTS: a person has few memories, so the query starts
    there."""
    people = param("f_subjects", _s.person_id)
    return _m.id.in_(select(_s.memory_id).where(InTextList(_s.person_id, people)))


def _created_clauses() -> Iterable[ColumnElement[bool]]:
    after, before = (param(f"f_created_{side}", _m.created_at) for side in ("after", "before"))
    yield _optional_clause(after, _m.created_at > after)
    yield _optional_clause(before, _m.created_at < before)


def _outside_user_clause() -> ColumnElement[bool]:
    user = param("f_outside_user", _m.space_id)
    return _optional_clause(
        user, or_(_m.space_kind != literal_word(SpaceKind.USER), _m.space_id != user)
    )


def _told_in_clause() -> ColumnElement[bool]:
    """Portable, or learned in this chat. NULL counts as false: a row that is not portable may have
    no chat."""
    chat = param("f_told_in", _m.learned_in)
    return _optional_clause(chat, or_(_m.portable == true(), _m.learned_in == chat))


_FIXED_CLAUSES = (
    *_equal_clauses(versioned=False),
    _among_clause("f_of_kinds", SPACE_KIND),
    *_created_clauses(),
    _outside_user_clause(),
)
# Fields that a PATCH may change. `matches_filter` in `memories/read/listing.py` has the same
# conditions for an earlier version: change both together.
_VERSIONED_CLAUSES = (
    *_equal_clauses(versioned=True),
    _tags_clause(),
    _among_clause("f_types", _m.type),
    _told_in_clause(),
)
