"""The identity behind the calls of a store: who reads and writes, and what they may see. The
unbound store is the system, which sees everything; a view is one agent."""

from dataclasses import dataclass
from typing import Protocol

from recollect.agents.commands import RegisterAgent
from recollect.agents.model import Agent
from recollect.agents.service import AgentService
from recollect.app.embedded import EmbeddedApp
from recollect.db.transaction import Tx
from recollect.identity.model import Principal, ServerRole
from recollect.identity.requester import Requester
from recollect.kernel.errors import Conflict, Forbidden
from recollect.kernel.ids import AgentId, OrgId, RunId, UserId
from recollect.kernel.owner import AGENT_PREFIX, Owner, OwnerKind
from recollect.kernel.retention_rules import MemoryScope
from recollect.kernel.space import DEFAULT_ORG, SpaceKind, SpaceMode
from recollect.retention.cleanup_audit import SERVER_ACTOR
from recollect.visibility.viewer import Viewer

SPACE_KINDS = {
    MemoryScope.LONG_TERM: SpaceKind.AGENT_PRIVATE,
    MemoryScope.SESSION: SpaceKind.RUN,
    MemoryScope.ORG: SpaceKind.ORG,
}
SpaceSelectors = tuple[tuple[SpaceKind, str | None], ...]


@dataclass(frozen=True, slots=True)
class AgentBinding:
    """What a view is bound to: an agent, its org, and optionally one run."""

    agent_id: AgentId
    run_id: RunId | None = None
    org_id: OrgId = DEFAULT_ORG


class StoreIdentity(Protocol):
    """Who reads and writes through a store."""

    async def reader(self) -> Requester:
        """The requester of reads."""
        ...

    async def writer(self, agent_id: AgentId, *, registers: bool = False) -> Requester:
        """The requester of writes for this agent. With `registers` the agent is registered first,
        if it is not."""
        ...

    def viewer_for(self, tx: Tx, reader: Requester) -> Viewer:
        """The viewer, by whom the rules of visibility filter rows."""
        ...

    def searched_spaces(self, tx: Tx, reader: Requester) -> SpaceSelectors:
        """The spaces in which records are looked for; an id of None means all of the kind. The
        viewer decides which of their rows are visible."""
        ...

    def check_write(self, agent_id: AgentId, run_id: str | None) -> None:
        """Forbidden where a binding allows less than the rules of the server do."""
        ...

    @property
    def is_system(self) -> bool:
        """Whether this is the system, which alone may clean up."""
        ...


class SystemIdentity:
    """The identity of an unbound store, for operators and single-tenant code. It sees every record,
    and writes as the agent of each."""

    def __init__(self, embedded: EmbeddedApp) -> None:
        self._embedded = embedded

    async def reader(self) -> Requester:
        principal = Principal(UserId(SERVER_ACTOR.spelling), kind=OwnerKind.AGENT)
        return Requester(principal, frozenset())

    async def writer(self, agent_id: AgentId, *, registers: bool = False) -> Requester:
        org_id = DEFAULT_ORG
        if registers:
            org_id = await _ensure_registered(self._embedded, agent_id, DEFAULT_ORG)
        return _agent_requester(agent_id, org_id, ServerRole.ADMIN)

    def viewer_for(self, tx: Tx, reader: Requester) -> Viewer:
        return Viewer.for_system(
            "the system principal of an embedded store", self._embedded.context.runtime.clock.now()
        )

    def searched_spaces(self, tx: Tx, reader: Requester) -> SpaceSelectors:
        return tuple((kind, None) for kind in SPACE_KINDS.values())

    def check_write(self, agent_id: AgentId, run_id: str | None) -> None:
        return None

    @property
    def is_system(self) -> bool:
        return True


class AgentIdentity:
    """The identity of a view: the rights that the server gives this agent. Bound to a run it sees
    that run with its ancestors and descendants, and no other run of the agent."""

    def __init__(self, embedded: EmbeddedApp, binding: AgentBinding) -> None:
        self._embedded = embedded
        self._binding = binding

    async def reader(self) -> Requester:
        agent = await _fetch_agent(self._embedded, self._binding.agent_id)
        return self._requester_in(agent.org_id if agent else self._binding.org_id)

    async def writer(self, agent_id: AgentId, *, registers: bool = False) -> Requester:
        own = self._binding
        if registers and agent_id == own.agent_id:
            return self._requester_in(
                await _ensure_registered(self._embedded, own.agent_id, own.org_id)
            )
        return await self.reader()

    def viewer_for(self, tx: Tx, reader: Requester) -> Viewer:
        return self._embedded.context.viewers.viewer_for(tx, reader)

    def searched_spaces(self, tx: Tx, reader: Requester) -> SpaceSelectors:
        # Orgs without an id: the viewer shows only that of the agent.
        own = (SpaceKind.AGENT_PRIVATE, str(self._binding.agent_id))
        return (own, (SpaceKind.ORG, None), *self._run_spaces(tx))

    def check_write(self, agent_id: AgentId, run_id: str | None) -> None:
        own = self._binding
        if agent_id != own.agent_id:
            raise Forbidden("agent_slug: this view writes for its own agent alone")
        if own.run_id is not None and run_id not in (None, own.run_id):
            raise Forbidden("run_id: this view writes to its own run alone")

    @property
    def is_system(self) -> bool:
        return False

    def _requester_in(self, org_id: OrgId) -> Requester:
        if org_id != self._binding.org_id:
            raise Forbidden("org_id: the agent is registered in another org")
        return _agent_requester(self._binding.agent_id, org_id)

    def _run_spaces(self, tx: Tx) -> SpaceSelectors:
        run_id, who = self._binding.run_id, Owner.agent(self._binding.agent_id)
        if run_id is None:
            return ((SpaceKind.RUN, None),)
        lineage = self._embedded.context.stores.runs.fetch_lineage(tx, who, run_id)
        ids = [run_id, *(run.id for run in (*lineage.ancestors, *lineage.descendants))]
        return tuple((SpaceKind.RUN, str(one)) for one in ids)


def _agent_requester(agent_id: AgentId, org_id: OrgId, *roles: ServerRole) -> Requester:
    """The agent as a requester, with the rights of its owner in its own spaces."""
    principal = Principal(
        UserId(AGENT_PREFIX + agent_id),
        roles=frozenset(roles),
        kind=OwnerKind.AGENT,
        orgs=frozenset({org_id}),
        acts_for_owner=True,
    )
    return Requester(principal, frozenset({org_id}))


async def _ensure_registered(embedded: EmbeddedApp, agent_id: AgentId, org_id: OrgId) -> OrgId:
    """The org of the agent. An unknown agent is registered first, as its own owner, with a private
    and a public space."""
    agent = await _fetch_agent(embedded, agent_id)
    if agent is not None:
        return agent.org_id
    new = RegisterAgent(id=agent_id, org_id=org_id, space_mode=SpaceMode.DUAL)
    try:
        return (
            await embedded.services[AgentService].register(_agent_requester(agent_id, org_id), new)
        ).org_id
    except Conflict:
        # Another call has registered it since. If the conflict has another cause, the write that
        # follows is refused with an error of its own.
        agent = await _fetch_agent(embedded, agent_id)
        return agent.org_id if agent else org_id


async def _fetch_agent(embedded: EmbeddedApp, agent_id: AgentId) -> Agent | None:
    return await embedded.context.database.read(
        lambda tx: embedded.context.stores.agents.fetch(tx, agent_id)
    )
