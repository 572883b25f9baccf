"""Counts linked rows by store, before anything is deleted: the `counts` of a report."""

from typing import Any

from sqlalchemy import Table, and_, func, or_, select

from recollect.domain import jsontext
from recollect.domain.erasure import Target
from recollect.ports.database import Tx
from recollect.stores.engines.expressions import AmongIds, AmongTexts
from recollect.stores.erasure_links import (
    AGENTS,
    GONE,
    JOINT,
    MEMORY_GOES,
    MEMORY_STATED,
    PEOPLE,
    USERS,
    by_user,
    link_params,
)
from recollect.stores.memory_tables import (
    approvals,
    idempotency_answers,
    memories,
    memory_embeddings,
    memory_index,
    memory_versions,
    relations,
)
from recollect.stores.people_tables import (
    agents,
    chat_participations,
    named_chats,
    people,
    person_aliases,
    person_relationships,
)
from recollect.stores.statements import Statement, param, word
from recollect.stores.tables import entries, events, memberships, participations, trees


def counts_of(tx: Tx, target: Target) -> tuple[dict[str, int], int]:
    """Rows by store, and the number of memories that are also about others."""
    params = link_params(target) | {
        "gone_trees": jsontext.dump(list(target.gone_trees)),
        "shared_trees": jsontext.dump(list(target.trees)),
    }
    counts = {name: int(tx.fetch(one, params)[0][0]) for name, one in _COUNTS.items()}
    return counts, int(tx.fetch(_JOINT, params)[0][0])


def _count(table: Table, *linked: Any) -> Statement:
    return Statement(select(func.count()).select_from(table).where(or_(*linked)))


_GOING = select(memories.c.id).where(MEMORY_GOES)
_JOINT = _count(memories, JOINT)
_t, _a, _k = chat_participations.c, person_aliases.c, person_relationships.c
# Entries of private trees go with their tree and are not counted one by one.
_SHARED = AmongIds(entries.c.conversation_group_id, param("shared_trees"))
_COUNTS = {
    "memories": _count(memories, MEMORY_GOES),
    "statements": _count(memories, MEMORY_STATED),
    "versions": _count(memory_versions, memory_versions.c.memory_id.in_(_GOING)),
    "fulltext": _count(memory_index, memory_index.c.memory_id.in_(_GOING)),
    "vectors": _count(memory_embeddings, memory_embeddings.c.memory_id.in_(_GOING)),
    "relations": _count(
        relations,
        AmongTexts(relations.c.from_id, PEOPLE),
        AmongTexts(relations.c.to_id, PEOPLE),
        relations.c.memory_id.in_(_GOING),
    ),
    "people": _count(people, AmongTexts(people.c.id, PEOPLE)),
    "aliases": _count(
        person_aliases, AmongTexts(_a.person_id, PEOPLE), AmongTexts(_a.stated_by, PEOPLE)
    ),
    "relationships": _count(
        person_relationships,
        AmongTexts(_k.person_id, PEOPLE),
        AmongTexts(_k.to_person_id, PEOPLE),
        AmongTexts(_k.stated_by, PEOPLE),
    ),
    "chats": _count(named_chats, AmongTexts(named_chats.c.id, GONE)),
    "chat_participations": _count(
        chat_participations,
        and_(_t.kind == word("user"), AmongTexts(_t.member_id, USERS)),
        and_(_t.kind == word("person"), AmongTexts(_t.member_id, PEOPLE)),
    ),
    "trees": _count(trees, AmongIds(trees.c.id, param("gone_trees"))),
    "participations": _count(participations, AmongTexts(participations.c.user_id, USERS)),
    "memberships": _count(memberships, AmongTexts(memberships.c.user_id, USERS)),
    "entries": _count(entries, and_(AmongTexts(entries.c.user_id, USERS), _SHARED)),
    "agents": _count(agents, AmongTexts(agents.c.id, AGENTS)),
    "approvals": _count(
        approvals, by_user(approvals.c.requested_by_kind, approvals.c.requested_by_id)
    ),
    "events": _count(
        events,
        AmongTexts(events.c.actor_user_id, USERS),
        AmongTexts(events.c.target_user_id, USERS),
    ),
    "idempotency_answers": _count(
        idempotency_answers,
        by_user(idempotency_answers.c.requester_kind, idempotency_answers.c.requester_id),
    ),
}
