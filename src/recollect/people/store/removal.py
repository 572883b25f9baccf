"""Deletes a person, and finds references of others that forbid it."""

from collections.abc import Collection

from sqlalchemy import (
    ColumnElement,
    Table,
    and_,
    delete,
    exists,
    false,
    not_,
    null,
    or_,
    select,
    update,
)

from recollect.db.engines.expressions import InTextList
from recollect.db.statements import Query, literal_word, param
from recollect.db.tables.memories import memories, memory_subjects, relations
from recollect.db.tables.people import (
    chat_participations,
    named_chats,
    people,
    person_aliases,
    person_merges,
    person_orgs,
    person_relationships,
    person_versions,
)
from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel import strict_json
from recollect.kernel.ids import PersonId, UserId
from recollect.people.store.participation_sql import key_matches
from recollect.people.store.visibility import OWN_PERSON, requester_params

_p, _m, _s, _t = people.c, memories.c, memory_subjects.c, chat_participations.c
_a, _r, _g, _x = person_aliases.c, person_relationships.c, relations.c, person_merges.c


def delete_person(tx: Tx, person_id: PersonId) -> None:
    """Delete a canonical person and every row that names them."""
    for statement in _DELETE:
        tx.run(statement, {"id": person_id})


def is_in_memories(tx: Tx, person_id: PersonId, *, outside: Collection[UserId]) -> bool:
    """Is a memory about them or stated by them, outside the spaces of these users?"""
    params = {"id": person_id, "users": strict_json.dump(sorted(outside))}
    return tx.fetch_first(_REFERRING, params) is not None


def has_other_references(tx: Tx, requester: Requester, person_id: PersonId) -> bool:
    """Does a memory, claim or participation that is not the requester's refer to the person?"""
    if is_in_memories(tx, person_id, outside=requester.user_ids):
        return True
    params = requester_params(requester) | {"id": person_id}
    return any(tx.fetch_first(statement, params) is not None for statement in _REFERENCES_OF_OTHERS)


def _claims_of_others(claims: Table, *naming: str) -> Query:
    """Claims about the person, or stated by them, that somebody other than the caller made. All
    users of the caller's person are one stater."""
    by: ColumnElement[bool] = and_(
        claims.c.added_by_kind == _WHO_KIND, claims.c.added_by_id == _WHO_ID
    )
    stater = claims.c.stated_by
    others = and_(not_(by), or_(stater.is_(None), stater.is_distinct_from(OWN_PERSON)))
    named = or_(*(claims.c[name] == _ID for name in naming))
    return Query(select(claims.c.id).where(named, others).limit(1))


_WHO_KIND, _WHO_ID = param("who_kind", _p.created_by_kind), param("who_id", _p.created_by_id)
_ID = param("id", _p.id)
_MEMORIES_ABOUT = select(_s.memory_id).where(_s.person_id == _ID)
_IN_OWN_SPACE = and_(_m.space_kind == literal_word("user"), InTextList(_m.space_id, param("users")))
_REFERRING = Query(
    select(_m.id)
    .where(or_(_m.id.in_(_MEMORIES_ABOUT), _m.stated_by == _ID), not_(_IN_OWN_SPACE))
    .limit(1)
)
_n = named_chats.c
_CREATED_CHAT = exists().where(
    _n.id == _t.chat_id, _n.created_by_kind == _WHO_KIND, _n.created_by_id == _WHO_ID
)
# The caller takes part now, and since before the person does: that one heard nothing which the
# caller did not.
_own = chat_participations.alias("own").c
_CAME_EARLIER = exists().where(
    _own.chat_id == _t.chat_id,
    _own.left_at.is_(None),
    _own.joined_at <= _t.joined_at,
    or_(*key_matches(_own.kind, _own.member_id)),
)
_REFERENCES_OF_OTHERS = (
    _claims_of_others(person_aliases, "person_id", "stated_by"),
    _claims_of_others(person_relationships, "person_id", "to_person_id", "stated_by"),
    # Ended participations count: their interval still decides what the person was present for.
    Query(
        select(_t.chat_id)
        .where(
            _t.kind == literal_word("person"),
            _t.member_id == _ID,
            not_(_CAME_EARLIER),
            not_(_CREATED_CHAT),
        )
        .limit(1)
    ),
)
_others = memory_subjects.alias("others")
_NO_OTHER_SUBJECT = not_(
    or_(
        _m.bare_names.is_not(None),
        exists().where(_others.c.memory_id == _m.id, _others.c.person_id != _ID),
    )
)
_MERGED_IDS = select(_p.id).where(_p.merged_into == _ID)
# The order matters. `has_subjects` is cleared while the rows of subjects still tell which memories
# are about this person; redirects are needed to find merges and orgs, so people go last.
_DELETE = [
    Query(
        update(memories)
        .where(_m.id.in_(_MEMORIES_ABOUT), _NO_OTHER_SUBJECT)
        .values(has_subjects=false())
    ),
    Query(delete(memory_subjects).where(_s.person_id == _ID)),
    Query(update(memories).where(_m.stated_by == _ID).values(stated_by=null())),
    Query(delete(relations).where(or_(_g.from_id == _ID, _g.to_id == _ID))),
    Query(
        delete(chat_participations).where(_t.kind == literal_word("person"), _t.member_id == _ID)
    ),
    Query(delete(person_aliases).where(or_(_a.person_id == _ID, _a.stated_by == _ID))),
    Query(
        delete(person_relationships).where(
            or_(_r.person_id == _ID, _r.to_person_id == _ID, _r.stated_by == _ID)
        )
    ),
    Query(
        delete(person_merges).where(
            or_(_x.primary_id == _ID, _x.secondary_id == _ID, _x.secondary_id.in_(_MERGED_IDS))
        )
    ),
    Query(
        delete(person_versions).where(
            or_(person_versions.c.person_id == _ID, person_versions.c.person_id.in_(_MERGED_IDS))
        )
    ),
    Query(
        delete(person_orgs).where(
            or_(person_orgs.c.person_id == _ID, person_orgs.c.person_id.in_(_MERGED_IDS))
        )
    ),
    Query(delete(people).where(or_(_p.id == _ID, _p.merged_into == _ID))),
]
