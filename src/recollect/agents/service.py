"""The registry of agents. Anybody may register an agent; changes need its owner or an admin."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from recollect.agents.hooks import AgentRemoval
from recollect.agents.model import (
    Agent,
    MemoriesOfRemoved,
    check_agent,
    id_taken_error,
)
from recollect.agents.policy import may_change, may_hand_over
from recollect.agents.ranking import AgentQuery, ranked_page
from recollect.agents.store_bundle import AgentStores
from recollect.audit.memory_recorder import MemoryAudit
from recollect.db.transaction import Database, Tx
from recollect.identity.decide import AccessDecision
from recollect.identity.requester import Requester
from recollect.kernel.errors import Forbidden, NotFound, ValidationFailed
from recollect.kernel.ids import AgentId, OrgId
from recollect.kernel.owner import (
    SUFFIX_CHARS,
    Owner,
    make_agent_id,
    random_suffix,
)
from recollect.kernel.pages import Page, decode_key, encode_key
from recollect.kernel.runtime import Runtime
from recollect.kernel.space import SpaceMode
from recollect.screening.secret_check import refuse_secrets
from recollect.text.tokens import query_tokens

_LIST = "agents"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRegistration:
    """An agent to register. Without an owner it owns itself. Without an id one is made up; from
    `reserved_id`, which an idempotent request has, it is the same id at every attempt."""

    id: AgentId | None = None
    name: str | None = None
    description: str | None = None
    owner: Owner | None = None
    org_id: OrgId | None = None
    space_mode: SpaceMode | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    reserved_id: str | None = None


@dataclass(frozen=True, slots=True)
class AgentChange:
    """The fields that were sent: name, description, space_mode, metadata."""

    members: Mapping[str, Any]


class AgentService:
    def __init__(
        self,
        database: Database,
        stores: AgentStores,
        runtime: Runtime,
        audit: MemoryAudit,
        *,
        removal: AgentRemoval,
    ) -> None:
        self._database = database
        self._stores = stores
        self._runtime = runtime
        self._audit = audit
        self._removal = removal

    async def register(self, requester: Requester, registration: AgentRegistration) -> Agent:
        """Conflict if the id is taken, Forbidden for an org that is not the caller's."""
        check_agent(registration.name, registration.description, registration.metadata)
        async with self._audit.audit_refusals(requester, "registerAgent"):
            org_id = _choose_org(requester, registration.org_id)
            _screen_texts(registration.name, registration.description, registration.metadata)
            agent = self._new_agent(requester, registration, org_id)
            again = registration.id is None and registration.reserved_id is not None
            return await self._database.write(
                lambda tx: self._register(tx, requester, agent, again=again)
            )

    async def get(self, requester: Requester, agent_id: AgentId) -> Agent:
        """Anybody who knows the id may read the registration: the agent's public space is open to
        all.
        """
        return await self._database.read(lambda tx: require_agent(tx, self._stores, agent_id))

    async def list(
        self,
        requester: Requester,
        *,
        query: str | None,
        owner: Owner | None,
        after: str | None,
        limit: int,
    ) -> Page[Agent]:
        """Agents of the caller's orgs and those that the caller owns, the newest first; with a
        query those that match it, the best match first."""
        if query is not None and query.strip():
            asked = AgentQuery(tuple(query_tokens(query)), requester, owner)
            return await self._database.scan(
                lambda tx: ranked_page(tx, self._stores, asked, after=after, limit=limit)
            )
        place = decode_key(_LIST, after) if after else None
        found = await self._database.read(
            lambda tx: self._stores.agents.page(
                tx,
                orgs=requester.orgs,
                who=requester.identity,
                owner=owner,
                after=place,
                limit=limit + 1,
            )
        )
        shown = found[:limit]
        more = len(found) > limit
        cursor = encode_key(_LIST, shown[-1].created_at, shown[-1].id) if more else None
        return Page(shown, cursor)

    async def update(self, requester: Requester, agent_id: AgentId, change: AgentChange) -> Agent:
        """Change name, description, mode or metadata. A change of the mode moves no memory."""
        members = change.members
        check_agent(members.get("name"), members.get("description"), members.get("metadata", {}))
        async with self._audit.audit_refusals(requester, "updateAgent", agent_id=agent_id):
            return await self._database.write(
                lambda tx: self._update(tx, requester, agent_id, members)
            )

    async def hand_over(self, requester: Requester, agent_id: AgentId, owner: Owner) -> Agent:
        """Change the owner. The new owner reads the private space from now on, since the owner is
        looked up at every read."""
        async with self._audit.audit_refusals(requester, "setAgentOwner", agent_id=agent_id):
            return await self._database.write(
                lambda tx: self._hand_over(tx, requester, agent_id, owner)
            )

    async def remove(
        self, requester: Requester, agent_id: AgentId, *, memories: MemoriesOfRemoved
    ) -> None:
        """Conflict if the agent has memories and `memories` is `refuse`."""
        async with self._audit.audit_refusals(requester, "deleteAgent", agent_id=agent_id):
            await self._database.write(lambda tx: self._remove(tx, requester, agent_id, memories))

    def _update(
        self, tx: Tx, requester: Requester, agent_id: AgentId, members: Mapping[str, Any]
    ) -> Agent:
        agent = self._lock_agent(tx, agent_id)
        _require(may_change(requester.space_caller, agent))
        _screen_texts(members.get("name"), members.get("description"), members.get("metadata"))
        changed = sorted(name for name in members if members[name] != getattr(agent, name))
        if not changed:
            return agent
        now = self._runtime.clock.now()
        agent = replace(agent, **members, updated_at=now)
        self._stores.agents.update(tx, agent)
        self._audit.record(
            tx, requester, "agent.update", agent_id=agent_id, payload={"fields": changed}
        )
        return agent

    def _hand_over(self, tx: Tx, requester: Requester, agent_id: AgentId, owner: Owner) -> Agent:
        agent = self._lock_agent(tx, agent_id)
        _require(may_hand_over(requester.space_caller, agent))
        if owner == agent.owner:
            return agent
        payload = {"from": agent.owner.spelling, "owner_id": owner.spelling}
        agent = replace(agent, owner=owner, updated_at=self._runtime.clock.now())
        self._stores.agents.update(tx, agent)
        self._audit.record(tx, requester, "agent.owner", agent_id=agent_id, payload=payload)
        return agent

    def _remove(
        self, tx: Tx, requester: Requester, agent_id: AgentId, memories: MemoriesOfRemoved
    ) -> None:
        agent = self._lock_agent(tx, agent_id)
        _require(may_change(requester.space_caller, agent))
        self._removal.remove(tx, requester, agent, memories=memories)

    def _lock_agent(self, tx: Tx, agent_id: AgentId) -> Agent:
        self._stores.agents.lock(tx, agent_id)
        return require_agent(tx, self._stores, agent_id)

    def _new_agent(
        self, requester: Requester, registration: AgentRegistration, org: OrgId
    ) -> Agent:
        now = self._runtime.clock.now()
        # The end of the reserved id takes the place of random characters, so that a repeated
        # request makes the same agent id and finds the agent that the first attempt registered.
        reserved = registration.reserved_id
        suffix = random_suffix if reserved is None else lambda: reserved[-SUFFIX_CHARS:]
        agent_id = registration.id or make_agent_id(registration.name, suffix)
        return Agent(
            id=agent_id,
            name=registration.name,
            description=registration.description,
            owner=registration.owner or Owner.agent(agent_id),
            org_id=org,
            space_mode=registration.space_mode,
            created_by=requester.identity,
            created_at=now,
            updated_at=now,
            metadata=registration.metadata,
        )

    def _register(self, tx: Tx, requester: Requester, agent: Agent, *, again: bool) -> Agent:
        """Insert the agent. `again`: an earlier attempt of the same request may have inserted it;
        an agent of the same creator is then returned instead of a Conflict."""
        # The id may still be held by a removed agent to which nothing refers any more.
        self._stores.agents.delete_if_unreferenced(tx, agent.id)
        if not self._stores.agents.insert(tx, agent):
            known = self._stores.agents.fetch(tx, agent.id) if again else None
            if known is None or known.created_by != requester.identity:
                raise id_taken_error()
            return known
        payload = {"owner_id": agent.owner.spelling, "org_id": agent.org_id}
        self._audit.record(tx, requester, "agent.register", agent_id=agent.id, payload=payload)
        return agent


def require_agent(tx: Tx, stores: AgentStores, agent_id: AgentId) -> Agent:
    """The agent, or NotFound."""
    agent = stores.agents.fetch(tx, agent_id)
    if agent is None:
        raise NotFound("agent", agent_id)
    return agent


def _require(decision: AccessDecision) -> None:
    if not decision.allowed:
        raise Forbidden(f"not allowed: {decision.rule}", code="not_owner")


def _screen_texts(
    name: str | None, description: str | None, metadata: dict[str, Any] | None
) -> None:
    """Refuse secrets: anybody may read a registration."""
    refuse_secrets(name=name, description=description, metadata=metadata)


def _choose_org(requester: Requester, asked: OrgId | None) -> OrgId:
    if asked is not None:
        if asked not in requester.orgs:
            raise Forbidden("the org is not one of the caller's", code="forbidden")
        return asked
    if len(requester.orgs) > 1:
        orgs = sorted(requester.orgs)
        raise ValidationFailed.for_field(
            "org_id", "must name one of the caller's orgs", allowed=orgs
        )
    return next(iter(requester.orgs))
