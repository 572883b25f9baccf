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

from sqlalchemy import ColumnElement, and_, exists, false, func, literal_column, or_, select, true
from sqlalchemy.sql.elements import BindParameter

from recollect.domain import jsontext
from recollect.domain.memories import Status
from recollect.domain.spaces import AGENT_KINDS, Space, SpaceKind
from recollect.ports.memories import MemoryFilter
from recollect.stores.engines.expressions import AmongTexts
from recollect.stores.memory_tables import memories, memory_subjects, memory_tags, memory_versions
from recollect.stores.space_rights import KIND, not_due
from recollect.stores.statements import param, word

_m, _s, _t, _v = memories.c, memory_subjects.c, memory_tags.c, memory_versions.c
_ONE: ColumnElement[int] = literal_column("1")

# Combinations of space kinds with a statement of their own; any other combination shares one.
_ALL_KINDS = frozenset(SpaceKind)
_TOGETHER = frozenset(
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
    def anywhere(self) -> bool:
        """Whether neither a space id nor a subject limits the rows."""
        return not self.about and (self.kinds is None or (self.whole and not self.kinds))

    @classmethod
    def of(cls, chosen: MemoryFilter) -> "FilterShape":
        """The shape of a filter, without its values."""
        # A row that is expired today is not shown in the past either, so `as_of` ignores both.
        today = chosen.as_of is None
        return cls(
            kinds=_kinds(chosen),
            single=len(chosen.spaces or ()) == 1,
            whole=any(space_id is None for _, space_id in chosen.spaces or ()),
            about=bool(chosen.subjects),
            narrow=any(value is not None for value in _narrowing(chosen).values()),
            include_expired=today and chosen.include_expired,
            expired=today and Status.EXPIRED in chosen.statuses,
            valid_at=chosen.valid_at is not None,
            as_of=not today,
        )


def filter_params(chosen: MemoryFilter, now: datetime) -> dict[str, Any]:
    """The parameters of a filter. A statement takes those that its shape needs."""
    named = chosen.spaces or ()
    ids = {
        f"f_ids_{kind}": _listed(id_ for of, id_ in named if of is kind and id_ is not None)
        for kind in SpaceKind
    }
    return (
        ids
        | _narrowing(chosen)
        | {
            "f_space_id": next((space_id for _, space_id in named), None),
            "f_kinds": _listed(kind for kind, id_ in named if id_ is None),
            "f_subjects": _listed(chosen.subjects),
            "f_now": now,
            "f_statuses": _listed(_statuses(chosen)),
            "f_valid_at": chosen.valid_at,
            "f_as_of": chosen.as_of,
            "f_tag_count": len(set(chosen.tags)),
        }
    )


@cache
def filter_clause(shape: FilterShape) -> ColumnElement[bool]:
    """The WHERE clause of a filter.

    With `as_of`, fields that a PATCH may change are judged here only if the row has not changed
    since. The fields of an earlier version are in a sealed snapshot, so `matches_filter` judges
    those after it is opened.
    """
    lasting = (_in_spaces(shape), _at_its_time(shape), *(_LASTING if shape.narrow else ()))
    changing = [_about()] if shape.about else []
    changing += _CHANGING if shape.narrow else ()
    if shape.as_of and changing:
        return and_(*lasting, or_(has_changed_since(), and_(*changing)))
    return and_(*lasting, *changing)


def has_changed_since() -> ColumnElement[bool]:
    """Whether the version at `as_of` is not the present one."""
    query = select(_ONE).where(_v.memory_id == _m.id, _v.at <= _AS_OF, _v.until > _AS_OF)
    return exists(query.correlate(memories))


def _kinds(chosen: MemoryFilter) -> frozenset[SpaceKind] | None:
    if chosen.spaces is None:
        return None
    kinds = frozenset(kind for kind, space_id in chosen.spaces if space_id is not None)
    return kinds if kinds in _TOGETHER else _ALL_KINDS


def _statuses(chosen: MemoryFilter) -> frozenset[Status]:
    """Statuses of the row, or of its version at `as_of`. With `valid_at` superseded rows count as
    active: they were true in their time."""
    statuses = frozenset(chosen.statuses) - {Status.EXPIRED}
    past = chosen.valid_at is not None and Status.ACTIVE in statuses
    return statuses | {Status.SUPERSEDED} if past else statuses


def _narrowing(chosen: MemoryFilter) -> dict[str, Any]:
    """The optional parameters; None means that the filter does not have them."""
    return {
        "f_agent_id": chosen.agent_id,
        "f_of_kinds": _listed_or_none(_kinds_seen_as(chosen)),
        "f_run_id": chosen.run_id,
        "f_kind": chosen.kind,
        "f_key": chosen.key,
        "f_tags": _listed_or_none(set(chosen.tags)),
        "f_types": _listed_or_none(chosen.types),
        "f_stated_by": chosen.stated_by,
        "f_sensitivity": chosen.sensitivity,
        "f_created_after": chosen.created_after,
        "f_created_before": chosen.created_before,
        "f_outside_user": chosen.outside_user,
        "f_told_in": chosen.told_in,
    }


def _kinds_seen_as(chosen: MemoryFilter) -> list[str]:
    """The space kinds with the asked visibility and scope; a word that is no kind if there are
    none, because an empty list would mean any."""
    if chosen.visibility is None and chosen.scope is None:
        return []
    return [kind for kind in SpaceKind if _seen_as(kind, chosen)] or ["none"]


def _seen_as(kind: SpaceKind, chosen: MemoryFilter) -> bool:
    space = Space(kind, "")
    return chosen.visibility in (None, space.visibility) and chosen.scope in (None, space.scope)


def _listed(texts: Iterable[str]) -> str:
    return jsontext.dump(sorted(texts))


def _listed_or_none(texts: Iterable[str]) -> str | None:
    listed = sorted(texts)
    return jsontext.dump(listed) if listed else None


def _in_spaces(shape: FilterShape) -> ColumnElement[bool]:
    if shape.kinds is None:
        return true()
    asked: list[ColumnElement[bool]] = [
        and_(_m.space_kind == word(kind), _named(kind, shape)) for kind in sorted(shape.kinds)
    ]
    if shape.whole:
        asked.append(AmongTexts(KIND, param("f_kinds", _m.space_kind)))
    return or_(false(), *asked)


def _named(kind: SpaceKind, shape: FilterShape) -> ColumnElement[bool]:
    if shape.single:
        return _m.space_id == param("f_space_id", _m.space_id)
    return AmongTexts(_m.space_id, param(f"f_ids_{kind}", _m.space_id))


def _at_its_time(shape: FilterShape) -> ColumnElement[bool]:
    """Status and expiry, and what was true (`valid_at`) or recorded (`as_of`) at an instant."""
    if shape.as_of:
        return and_(not_due(_NOW), _recorded(shape))
    asked: list[ColumnElement[bool]] = [AmongTexts(_m.status, _STATUSES)]
    if shape.valid_at:
        asked += [_m.retracted_at.is_(None), *_valid(_m)]
    if not shape.include_expired:
        asked.append(not_due(_NOW))
    # `expired` is more than a stored status: rows past their expiry have it whatever is stored.
    return or_(and_(*asked), _m.expires_at <= _NOW) if shape.expired else and_(*asked)


def _recorded(shape: FilterShape) -> ColumnElement[bool]:
    """Whether the version at `as_of` has an asked status, and was not retracted yet."""
    query = select(_ONE).where(
        _v.memory_id == _m.id,
        _v.at <= _AS_OF,
        or_(_v.until.is_(None), _v.until > _AS_OF),
        AmongTexts(_v.status, _STATUSES),
        *(_valid(_v) if shape.valid_at else ()),
    )
    kept = or_(_m.retracted_at.is_(None), _m.retracted_at > _AS_OF)
    return and_(kept, exists(query.correlate(memories)))


def _valid(columns: Any) -> tuple[ColumnElement[bool], ...]:
    """The validity interval is half open; NULL has no bound."""
    return (
        or_(columns.valid_from.is_(None), columns.valid_from <= _VALID_AT),
        or_(columns.valid_until.is_(None), columns.valid_until > _VALID_AT),
    )


def _if_sent(value: BindParameter[Any], condition: ColumnElement[bool]) -> ColumnElement[bool]:
    return or_(value.is_(None), condition)


def _equal(name: str, column: ColumnElement[Any]) -> ColumnElement[bool]:
    value = param(name, column)
    return _if_sent(value, column == value)


def _among(name: str, column: ColumnElement[Any]) -> ColumnElement[bool]:
    value = param(name, column)
    return _if_sent(value, AmongTexts(column, value))


def _tagged() -> ColumnElement[bool]:
    """All tags must be present."""
    tags = param("f_tags", _t.tag)
    held = select(func.count()).where(_t.memory_id == _m.id, AmongTexts(_t.tag, tags))
    count = held.correlate(memories).scalar_subquery()
    return _if_sent(tags, count == param("f_tag_count", _m.version))


def _about() -> ColumnElement[bool]:
    """One subject is enough. IN, not EXISTS: a person has few memories, so the query starts
    there."""
    people = param("f_subjects", _s.person_id)
    return _m.id.in_(select(_s.memory_id).where(AmongTexts(_s.person_id, people)))


def _created() -> Iterable[ColumnElement[bool]]:
    after, before = (param(f"f_created_{side}", _m.created_at) for side in ("after", "before"))
    yield _if_sent(after, _m.created_at > after)
    yield _if_sent(before, _m.created_at < before)


def _outside() -> ColumnElement[bool]:
    user = param("f_outside_user", _m.space_id)
    return _if_sent(user, or_(_m.space_kind != word(SpaceKind.USER), _m.space_id != user))


def _told() -> ColumnElement[bool]:
    """Portable, or learned in this chat. NULL counts as false: a row that is not portable may have
    no chat."""
    chat = param("f_told_in", _m.learned_in)
    return _if_sent(chat, or_(_m.portable == true(), _m.learned_in == chat))


_LASTING = (
    _equal("f_agent_id", _m.agent_id),
    _among("f_of_kinds", KIND),
    _equal("f_run_id", _m.run_id),
    _equal("f_kind", _m.kind),
    _equal("f_key", _m.key),
    *_created(),
    _outside(),
)
# Fields that a PATCH may change. `matches_filter` in `listing.py` has the same conditions for an
# earlier version: change both together.
_CHANGING = (
    _tagged(),
    _among("f_types", _m.type),
    _equal("f_sensitivity", _m.sensitivity),
    _equal("f_stated_by", _m.stated_by),
    _told(),
)
