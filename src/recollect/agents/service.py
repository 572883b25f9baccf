"""The registry of agents. Anybody may register an agent; changes need its owner or an admin."""

from dataclasses import replace
from typing import Any

from recollect.agents.commands import RegisterAgent, SetAgentOwner, UpdateAgent
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
from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel.errors import Forbidden, NotFound, ValidationFailed
from recollect.kernel.ids import AgentId, OrgId
from recollect.kernel.owner import (
    SUFFIX_CHARS,
    Owner,
    make_agent_id,
    parse_agent_id,
    parse_owner,
    random_suffix,
)
from recollect.kernel.pages import Page, decode_key, encode_key
from recollect.screening.secret_check import refuse_secret_ids, refuse_secrets
from recollect.text.tokens import query_tokens

_LIST = "agents"


class AgentService:
    def __init__(
        self, context: ServiceContext[AgentStores], audit: MemoryAudit, *, removal: AgentRemoval
    ) -> None:
        self._database = context.database
        self._stores = context.stores
        self._runtime = context.runtime
        self._audit = audit
        self._removal = removal

    async def register(
        self, requester: Requester, command: RegisterAgent, *, reserved_id: str | None = None
    ) -> Agent:
        """Register an agent. Without an owner it owns itself. Without an id one is made up; from
        `reserved_id`, which an idempotent request has, it is the same id at every attempt.

        Conflict if the id is taken, Forbidden for an org that is not the caller's.
        """
        agent_id = parse_agent_id(command.id) if command.id is not None else None
        owner = parse_owner(command.owner_id) if command.owner_id is not None else None
        metadata = command.metadata or {}
        check_agent(command.name, command.description, metadata)
        async with self._audit.audit_refusals(requester, "registerAgent"):
            org_id = _choose_org(requester, command.org_id)
            _screen_texts(command.name, command.description, metadata)
            refuse_secret_ids(id=agent_id)
            agent_id = agent_id or _make_id(command.name, reserved_id)
            now = self._runtime.clock.now()
            agent = Agent(
                id=agent_id,
                name=command.name,
                description=command.description,
                owner=owner or Owner.agent(agent_id),
                org_id=org_id,
                space_mode=command.space_mode,
                created_by=requester.identity,
                created_at=now,
                updated_at=now,
                metadata=metadata,
            )
            again = command.id is None and reserved_id is not None
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
            ranking = AgentQuery(tuple(query_tokens(query)), requester, owner)
            return await self._database.scan(
                lambda tx: ranked_page(tx, self._stores, ranking, after=after, limit=limit)
            )
        after_key = decode_key(_LIST, after) if after else None
        found = await self._database.read(
            lambda tx: self._stores.agents.page(
                tx,
                orgs=requester.orgs,
                who=requester.identity,
                owner=owner,
                after=after_key,
                limit=limit + 1,
            )
        )
        page = found[:limit]
        more = len(found) > limit
        cursor = encode_key(_LIST, page[-1].created_at, page[-1].id) if more else None
        return Page(page, cursor)

    async def update(self, requester: Requester, agent_id: AgentId, command: UpdateAgent) -> Agent:
        """Change the fields that were sent. A change of the mode moves no memory."""
        check_agent(command.name, command.description, command.metadata or {})
        async with self._audit.audit_refusals(requester, "updateAgent", agent_id=agent_id):
            return await self._database.write(
                lambda tx: self._update(tx, requester, agent_id, command)
            )

    async def hand_over(
        self, requester: Requester, agent_id: AgentId, command: SetAgentOwner
    ) -> Agent:
        """Change the owner. The new owner reads the private space from now on, since the owner is
        looked up at every read."""
        owner = parse_owner(command.owner_id)
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
        self, tx: Tx, requester: Requester, agent_id: AgentId, command: UpdateAgent
    ) -> Agent:
        agent = self._lock_agent(tx, agent_id)
        may_change(requester.space_caller, agent).require_allowed()
        _screen_texts(command.name, command.description, command.metadata)
        sent = command.sent_fields
        changed = sorted(name for name in sent if sent[name] != getattr(agent, name))
        if not changed:
            return agent
        agent = replace(agent, **sent, updated_at=self._runtime.clock.now())
        self._stores.agents.update(tx, agent)
        self._audit.record(
            tx, requester, "agent.update", agent_id=agent_id, payload={"fields": changed}
        )
        return agent

    def _hand_over(self, tx: Tx, requester: Requester, agent_id: AgentId, owner: Owner) -> Agent:
        agent = self._lock_agent(tx, agent_id)
        may_hand_over(requester.space_caller, agent).require_allowed()
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
        may_change(requester.space_caller, agent).require_allowed()
        self._removal.remove(tx, requester, agent, memories=memories)

    def _lock_agent(self, tx: Tx, agent_id: AgentId) -> Agent:
        self._stores.agents.lock(tx, agent_id)
        return require_agent(tx, self._stores, agent_id)

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


def _screen_texts(
    name: str | None, description: str | None, metadata: dict[str, Any] | None
) -> None:
    """Refuse secrets: anybody may read a registration."""
    refuse_secrets(name=name, description=description, metadata=metadata)


def _make_id(name: str | None, reserved_id: str | None) -> AgentId:
    # The end of the reserved id takes the place of random characters, so that a repeated request
    # makes the same agent id and finds the agent that the first attempt registered.
    if reserved_id is None:
        return make_agent_id(name, random_suffix)
    return make_agent_id(name, lambda: reserved_id[-SUFFIX_CHARS:])


def _choose_org(requester: Requester, org_id: str | None) -> OrgId:
    if org_id is not None:
        if org_id not in requester.orgs:
            raise Forbidden("the org is not one of the caller's", code="forbidden")
        return OrgId(org_id)
    if len(requester.orgs) > 1:
        orgs = sorted(requester.orgs)
        raise ValidationFailed.for_field(
            "org_id", "must name one of the caller's orgs", allowed=orgs
        )
    return next(iter(requester.orgs))
