"""What a merge moved, as far as the requester may know."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Table, func, or_, select

from recollect.db.engines.expressions import InTextList
from recollect.db.statements import Query, param
from recollect.db.tables.memories import relations
from recollect.db.tables.people import chats, person_aliases, person_relationships
from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel import strict_json
from recollect.kernel.ids import MemoryId
from recollect.people.merge import MergeImpact
from recollect.people.store.merge_links import MergeRecord
from recollect.people.store.participation_sql import current_chat_ids
from recollect.people.store.visibility import (
    OWN_PERSON,
    STATED_RELATIONSHIP_BY_CALLER,
    VISIBLE_ALIAS,
    requester_params,
)

_g, _r = relations.c, person_relationships.c


def load_merge_impact(tx: Tx, requester: Requester, moved: MergeRecord) -> MergeImpact:
    """Read from the record of a merge. A kind that is missing there moved nothing."""
    joint = [memory_id for memory_id, _ in moved.get("joint_subjects", ())]
    return MergeImpact(
        memories={
            "subjects": [*moved.get("subjects", ()), *joint],
            "statements": moved.get("statements", ()),
            "edges": _edge_memories(tx, moved),
        },
        others={
            "participations": _count_participations(tx, requester, moved),
            "claims": _count_claims(tx, requester, moved),
            "users": len(moved.get("users", ())),
        },
    )


def _edge_memories(tx: Tx, moved: MergeRecord) -> list[MemoryId]:
    """The memory of each moved edge. An edge from the person to themself moved at both ends and
    counts twice."""
    edges = [*moved.get("edges_from", ()), *moved.get("edges_to", ())]
    known = dict(tx.fetch(_MEMORIES, {"ids": strict_json.dump(edges)}))
    return [MemoryId(known[id_]) for id_ in edges if id_ in known]


def _count_participations(tx: Tx, requester: Requester, moved: MergeRecord) -> int:
    """Moved participations in chats where the caller takes part."""
    chat_ids = [chat_id for chat_id, *_ in (*moved.get("stays", ()), *moved.get("joint_stays", ()))]
    known = {row[0] for row in tx.fetch(_CHATS, _query_params(requester, chat_ids))}
    return sum(chat_id in known for chat_id in chat_ids)


def _count_claims(tx: Tx, requester: Requester, moved: MergeRecord) -> int:
    found = 0
    for statement, kinds in _CLAIMS:
        for kind in kinds:
            ((count,),) = tx.fetch(statement, _query_params(requester, moved.get(kind, ())))
            found += count
    return found


def _query_params(requester: Requester, ids: Sequence[str]) -> dict[str, Any]:
    return requester_params(requester) | {"ids": strict_json.dump(list(ids))}


def _count_statement(table: Table, is_seen: ColumnElement[bool]) -> Query:
    return Query(
        select(func.count()).select_from(table).where(InTextList(table.c.id, param("ids")), is_seen)
    )


_MEMORIES = Query(select(_g.id, _g.memory_id).where(InTextList(_g.id, param("ids"))))
_CHATS = Query(
    select(chats.c.id).where(
        InTextList(chats.c.id, param("ids")), chats.c.id.in_(current_chat_ids())
    )
)
_VISIBLE_RELATIONSHIP = or_(
    STATED_RELATIONSHIP_BY_CALLER, _r.person_id == OWN_PERSON, _r.chat_id.in_(current_chat_ids())
)
_CLAIMS = (
    (_count_statement(person_aliases, VISIBLE_ALIAS), ("aliases", "alias_claims")),
    (
        _count_statement(person_relationships, _VISIBLE_RELATIONSHIP),
        ("relationships", "relationships_to", "relationship_claims"),
    ),
)
