"""Counts linked rows by store, before anything is deleted: the `counts` of a report."""

from typing import Any

from sqlalchemy import Table, and_, func, or_, select

from recollect.db.engines.expressions import InTextList, InUuidList
from recollect.db.statements import Query, literal_word, param
from recollect.db.tables.conversations import (
    entries,
    events,
    memberships,
    participations,
    trees,
)
from recollect.db.tables.memories import (
    approvals,
    idempotency_answers,
    memories,
    memory_embeddings,
    memory_index,
    memory_versions,
    relations,
)
from recollect.db.tables.people import (
    agents,
    chat_participations,
    named_chats,
    people,
    person_aliases,
    person_relationships,
)
from recollect.db.transaction import Tx
from recollect.erasure.model import ErasureTarget
from recollect.erasure.store.links_sql import (
    AGENTS,
    DELETED_MEMORY,
    GONE,
    JOINT_MEMORY,
    PEOPLE,
    STATED_MEMORY,
    USERS,
    link_params,
    user_clause,
)
from recollect.kernel import strict_json


def count_linked_rows(tx: Tx, target: ErasureTarget) -> tuple[dict[str, int], int]:
    """Rows by store, and the number of memories that are also about others."""
    params = link_params(target) | {
        "gone_trees": strict_json.dump(list(target.gone_trees)),
        "shared_trees": strict_json.dump(list(target.trees)),
    }
    counts = {name: int(tx.fetch(one, params)[0][0]) for name, one in _COUNTS.items()}
    return counts, int(tx.fetch(_COUNT_JOINT, params)[0][0])


def _count_query(table: Table, *linked: Any) -> Query:
    return Query(select(func.count()).select_from(table).where(or_(*linked)))


_DELETED_IDS = select(memories.c.id).where(DELETED_MEMORY)
_COUNT_JOINT = _count_query(memories, JOINT_MEMORY)
_t, _a, _k = chat_participations.c, person_aliases.c, person_relationships.c
# Entries of private trees go with their tree and are not counted one by one.
_IN_SHARED_TREES = InUuidList(entries.c.conversation_group_id, param("shared_trees"))
_COUNTS = {
    "memories": _count_query(memories, DELETED_MEMORY),
    "statements": _count_query(memories, STATED_MEMORY),
    "versions": _count_query(memory_versions, memory_versions.c.memory_id.in_(_DELETED_IDS)),
    "fulltext": _count_query(memory_index, memory_index.c.memory_id.in_(_DELETED_IDS)),
    "vectors": _count_query(memory_embeddings, memory_embeddings.c.memory_id.in_(_DELETED_IDS)),
    "relations": _count_query(
        relations,
        InTextList(relations.c.from_id, PEOPLE),
        InTextList(relations.c.to_id, PEOPLE),
        relations.c.memory_id.in_(_DELETED_IDS),
    ),
    "people": _count_query(people, InTextList(people.c.id, PEOPLE)),
    "aliases": _count_query(
        person_aliases, InTextList(_a.person_id, PEOPLE), InTextList(_a.stated_by, PEOPLE)
    ),
    "relationships": _count_query(
        person_relationships,
        InTextList(_k.person_id, PEOPLE),
        InTextList(_k.to_person_id, PEOPLE),
        InTextList(_k.stated_by, PEOPLE),
    ),
    "chats": _count_query(named_chats, InTextList(named_chats.c.id, GONE)),
    "chat_participations": _count_query(
        chat_participations,
        and_(_t.kind == literal_word("user"), InTextList(_t.member_id, USERS)),
        and_(_t.kind == literal_word("person"), InTextList(_t.member_id, PEOPLE)),
    ),
    "trees": _count_query(trees, InUuidList(trees.c.id, param("gone_trees"))),
    "participations": _count_query(participations, InTextList(participations.c.user_id, USERS)),
    "memberships": _count_query(memberships, InTextList(memberships.c.user_id, USERS)),
    "entries": _count_query(entries, and_(InTextList(entries.c.user_id, USERS), _IN_SHARED_TREES)),
    "agents": _count_query(agents, InTextList(agents.c.id, AGENTS)),
    "approvals": _count_query(
        approvals, user_clause(approvals.c.requested_by_kind, approvals.c.requested_by_id)
    ),
    "events": _count_query(
        events,
        InTextList(events.c.actor_user_id, USERS),
        InTextList(events.c.target_user_id, USERS),
    ),
    "idempotency_answers": _count_query(
        idempotency_answers,
        user_clause(idempotency_answers.c.requester_kind, idempotency_answers.c.requester_id),
    ),
}
