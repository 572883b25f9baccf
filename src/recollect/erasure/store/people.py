"""Chats, agents, runs, entities, approvals and people in an erasure: what is neither a memory nor a
conversation nor an audit record."""

from typing import Any

from sqlalchemy import Column, Table, and_, delete, null, or_, select, update

from recollect.db.columns import EncryptedColumn
from recollect.db.engines.expressions import InTextList
from recollect.db.statements import Query, literal_word, param
from recollect.db.tables.conversations import participations
from recollect.db.tables.memories import approvals, entities, relations, rollbacks
from recollect.db.tables.people import (
    agents,
    chat_participations,
    named_chats,
    people,
    person_aliases,
    person_merges,
    person_orgs,
    person_relationships,
    person_users,
    person_versions,
    user_orgs,
)
from recollect.db.transaction import Tx
from recollect.erasure.model import ErasureTarget
from recollect.erasure.plan import RedactionPlan
from recollect.erasure.store.custom_ids import (
    remove_chat_references,
    replace_ids_in_logs,
)
from recollect.erasure.store.links_sql import (
    EVERYWHERE,
    GONE,
    PEOPLE,
    PLACES,
    USERS,
    link_params,
    sealed_clause,
    user_clause,
)
from recollect.erasure.store.needles_sql import contains_any
from recollect.erasure.store.plain_texts import REDACTABLE_TEXTS
from recollect.kernel import strict_json
from recollect.kernel.runtime import Cipher
from recollect.kernel.space import SpaceKind

_n, _s, _e, _r, _t = named_chats.c, agents.c, entities.c, relations.c, chat_participations.c
_a, _k, _p, _g = person_aliases.c, person_relationships.c, people.c, person_merges.c


class PeopleErasureStore:
    """Chats, agents, runs, people and claims about them, entities, approvals, rollbacks."""

    def __init__(self, cipher: Cipher) -> None:
        self._name = EncryptedColumn(cipher, _e.name)

    def redact_rows(self, tx: Tx, plan: RedactionPlan) -> None:
        """Redact rows that stay.

        Texts and entities come before the authors are replaced: `created_by` says which agents and
        people are linked to the target. Agents of the target become their own owners.
        """
        params = link_params(plan.target)
        for place in REDACTABLE_TEXTS:
            for id_, fresh in place.find_unredacted(tx, plan):
                place.redact_row(tx, id_, fresh)
        for id_ in self._find_named_entities(tx, plan):
            tx.run(_DROP_EDGES, {"id": id_})
            tx.run(_DROP_ENTITY, {"id": id_})
        for statement in _REASSIGN_QUERIES:
            tx.run(statement, params)
        target = plan.target
        replace_ids_in_logs(tx, (*target.person_ids, *target.user_ids), target.stand_in)
        remove_chat_references(tx, plan)

    def delete_people(self, tx: Tx, target: ErasureTarget) -> None:
        """Delete the people and every row that refers to them, and claims that they made about
        others."""
        for statement in _DELETE_QUERIES:
            tx.run(statement, link_params(target))

    def count_unredacted(self, tx: Tx, plan: RedactionPlan) -> dict[str, int]:
        """How many rows a redaction would change, by table."""
        found = {
            place.table.name: len(place.find_unredacted(tx, plan)) for place in REDACTABLE_TEXTS
        }
        return found | {"entities": len(self._find_named_entities(tx, plan))}

    def _find_named_entities(self, tx: Tx, plan: RedactionPlan) -> list[str]:
        """Entities of the graph whose name contains an identifier; they are deleted with their
        edges."""
        target = plan.target
        ids = {"ids": strict_json.dump(list(target.memories))}
        rows = tx.fetch(_FIND_ENTITIES, link_params(target) | ids)
        return [
            id_
            for id_, linked, name, space_id in rows
            if (plan.matcher_for_chat(space_id) if linked else plan.sure).has_match(
                self._name.open(name, id_) or ""
            )
        ]


def _reassign_query(kind: Column[Any], id_: Column[Any]) -> Query:
    """Replace the target as author by the stand-in."""
    return Query(
        update(kind.table).where(user_clause(kind, id_)).values({id_.name: param("stand_in", id_)})
    )


def _delete_query(table: Table, *links: Any) -> Query:
    return Query(delete(table).where(or_(*links)))


# Entities of shared chats, and those that statements of the target mention. All others are searched
# for unambiguous identifiers; encrypted names have to be read for that.
_IN_CHATS = and_(_e.space_kind == literal_word(SpaceKind.CHAT), InTextList(_e.space_id, PLACES))
_STATED_EDGES = InTextList(_r.memory_id, param("ids"))
_STATED_ENTITIES = (
    select(_r.from_id).where(_STATED_EDGES).union(select(_r.to_id).where(_STATED_EDGES))
)
_LINKED = or_(_IN_CHATS, _e.id.in_(_STATED_ENTITIES))
_FIND_ENTITIES = Query(
    select(_e.id, _LINKED, _e.name, _e.space_id).where(
        or_(_LINKED, sealed_clause(_e.name), contains_any(_e.name, EVERYWHERE))
    )
)
_ID = param("id", _e.id)
_DROP_EDGES = Query(delete(relations).where(or_(_r.from_id == _ID, _r.to_id == _ID)))
_DROP_ENTITY = Query(delete(entities).where(_e.id == _ID))
_REASSIGN_QUERIES = (
    # An agent without its owner owns itself: no other user gains access to it.
    Query(
        update(agents)
        .where(user_clause(_s.owner_kind, _s.owner_id))
        .values(owner_kind=literal_word("agent"), owner_id=_s.id)
    ),
    _reassign_query(_s.created_by_kind, _s.created_by_id),
    _reassign_query(_n.created_by_kind, _n.created_by_id),
    _reassign_query(_p.created_by_kind, _p.created_by_id),
    _reassign_query(_g.by_kind, _g.by_id),
    _reassign_query(rollbacks.c.by_kind, rollbacks.c.by_id),
    Query(
        update(approvals)
        .where(InTextList(approvals.c.decided_by, USERS))
        .values(decided_by=param("stand_in", approvals.c.decided_by), justification=null())
    ),
)
_TARGET_PARTICIPATIONS = (
    and_(_t.kind == literal_word("user"), InTextList(_t.member_id, USERS)),
    and_(_t.kind == literal_word("person"), InTextList(_t.member_id, PEOPLE)),
    InTextList(_t.chat_id, GONE),
)
# References first, people last.
_DELETE_QUERIES = (
    _delete_query(
        approvals, user_clause(approvals.c.requested_by_kind, approvals.c.requested_by_id)
    ),
    _delete_query(chat_participations, *_TARGET_PARTICIPATIONS),
    _delete_query(participations, InTextList(participations.c.user_id, USERS)),
    _delete_query(named_chats, InTextList(_n.id, GONE)),
    _delete_query(relations, InTextList(_r.from_id, PEOPLE), InTextList(_r.to_id, PEOPLE)),
    _delete_query(
        person_aliases,
        InTextList(_a.person_id, PEOPLE),
        InTextList(_a.stated_by, PEOPLE),
        user_clause(_a.added_by_kind, _a.added_by_id),
    ),
    _delete_query(
        person_relationships,
        InTextList(_k.person_id, PEOPLE),
        InTextList(_k.to_person_id, PEOPLE),
        InTextList(_k.stated_by, PEOPLE),
        user_clause(_k.added_by_kind, _k.added_by_id),
    ),
    _delete_query(
        person_merges, InTextList(_g.primary_id, PEOPLE), InTextList(_g.secondary_id, PEOPLE)
    ),
    _delete_query(person_versions, InTextList(person_versions.c.person_id, PEOPLE)),
    _delete_query(person_orgs, InTextList(person_orgs.c.person_id, PEOPLE)),
    _delete_query(
        person_users,
        InTextList(person_users.c.user_id, USERS),
        InTextList(person_users.c.person_id, PEOPLE),
    ),
    _delete_query(user_orgs, InTextList(user_orgs.c.user_id, USERS)),
    _delete_query(people, InTextList(_p.id, PEOPLE)),
)
