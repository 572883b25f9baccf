"""Rows that refer to an agent: its memories, its participations and the agents it owns."""

from datetime import datetime
from functools import cache

from sqlalchemy import ColumnElement, delete, literal_column, or_, select, update

from recollect.db.statements import Query, literal_word, param
from recollect.db.tables.memories import memories
from recollect.db.tables.people import agents, chat_participations
from recollect.db.transaction import Tx
from recollect.kernel.ids import AgentId, MemoryId
from recollect.kernel.owner import OwnerKind
from recollect.kernel.space import AGENT_KINDS, SpaceKind
from recollect.memories.model import MemoryStatus

_m = memories.c
_p = chat_participations.c
_ONE: ColumnElement[int] = literal_column("1")


def has_memories(tx: Tx, agent_id: AgentId, *, now: datetime) -> bool:
    return tx.fetch_first(_HAS_MEMORIES, {"id": agent_id, "now": now}) is not None


def page_memories(tx: Tx, agent_id: AgentId, *, archived: bool, limit: int) -> list[MemoryId]:
    rows = tx.fetch(_page(archived=archived), {"id": agent_id, "limit": limit})
    return [MemoryId(row[0]) for row in rows]


def is_referenced(tx: Tx, agent_id: AgentId) -> bool:
    params = {"id": agent_id}
    return any(tx.fetch_first(statement, params) is not None for statement in _REFERENCES)


def leave_chats(tx: Tx, agent_id: AgentId, *, at: datetime) -> None:
    tx.run(_LEAVE, {"id": agent_id, "at": at})


def delete_participations(tx: Tx, agent_id: AgentId) -> None:
    """Delete all participations of the agent, also ended ones."""
    tx.run(_DELETE_PARTICIPATIONS, {"id": agent_id})


@cache
def _page(*, archived: bool) -> Query:
    query = select(_m.id).where(*_OWN_MEMORIES)
    if not archived:
        query = query.where(_m.status != literal_word(MemoryStatus.ARCHIVED))
    return Query(query.order_by(_m.doc).limit(param("limit")))


_ID = param("id", _m.agent_id)
# Spaces of users and chats have other owners: there the agent is only the source of a memory.
_KINDS = sorted({*AGENT_KINDS, SpaceKind.RUN, SpaceKind.ORG})
_OWN_MEMORIES = (_m.agent_id == _ID, _m.space_kind.in_([literal_word(kind) for kind in _KINDS]))
_HAS_MEMORIES = Query(
    select(_ONE)
    .where(
        *_OWN_MEMORIES, or_(_m.expires_at.is_(None), _m.expires_at > param("now", _m.expires_at))
    )
    .limit(_ONE)
)
_REFERENCES = (
    Query(select(_ONE).where(_m.agent_id == _ID).limit(_ONE)),
    Query(
        select(_ONE)
        .where(
            agents.c.owner_kind == literal_word(OwnerKind.AGENT),
            agents.c.owner_id == _ID,
            agents.c.id != _ID,
            agents.c.removed_at.is_(None),
        )
        .limit(_ONE)
    ),
)
_OWN_PARTICIPATION = (
    _p.kind == literal_word(OwnerKind.AGENT),
    _p.member_id == param("id", _p.member_id),
)
_LEAVE = Query(
    update(chat_participations)
    .where(*_OWN_PARTICIPATION, _p.left_at.is_(None))
    .values(left_at=param("at", _p.left_at))
)
_DELETE_PARTICIPATIONS = Query(delete(chat_participations).where(*_OWN_PARTICIPATION))
