"""The store of agents."""

from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import and_, delete, or_, select, tuple_, update

from recollect.agents import store_removal, store_runs
from recollect.agents.model import Agent
from recollect.db.engines.expressions import InTextList, insert_if_absent
from recollect.db.statements import Query, Row, param
from recollect.db.tables.people import agents
from recollect.db.transaction import Tx
from recollect.kernel import strict_json
from recollect.kernel.ids import AgentId, MemoryId, OrgId
from recollect.kernel.owner import Owner, OwnerKind
from recollect.kernel.space import SpaceMode

_a = agents.c
_COLUMNS = tuple(agents.columns)


class AgentStore:
    def insert(self, tx: Tx, agent: Agent) -> bool:
        """Insert an agent; False if the id is taken, also by a removed agent."""
        return tx.fetch_first(_INSERT, _to_params(agent)) is not None

    def fetch(self, tx: Tx, agent_id: AgentId) -> Agent | None:
        """The agent, unless it was removed."""
        row = tx.fetch_first(_FETCH, {"id": agent_id})
        return _from_row(row) if row else None

    def fetch_owner(self, tx: Tx, agent_id: AgentId) -> Owner | None:
        """The owner of an agent, also of a removed one: the owner keeps the rights on its
        memories."""
        row = tx.fetch_first(_FETCH_OWNER, {"id": agent_id})
        return Owner(OwnerKind(row[0]), row[1]) if row else None

    def lock(self, tx: Tx, agent_id: AgentId) -> None:
        """Lock the agent's row until the transaction ends."""
        tx.lock(_LOCK, {"id": agent_id})

    def lock_shared(self, tx: Tx, agent_id: AgentId) -> None:
        """A shared lock for writers to the agent's spaces: they don't wait for each other, while a
        removal, which takes the exclusive lock, waits for all of them."""
        tx.lock(_LOCK_SHARED, {"id": agent_id})

    def page(
        self,
        tx: Tx,
        *,
        orgs: frozenset[OrgId],
        who: Owner,
        owner: Owner | None,
        after: tuple[datetime, str] | None,
        limit: int,
    ) -> list[Agent]:
        """Live agents of these orgs, and those that `who` owns, the newest first."""
        params: dict[str, Any] = {
            "orgs": strict_json.dump(sorted(orgs)),
            "who_kind": who.kind,
            "who_id": who.id,
            "limit": limit,
        }
        if owner is not None:
            params |= {"owner_kind": owner.kind, "owner_id": owner.id}
        if after is not None:
            params |= {"at": after[0], "id": after[1]}
        statement = _page(owned=owner is not None, cursor=after is not None)
        return [_from_row(row) for row in tx.fetch(statement, params)]

    def update(self, tx: Tx, agent: Agent) -> None:
        """Store name, description, owner, mode, metadata and removal."""
        tx.run(_UPDATE, _to_params(agent))

    def delete(self, tx: Tx, agent_id: AgentId) -> None:
        """Delete the row, its participations and its runs, so that the id is free."""
        tx.run(_DELETE, {"id": agent_id})
        store_removal.delete_participations(tx, agent_id)
        store_runs.delete_runs(tx, agent_id)

    def delete_if_unreferenced(self, tx: Tx, agent_id: AgentId) -> None:
        """Delete the row of a removed agent if nothing refers to it any more."""
        # A removed agent keeps its row while memories refer to it. These may have been deleted
        # since.
        removed = tx.fetch_first(_FETCH_REMOVED, {"id": agent_id}) is not None
        if removed and not self.is_referenced(tx, agent_id):
            self.delete(tx, agent_id)

    def is_referenced(self, tx: Tx, agent_id: AgentId) -> bool:
        """Does anything refer to the id that a new agent of this id would inherit: memories, or
        agents that it owns?"""
        return store_removal.is_referenced(tx, agent_id)

    def has_memories(self, tx: Tx, agent_id: AgentId, *, now: datetime) -> bool:
        """Does the agent have memories that have not expired, in its agent spaces, its runs or its
        org?"""
        return store_removal.has_memories(tx, agent_id, now=now)

    def page_memories(
        self, tx: Tx, agent_id: AgentId, *, archived: bool, limit: int
    ) -> list[MemoryId]:
        """Ids of the agent's memories in its agent spaces, its runs and its org; archived ones only
        with `archived`."""
        return store_removal.page_memories(tx, agent_id, archived=archived, limit=limit)

    def leave_chats(self, tx: Tx, agent_id: AgentId, *, at: datetime) -> None:
        """End the agent's current participations."""
        store_removal.leave_chats(tx, agent_id, at=at)


def _to_params(agent: Agent) -> dict[str, Any]:
    return {
        "id": agent.id,
        "name": agent.name,
        "description": agent.description,
        "owner_kind": agent.owner.kind,
        "owner_id": agent.owner.id,
        "org_id": agent.org_id,
        "space_mode": agent.space_mode,
        "created_by_kind": agent.created_by.kind,
        "created_by_id": agent.created_by.id,
        "created_at": agent.created_at,
        "updated_at": agent.updated_at,
        "metadata": strict_json.dump(agent.metadata),
        "removed_at": agent.removed_at,
    }


def _from_row(row: Row) -> Agent:
    return Agent(
        id=AgentId(row[0]),
        name=row[1],
        description=row[2],
        owner=Owner(OwnerKind(row[3]), row[4]),
        org_id=OrgId(row[5]),
        space_mode=SpaceMode(row[6]) if row[6] is not None else None,
        created_by=Owner(OwnerKind(row[7]), row[8]),
        created_at=row[9],
        updated_at=row[10],
        metadata=strict_json.load(row[11]),
        removed_at=row[12],
    )


@cache
def _page(*, owned: bool, cursor: bool) -> Query:
    is_listed = or_(
        InTextList(_a.org_id, param("orgs")),
        and_(
            _a.owner_kind == param("who_kind", _a.owner_kind),
            _a.owner_id == param("who_id", _a.owner_id),
        ),
    )
    query = select(*_COLUMNS).where(_a.removed_at.is_(None), is_listed)
    if owned:
        query = query.where(*_OWNER)
    if cursor:
        here = tuple_(param("at", _a.created_at), param("id", _a.id))
        query = query.where(tuple_(_a.created_at, _a.id) < here)
    query = query.order_by(_a.created_at.desc(), _a.id.desc())
    return Query(query.limit(param("limit")))


_ID = param("id", _a.id)
_LIVE = (_a.id == _ID, _a.removed_at.is_(None))
_OWNER = (
    _a.owner_kind == param("owner_kind", _a.owner_kind),
    _a.owner_id == param("owner_id", _a.owner_id),
)
_INSERT = Query(
    insert_if_absent(agents, "id")
    .values({column.name: param(column.name, column) for column in _COLUMNS})
    .returning(_a.id)
)
_FETCH = Query(select(*_COLUMNS).where(*_LIVE))
_FETCH_REMOVED = Query(select(_a.id).where(_a.id == _ID, _a.removed_at.is_not(None)))
_FETCH_OWNER = Query(select(_a.owner_kind, _a.owner_id).where(_a.id == _ID))
_LOCK = Query(select(_a.id).where(_a.id == _ID).with_for_update())
# FOR SHARE: compatible with itself, not with the FOR UPDATE of a removal.
_LOCK_SHARED = Query(select(_a.id).where(_a.id == _ID).with_for_update(read=True))
_CHANGEABLE = ("name", "description", "owner_kind", "owner_id", "space_mode", "updated_at")
_UPDATE = Query(
    update(agents)
    .where(_a.id == _ID)
    .values({name: param(name, _a[name]) for name in (*_CHANGEABLE, "metadata", "removed_at")})
)
_DELETE = Query(delete(agents).where(_a.id == _ID))
