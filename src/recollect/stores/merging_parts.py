"""What a merge moved, as far as the requester may know."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Table, func, or_, select

from recollect.domain import jsontext
from recollect.domain.memories import MemoryId
from recollect.policy.requesters import Requester
from recollect.ports.database import Tx
from recollect.ports.people import MovedParts
from recollect.stores.engines.expressions import AmongTexts
from recollect.stores.memory_tables import relations
from recollect.stores.merging_links import Moved
from recollect.stores.people_tables import chats, person_aliases, person_relationships
from recollect.stores.person_visibility import (
    OWN_PERSON,
    SEEN_CLAIM,
    STATED_RELATIONSHIP,
    requester_params,
)
from recollect.stores.presences import seats
from recollect.stores.statements import Statement, param

_g, _r = relations.c, person_relationships.c


def parts_of(tx: Tx, requester: Requester, moved: Moved) -> MovedParts:
    """Read from the record of a merge. A kind that is missing there moved nothing."""
    joint = [memory_id for memory_id, _ in moved.get("joint_subjects", ())]
    return MovedParts(
        memories={
            "subjects": [*moved.get("subjects", ()), *joint],
            "statements": moved.get("statements", ()),
            "edges": _of_edges(tx, moved),
        },
        others={
            "participations": _stays(tx, requester, moved),
            "claims": _claims(tx, requester, moved),
            "users": len(moved.get("users", ())),
        },
    )


def _of_edges(tx: Tx, moved: Moved) -> list[MemoryId]:
    """The memory of each moved edge. An edge from the person to themself moved at both ends and
    counts twice."""
    edges = [*moved.get("edges_from", ()), *moved.get("edges_to", ())]
    known = dict(tx.fetch(_MEMORIES, {"ids": jsontext.dump(edges)}))
    return [MemoryId(known[id_]) for id_ in edges if id_ in known]


def _stays(tx: Tx, requester: Requester, moved: Moved) -> int:
    """Moved participations in chats where the caller takes part."""
    there = [chat_id for chat_id, *_ in (*moved.get("stays", ()), *moved.get("joint_stays", ()))]
    known = {row[0] for row in tx.fetch(_CHATS, _asked(requester, there))}
    return sum(chat_id in known for chat_id in there)


def _claims(tx: Tx, requester: Requester, moved: Moved) -> int:
    found = 0
    for statement, kinds in _CLAIMS:
        for kind in kinds:
            ((count,),) = tx.fetch(statement, _asked(requester, moved.get(kind, ())))
            found += count
    return found


def _asked(requester: Requester, ids: Sequence[str]) -> dict[str, Any]:
    return requester_params(requester) | {"ids": jsontext.dump(list(ids))}


def _seen(table: Table, is_seen: ColumnElement[bool]) -> Statement:
    return Statement(
        select(func.count()).select_from(table).where(AmongTexts(table.c.id, param("ids")), is_seen)
    )


_MEMORIES = Statement(select(_g.id, _g.memory_id).where(AmongTexts(_g.id, param("ids"))))
_CHATS = Statement(
    select(chats.c.id).where(AmongTexts(chats.c.id, param("ids")), chats.c.id.in_(seats()))
)
_SEEN_RELATIONSHIP = or_(STATED_RELATIONSHIP, _r.person_id == OWN_PERSON, _r.chat_id.in_(seats()))
_CLAIMS = (
    (_seen(person_aliases, SEEN_CLAIM), ("aliases", "alias_claims")),
    (
        _seen(person_relationships, _SEEN_RELATIONSHIP),
        ("relationships", "relationships_to", "relationship_claims"),
    ),
)
