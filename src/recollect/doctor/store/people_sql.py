"""The doctor's rules about people as SQL."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, and_, exists, not_, or_, select

from recollect.db.statements import literal_word, param
from recollect.db.tables.memories import memories, memory_subjects, relations
from recollect.db.tables.people import (
    chat_participations,
    people,
    person_aliases,
    person_merges,
    person_relationships,
    person_users,
)
from recollect.doctor.model import DoctorCheck
from recollect.doctor.store.rules_sql import (
    NOT_BEING_ERASED,
    ONE,
    IdQuery,
    exists_row,
    select_ids,
)

_m, _s, _p, _r = memories.c, memory_subjects.c, people.c, relations.c


def _merge_chains() -> tuple[IdQuery, ...]:
    """Merged people that don't lead to an unmerged one in one step, and ids that memories name as
    subject or speaker although they are merged or unknown."""
    target = people.alias("target")
    led = exists_row(target.c.id == _p.merged_into, target.c.merged_into.is_(None), outer=people)
    about = exists_row(_p.id == _s.person_id, _p.merged_into.is_(None), outer=memory_subjects)
    has_stater = exists_row(_p.id == _m.stated_by, _p.merged_into.is_(None), outer=memories)
    return (
        select_ids(_p.id, _p.merged_into.is_not(None), not_(led)),
        select_ids(_s.person_id, not_(about)),
        select_ids(_m.stated_by, _m.stated_by.is_not(None), NOT_BEING_ERASED, not_(has_stater)),
    )


_LIVE = and_(_p.merged_into.is_(None), _p.erasure_id.is_(None))


def _has_user(person: Any) -> ColumnElement[bool]:
    user = person_users.c
    return exists(select(ONE).where(user.person_id == person.id).correlate(person.id.table))


# Another person with the same name and creator and a smaller id: the one to merge into. Who stands
# for the bearer of a handle is nobody's namesake.
FIRST = people.alias("first")
NAMESAKE = and_(
    FIRST.c.merged_into.is_(None),
    FIRST.c.erasure_id.is_(None),
    FIRST.c.id < _p.id,
    FIRST.c.normal_name == _p.normal_name,
    FIRST.c.created_by_kind == _p.created_by_kind,
    FIRST.c.created_by_id == _p.created_by_id,
    FIRST.c.awaited_handle.is_(None),
    _p.awaited_handle.is_(None),
)


def _duplicate_people() -> tuple[IdQuery, ...]:
    """All but the first of people with the same name and creator, and of people who share a handle.
    Two people who both have users are different people."""
    two = and_(_has_user(FIRST.c), _has_user(_p))
    named = exists(select(ONE).where(NAMESAKE, not_(two)).correlate(people))
    return (select_ids(_p.id, _LIVE, or_(named, _has_shared_handle())),)


def _has_shared_handle() -> ColumnElement[bool]:
    one, other = person_aliases.alias("mine").c, person_aliases.alias("theirs").c
    first = people.alias("holder").c
    same = and_(
        one.person_id == _p.id,
        one.kind == literal_word("handle"),
        other.kind == literal_word("handle"),
        other.normal_value == one.normal_value,
        other.provider.is_not_distinct_from(one.provider),
        other.person_id < _p.id,
        first.id == other.person_id,
        first.merged_into.is_(None),
        first.erasure_id.is_(None),
    )
    return exists(select(ONE).where(same).correlate(people))


def _orphan_people() -> tuple[IdQuery, ...]:
    """People without a user, to whom no row refers, and that have not changed for long."""
    a, w, g, c = (
        table.c
        for table in (person_aliases, person_relationships, person_merges, chat_participations)
    )
    other = people.alias("other").c
    named = (
        _has_user(_p),
        *(
            exists_row(column == _p.id, outer=people)
            for column in (
                _s.person_id,
                _m.stated_by,
                a.person_id,
                a.stated_by,
                w.person_id,
                w.to_person_id,
                w.stated_by,
                g.primary_id,
                g.secondary_id,
                _r.from_id,
                _r.to_id,
                other.merged_into,
            )
        ),
        exists_row(c.kind == literal_word("person"), c.member_id == _p.id, outer=people),
    )
    long_ago = _p.updated_at <= param("long_ago", _p.updated_at)
    return (select_ids(_p.id, _LIVE, long_ago, *(not_(one) for one in named)),)


PEOPLE_RULES: Mapping[DoctorCheck, tuple[IdQuery, ...]] = {
    DoctorCheck.MERGE_CHAINS: _merge_chains(),
    DoctorCheck.DUPLICATE_PEOPLE: _duplicate_people(),
    DoctorCheck.ORPHAN_PEOPLE: _orphan_people(),
}
