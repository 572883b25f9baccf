"""Chats, agents, runs, entities, approvals and people in an erasure: what is neither a memory nor a
conversation nor an audit record."""

from typing import Any

from sqlalchemy import Column, Table, and_, delete, null, or_, select, update

from recollect.domain import jsontext
from recollect.domain.erasure import Target
from recollect.domain.spaces import SpaceKind
from recollect.ports.database import Tx
from recollect.ports.erasures import Cleaning
from recollect.ports.runtime import Cipher
from recollect.stores.engines.expressions import AmongTexts
from recollect.stores.erasure_ids import exchange_in_logs, forget_chats
from recollect.stores.erasure_links import (
    EVERYWHERE,
    GONE,
    PEOPLE,
    PLACES,
    USERS,
    by_user,
    is_sealed,
    link_params,
)
from recollect.stores.erasure_needles import holds_any
from recollect.stores.erasure_texts import PLACES_OF_TEXT
from recollect.stores.memory_tables import approvals, entities, relations, rollbacks
from recollect.stores.people_tables import (
    agents,
    chat_participations,
    named_chats,
    people,
    person_aliases,
    person_merges,
    person_orgs,
    person_relationships,
    person_users,
    user_orgs,
)
from recollect.stores.rows import Sealed
from recollect.stores.statements import Statement, param, word
from recollect.stores.tables import participations

_n, _s, _e, _r, _t = named_chats.c, agents.c, entities.c, relations.c, chat_participations.c
_a, _k, _p, _g = person_aliases.c, person_relationships.c, people.c, person_merges.c


class ErasedRest:
    """The port's PeopleErasureStore, with the counts that verification needs."""

    def __init__(self, cipher: Cipher) -> None:
        self._name = Sealed(cipher, _e.name)

    def clean_rest(self, tx: Tx, cleaning: Cleaning) -> None:
        """Redact rows that stay.

        Texts and entities come before the authors are replaced: `created_by` says which agents and
        people are linked to the target. Agents of the target become their own owners.
        """
        params = link_params(cleaning.target)
        for place in PLACES_OF_TEXT:
            for id_, fresh in place.dirty(tx, cleaning):
                place.put(tx, id_, fresh)
        for id_ in self._named_things(tx, cleaning):
            tx.run(_DROP_EDGES, {"id": id_})
            tx.run(_DROP_ENTITY, {"id": id_})
        for statement in _REASSIGN:
            tx.run(statement, params)
        target = cleaning.target
        exchange_in_logs(tx, (*target.person_ids, *target.user_ids), target.stand_in)
        forget_chats(tx, cleaning)

    def drop_people(self, tx: Tx, target: Target) -> None:
        """Delete the people and every row that refers to them, and claims that they made about
        others."""
        for statement in _DROP:
            tx.run(statement, link_params(target))

    def dirty_rest(self, tx: Tx, cleaning: Cleaning) -> dict[str, int]:
        """How many rows a redaction would change, by table."""
        found = {place.table.name: len(place.dirty(tx, cleaning)) for place in PLACES_OF_TEXT}
        return found | {"entities": len(self._named_things(tx, cleaning))}

    def _named_things(self, tx: Tx, cleaning: Cleaning) -> list[str]:
        """Entities of the graph whose name contains an identifier; they are deleted with their
        edges."""
        target = cleaning.target
        ids = {"ids": jsontext.dump(list(target.memories))}
        rows = tx.fetch(_THINGS, link_params(target) | ids)
        return [
            id_
            for id_, linked, name, space_id in rows
            if (cleaning.of_chat(space_id) if linked else cleaning.sure).are_in(
                self._name.open(name, id_) or ""
            )
        ]


def _reassign(kind: Column[Any], id_: Column[Any]) -> Statement:
    """Replace the target as author by the stand-in."""
    return Statement(
        update(kind.table).where(by_user(kind, id_)).values({id_.name: param("stand_in", id_)})
    )


def _drop(table: Table, *links: Any) -> Statement:
    return Statement(delete(table).where(or_(*links)))


# Entities of shared chats, and those that statements of the target mention. All others are searched
# for unambiguous identifiers; encrypted names have to be read for that.
_IN_CHATS = and_(_e.space_kind == word(SpaceKind.CHAT), AmongTexts(_e.space_id, PLACES))
_OF_THEIRS = AmongTexts(_r.memory_id, param("ids"))
_NAMED_BY = select(_r.from_id).where(_OF_THEIRS).union(select(_r.to_id).where(_OF_THEIRS))
_LINKED = or_(_IN_CHATS, _e.id.in_(_NAMED_BY))
_THINGS = Statement(
    select(_e.id, _LINKED, _e.name, _e.space_id).where(
        or_(_LINKED, is_sealed(_e.name), holds_any(_e.name, EVERYWHERE))
    )
)
_ID = param("id", _e.id)
_DROP_EDGES = Statement(delete(relations).where(or_(_r.from_id == _ID, _r.to_id == _ID)))
_DROP_ENTITY = Statement(delete(entities).where(_e.id == _ID))
_REASSIGN = (
    # An agent without its owner owns itself: no other user gains access to it.
    Statement(
        update(agents)
        .where(by_user(_s.owner_kind, _s.owner_id))
        .values(owner_kind=word("agent"), owner_id=_s.id)
    ),
    _reassign(_s.created_by_kind, _s.created_by_id),
    _reassign(_n.created_by_kind, _n.created_by_id),
    _reassign(_p.created_by_kind, _p.created_by_id),
    _reassign(_g.by_kind, _g.by_id),
    _reassign(rollbacks.c.by_kind, rollbacks.c.by_id),
    Statement(
        update(approvals)
        .where(AmongTexts(approvals.c.decided_by, USERS))
        .values(decided_by=param("stand_in", approvals.c.decided_by), justification=null())
    ),
)
_IN_CHAT = (
    and_(_t.kind == word("user"), AmongTexts(_t.member_id, USERS)),
    and_(_t.kind == word("person"), AmongTexts(_t.member_id, PEOPLE)),
    AmongTexts(_t.chat_id, GONE),
)
# References first, people last.
_DROP = (
    _drop(approvals, by_user(approvals.c.requested_by_kind, approvals.c.requested_by_id)),
    _drop(chat_participations, *_IN_CHAT),
    _drop(participations, AmongTexts(participations.c.user_id, USERS)),
    _drop(named_chats, AmongTexts(_n.id, GONE)),
    _drop(relations, AmongTexts(_r.from_id, PEOPLE), AmongTexts(_r.to_id, PEOPLE)),
    _drop(
        person_aliases,
        AmongTexts(_a.person_id, PEOPLE),
        AmongTexts(_a.stated_by, PEOPLE),
        by_user(_a.added_by_kind, _a.added_by_id),
    ),
    _drop(
        person_relationships,
        AmongTexts(_k.person_id, PEOPLE),
        AmongTexts(_k.to_person_id, PEOPLE),
        AmongTexts(_k.stated_by, PEOPLE),
        by_user(_k.added_by_kind, _k.added_by_id),
    ),
    _drop(person_merges, AmongTexts(_g.primary_id, PEOPLE), AmongTexts(_g.secondary_id, PEOPLE)),
    _drop(person_orgs, AmongTexts(person_orgs.c.person_id, PEOPLE)),
    _drop(
        person_users,
        AmongTexts(person_users.c.user_id, USERS),
        AmongTexts(person_users.c.person_id, PEOPLE),
    ),
    _drop(user_orgs, AmongTexts(user_orgs.c.user_id, USERS)),
    _drop(people, AmongTexts(_p.id, PEOPLE)),
)
