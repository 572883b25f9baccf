"""What breaks a rule, as statements: for each check the ids of rows that do, in their order."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    Table,
    Text,
    and_,
    cast,
    exists,
    false,
    literal_column,
    not_,
    or_,
    select,
    true,
    union,
)

from recollect.domain.doctor import Check
from recollect.domain.memories import Kind, Status
from recollect.domain.spaces import AGENT_KINDS, SpaceKind
from recollect.stores.engines.expressions import AmongTexts
from recollect.stores.memory_tables import (
    entities,
    memories,
    memory_embeddings,
    memory_index,
    memory_links,
    memory_subjects,
    relations,
)
from recollect.stores.people_tables import (
    agents,
    chat_participations,
    people,
    person_aliases,
    person_merges,
    person_relationships,
    person_users,
)
from recollect.stores.statements import Statement, param, word
from recollect.stores.tables import tasks

_m, _i, _v, _l, _s = (
    table.c for table in (memories, memory_index, memory_embeddings, memory_links, memory_subjects)
)
_p, _r, _e, _t = people.c, relations.c, entities.c, tasks.c
_ONE: ColumnElement[int] = literal_column("1")
NOW = param("now", _m.created_at)
# What is being erased is the business of that job alone.
STAYING = _m.erasure_id.is_(None)
ACTIVE = and_(
    STAYING,
    _m.status == word(Status.ACTIVE),
    or_(_m.expires_at.is_(None), _m.expires_at > NOW),
)

_Found = Select[Any]


def found(check: Check) -> Statement:
    """A page of what breaks the rule."""
    ids = _ids(check).c.id
    page = select(ids).where(ids > param("after", _m.id)).order_by(ids).limit(param("limit"))
    return Statement(page)


def still_found(check: Check) -> Statement:
    """What of a list breaks it."""
    ids = _ids(check).c.id
    return Statement(select(ids).where(AmongTexts(ids, param("ids"))).order_by(ids))


def _ids(check: Check) -> Any:
    """Each id once, as a text."""
    return union(*_RULES[check]).subquery("broken")


def _id(column: ColumnElement[Any], *broken: ColumnElement[bool]) -> _Found:
    return select(column.label("id")).where(*broken)


def _any(*conditions: ColumnElement[bool], beside: Table) -> ColumnElement[bool]:
    return exists(select(_ONE).where(*conditions).correlate(beside))


def _orphan_index() -> tuple[_Found, ...]:
    """Words of what is gone, set aside or without text; vectors without words."""
    findable = and_(_m.status != word(Status.QUARANTINED), _m.compacted_at.is_(None))
    held = _any(
        _m.doc == _i.doc,
        _m.id == _i.memory_id,
        or_(_m.erasure_id.is_not(None), findable),
        beside=memory_index,
    )
    words = _any(_i.doc == _v.doc, _i.memory_id == _v.memory_id, beside=memory_embeddings)
    return _id(_i.memory_id, not_(held)), _id(_v.memory_id, not_(words))


def _missing_vectors() -> tuple[_Found, ...]:
    """Words without a vector of the model that wait for none, or for one that nobody makes. Where
    there is no model nothing is missing."""
    model = param("model", _v.model)
    made = _any(_v.doc == _i.doc, _v.model == model, beside=memory_index)
    kinds = [word("memory_vectors"), word("memory_vectors_retry")]
    making = exists(select(_ONE).where(_t.task_type.in_(kinds)))
    lacking = or_(and_(_i.pending == false(), not_(made)), and_(_i.pending == true(), not_(making)))
    wanted = model != literal_column("''")
    source = memory_index.join(memories, and_(_m.doc == _i.doc, ACTIVE))
    return (select(_i.memory_id.label("id")).select_from(source).where(wanted, lacking),)


def _is_there(end: ColumnElement[Any]) -> ColumnElement[bool]:
    return or_(
        _any(_p.id == end, beside=relations),
        _any(_e.id == end, beside=relations),
    )


LOST_EDGE = or_(
    not_(_any(_m.id == _r.memory_id, _m.status != word(Status.QUARANTINED), beside=relations)),
    not_(_is_there(_r.from_id)),
    not_(_is_there(_r.to_id)),
)
LONE_ENTITY = not_(
    or_(
        _any(_r.from_id == _e.id, beside=entities),
        _any(_r.to_id == _e.id, beside=entities),
    )
)


def _unknown_agent() -> tuple[_Found, ...]:
    """Rows of an agent's own spaces and runs that nobody looks after. Rows of an org stay."""
    own = _m.space_kind.in_([word(kind) for kind in sorted({*AGENT_KINDS, SpaceKind.RUN})])
    registered = _any(agents.c.id == _m.agent_id, agents.c.removed_at.is_(None), beside=memories)
    kept = _m.status != word(Status.ARCHIVED)
    return (_id(_m.id, STAYING, own, kept, not_(registered)),)


def _merge_chains() -> tuple[_Found, ...]:
    """Ids that don't lead to somebody in one step, and merged ids that memories still name."""
    target = people.alias("target")
    led = _any(target.c.id == _p.merged_into, target.c.merged_into.is_(None), beside=people)
    about = _any(_p.id == _s.person_id, _p.merged_into.is_(None), beside=memory_subjects)
    said = _any(_p.id == _m.stated_by, _p.merged_into.is_(None), beside=memories)
    return (
        _id(_p.id, _p.merged_into.is_not(None), not_(led)),
        _id(_s.person_id, not_(about)),
        _id(_m.stated_by, _m.stated_by.is_not(None), STAYING, not_(said)),
    )


_LIVE = and_(_p.merged_into.is_(None), _p.erasure_id.is_(None))


def _linked(person: Any) -> ColumnElement[bool]:
    user = person_users.c
    return exists(select(_ONE).where(user.person_id == person.id).correlate(person.id.table))


FIRST = people.alias("first")
NAMESAKE = and_(
    FIRST.c.merged_into.is_(None),
    FIRST.c.erasure_id.is_(None),
    FIRST.c.id < _p.id,
    FIRST.c.normal_name == _p.normal_name,
    FIRST.c.created_by_kind == _p.created_by_kind,
    FIRST.c.created_by_id == _p.created_by_id,
)


def _duplicate_people() -> tuple[_Found, ...]:
    """Of people of one name and creator, and of those with one handle, all but the first. Two who
    are users both are two."""
    two = and_(_linked(FIRST.c), _linked(_p))
    named = exists(select(_ONE).where(NAMESAKE, not_(two)).correlate(people))
    return (_id(_p.id, _LIVE, or_(named, _shared_handle())),)


def _shared_handle() -> ColumnElement[bool]:
    mine, theirs = person_aliases.alias("mine").c, person_aliases.alias("theirs").c
    first = people.alias("holder").c
    same = and_(
        mine.person_id == _p.id,
        mine.kind == word("handle"),
        theirs.kind == word("handle"),
        theirs.normal_value == mine.normal_value,
        theirs.provider.is_not_distinct_from(mine.provider),
        theirs.person_id < _p.id,
        first.id == theirs.person_id,
        first.merged_into.is_(None),
        first.erasure_id.is_(None),
    )
    return exists(select(_ONE).where(same).correlate(people))


def _orphan_people() -> tuple[_Found, ...]:
    """People without a user whom nothing names, and with whom nothing was done for long."""
    a, w, g, c = (
        table.c
        for table in (person_aliases, person_relationships, person_merges, chat_participations)
    )
    other = people.alias("other").c
    named = (
        _linked(_p),
        *(
            _any(column == _p.id, beside=people)
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
        _any(c.kind == word("person"), c.member_id == _p.id, beside=people),
    )
    long_ago = _p.updated_at <= param("long_ago", _p.updated_at)
    return (_id(_p.id, _LIVE, long_ago, *(not_(one) for one in named)),)


def _conflicts() -> tuple[_Found, ...]:
    one, other = memories.alias("one").c, memories.alias("other").c

    def stands(row: Any) -> ColumnElement[bool]:
        return and_(
            row.status == word(Status.ACTIVE),
            row.erasure_id.is_(None),
            or_(row.expires_at.is_(None), row.expires_at > NOW),
        )

    pair = and_(one.id == _l.from_id, other.id == _l.to_id, _l.kind == word("conflict"))
    return (select(one.id.label("id")).where(pair, stands(one), stands(other)),)


_old = memories.alias("old")
_o = _old.c


def _more_subjects(one: Any, other: Any) -> ColumnElement[bool]:
    """Is one about somebody whom the other is not about?"""
    mine, theirs = memory_subjects.alias().c, memory_subjects.alias().c
    shared = exists(
        select(_ONE).where(theirs.memory_id == other, theirs.person_id == mine.person_id)
    )
    return exists(select(_ONE).where(mine.memory_id == one, not_(shared)))


# The same words in the same place about the same people by the same one, said before.
OLDER_EQUAL = and_(
    _o.erasure_id.is_(None),
    _o.status == word(Status.ACTIVE),
    or_(_o.expires_at.is_(None), _o.expires_at > NOW),
    _o.kind == word(Kind.STATEMENT),
    _o.space_kind == _m.space_kind,
    _o.space_id == _m.space_id,
    _o.fold == _m.fold,
    _o.stated_by.is_not_distinct_from(_m.stated_by),
    or_(_o.created_at < _m.created_at, and_(_o.created_at == _m.created_at, _o.id < _m.id)),
    not_(_more_subjects(_m.id, _o.id)),
    not_(_more_subjects(_o.id, _m.id)),
)
OLD = _old


def _near_duplicates() -> tuple[_Found, ...]:
    older = exists(select(_ONE).select_from(_old).where(OLDER_EQUAL).correlate(memories))
    statement = and_(_m.kind == word(Kind.STATEMENT), _m.fold != literal_column("''"))
    return (_id(_m.id, ACTIVE, statement, _m.bare_names.is_(None), older),)


def _clock() -> tuple[_Found, ...]:
    ahead = param("ahead", _m.created_at)
    times = (_m.created_at, _m.updated_at, _m.observed_at)
    return (_id(_m.id, STAYING, or_(_m.updated_at < _m.created_at, *(t > ahead for t in times))),)


_RULES: Mapping[Check, tuple[_Found, ...]] = {
    Check.ORPHAN_INDEX: _orphan_index(),
    Check.MISSING_VECTORS: _missing_vectors(),
    Check.ORPHAN_EDGES: (_id(_r.id, LOST_EDGE), _id(_e.id, LONE_ENTITY)),
    Check.UNKNOWN_ORIGIN: (
        _id(_m.id, ACTIVE, or_(_m.origin == word("unknown"), _m.bare_names.is_not(None))),
    ),
    Check.UNKNOWN_AGENT: _unknown_agent(),
    Check.MERGE_CHAINS: _merge_chains(),
    Check.DUPLICATE_PEOPLE: _duplicate_people(),
    Check.ORPHAN_PEOPLE: _orphan_people(),
    Check.CONFLICTS: _conflicts(),
    Check.NEAR_DUPLICATES: _near_duplicates(),
    Check.STUCK_JOBS: (_id(cast(_t.id, Text), _t.stuck_at.is_not(None)),),
    Check.CLOCK: _clock(),
}
BY_ID = tuple(_RULES)
