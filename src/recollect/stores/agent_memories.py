"""Rows that refer to an agent: its memories, its participations and the agents it owns."""

from datetime import datetime
from functools import cache

from sqlalchemy import ColumnElement, delete, literal_column, or_, select, update

from recollect.domain.agents import AgentId, OwnerKind
from recollect.domain.memories import MemoryId, Status
from recollect.domain.spaces import AGENT_KINDS, SpaceKind
from recollect.ports.database import Tx
from recollect.stores.memory_tables import memories
from recollect.stores.people_tables import agents, chat_participations
from recollect.stores.statements import Statement, param, word

_m = memories.c
_p = chat_participations.c
_ONE: ColumnElement[int] = literal_column("1")


def has_any(tx: Tx, agent_id: AgentId, *, now: datetime) -> bool:
    return tx.first(_ANY, {"id": agent_id, "now": now}) is not None


def page(tx: Tx, agent_id: AgentId, *, archived: bool, limit: int) -> list[MemoryId]:
    rows = tx.fetch(_page(archived=archived), {"id": agent_id, "limit": limit})
    return [MemoryId(row[0]) for row in rows]


def refers_to(tx: Tx, agent_id: AgentId) -> bool:
    params = {"id": agent_id}
    return any(tx.first(statement, params) is not None for statement in _REFERENCES)


def leave_chats(tx: Tx, agent_id: AgentId, *, at: datetime) -> None:
    tx.run(_LEAVE, {"id": agent_id, "at": at})


def forget_chats(tx: Tx, agent_id: AgentId) -> None:
    """Delete all participations of the agent, also ended ones."""
    tx.run(_FORGET, {"id": agent_id})


@cache
def _page(*, archived: bool) -> Statement:
    query = select(_m.id).where(*_OWN)
    if not archived:
        query = query.where(_m.status != word(Status.ARCHIVED))
    return Statement(query.order_by(_m.doc).limit(param("limit")))


_ID = param("id", _m.agent_id)
# Spaces of users and chats have other owners: there the agent is only the source of a memory.
_KINDS = sorted({*AGENT_KINDS, SpaceKind.RUN, SpaceKind.ORG})
_OWN = (_m.agent_id == _ID, _m.space_kind.in_([word(kind) for kind in _KINDS]))
_ANY = Statement(
    select(_ONE)
    .where(*_OWN, or_(_m.expires_at.is_(None), _m.expires_at > param("now", _m.expires_at)))
    .limit(_ONE)
)
_REFERENCES = (
    Statement(select(_ONE).where(_m.agent_id == _ID).limit(_ONE)),
    Statement(
        select(_ONE)
        .where(
            agents.c.owner_kind == word(OwnerKind.AGENT),
            agents.c.owner_id == _ID,
            agents.c.id != _ID,
            agents.c.removed_at.is_(None),
        )
        .limit(_ONE)
    ),
)
_PART = (_p.kind == word(OwnerKind.AGENT), _p.member_id == param("id", _p.member_id))
_LEAVE = Statement(
    update(chat_participations)
    .where(*_PART, _p.left_at.is_(None))
    .values(left_at=param("at", _p.left_at))
)
_FORGET = Statement(delete(chat_participations).where(*_PART))
