"""SQL that finds the people whom the words of a query name, as far as the asker may know them."""

from functools import cache

from sqlalchemy import ColumnElement, Select, and_, exists, or_, select, union

from recollect.db.engines.expressions import InTextList
from recollect.db.statements import Query, literal_word, param
from recollect.db.tables.people import (
    people,
    person_aliases,
    person_orgs,
    person_relationships,
)
from recollect.kernel.owner import OwnerKind

_p, _a, _r, _o = people.c, person_aliases.c, person_relationships.c, person_orgs.c
_NAMES = param("names", _p.normal_name)
_TERMS = param("terms", _p.normal_name)
_PERSON = param("person_id", _a.stated_by)
# Neither merged into another person nor erased.
_LIVE = and_(_p.merged_into.is_(None), _p.erasure_id.is_(None))
_PersonSelect = Select[tuple[str, str, str]]


@cache
def people_by_name(*, person: bool) -> Query:
    """Selects person id, name and the matching form.

    `names` are compared with the names of people in the asker's orgs. `terms`, which also contain
    relationship words, are compared with names of people whom the asker created, and with aliases
    and relationships that the asker stated. Without a person behind the request only the first part
    applies.
    """
    in_org = exists(
        select(_o.person_id)
        .where(_o.person_id == _p.id, InTextList(_o.org_id, param("orgs", _o.org_id)))
        .correlate(people)
    )
    by_name = _select_by_name(InTextList(_p.normal_name, _NAMES), in_org)
    if not person:
        return Query(by_name)
    own = and_(
        _p.created_by_kind == literal_word(OwnerKind.USER),
        InTextList(_p.created_by_id, param("users", _p.created_by_id)),
    )
    given = _select_by_name(InTextList(_p.normal_name, _TERMS), own)
    return Query(union(by_name, given, _select_by_alias(), _select_by_relationship()))


def _select_by_name(*conditions: ColumnElement[bool]) -> _PersonSelect:
    named = select(_p.id, _p.name, _p.normal_name.label("form"))
    return named.where(_LIVE, *conditions)


def _select_by_alias() -> _PersonSelect:
    own: ColumnElement[bool] = or_(_a.stated_by == _PERSON, _a.person_id == _PERSON)
    return (
        select(_p.id, _p.name, _a.normal_value.label("form"))
        .select_from(person_aliases.join(people, _p.id == _a.person_id))
        .where(_LIVE, InTextList(_a.normal_value, _TERMS), own)
    )


def _select_by_relationship() -> _PersonSelect:
    """By a relationship to the asker. One between two other people names nobody: "my sister" is the
    asker's."""
    to_self = or_(_r.to_person_id.is_(None), _r.to_person_id == _PERSON)
    return (
        select(_p.id, _p.name, _r.normal_relationship.label("form"))
        .select_from(person_relationships.join(people, _p.id == _r.person_id))
        .where(_LIVE, InTextList(_r.normal_relationship, _TERMS), _r.stated_by == _PERSON, to_self)
    )
