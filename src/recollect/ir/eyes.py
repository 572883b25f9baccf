"""Whose eyes look at the store, and in whose name it is written: any agent's for the system
principal, one agent's for a bound view."""

from dataclasses import dataclass
from typing import Protocol

from recollect.app.embedded import Embedded
from recollect.domain.agents import AGENT_MARK, AgentId, Owner, OwnerKind
from recollect.domain.ids import UserId
from recollect.domain.registry import Agent
from recollect.domain.retention import MemoryScope
from recollect.domain.spaces import DEFAULT_ORG, OrgId, RunId, SpaceKind, SpaceMode
from recollect.errors import Conflict, Forbidden
from recollect.policy.principals import Principal, Role
from recollect.policy.requesters import Requester
from recollect.policy.sight import Sight
from recollect.ports.database import Tx
from recollect.services.agents import Registration
from recollect.services.housekeeping_events import SERVER

KINDS = {
    MemoryScope.LONG_TERM: SpaceKind.AGENT_PRIVATE,
    MemoryScope.SESSION: SpaceKind.RUN,
    MemoryScope.ORG: SpaceKind.ORG,
}
Places = tuple[tuple[SpaceKind, str | None], ...]


@dataclass(frozen=True, slots=True)
class Binding:
    """An agent, the run that it is in if that matters, and its org."""

    agent_id: AgentId
    run_id: RunId | None = None
    org_id: OrgId = DEFAULT_ORG


class Eyes(Protocol):
    """What a store sees, and in whose name it writes."""

    async def reader(self) -> Requester:
        """Who looks."""
        ...

    async def writer(self, agent_id: AgentId, *, registers: bool = False) -> Requester:
        """Who writes for this agent, registered first where that is wanted."""
        ...

    def sight(self, tx: Tx, reader: Requester) -> Sight:
        """What the rules show."""
        ...

    def places(self, tx: Tx, reader: Requester) -> Places:
        """Where records are looked for. The sight says which of them are shown."""
        ...

    def check_write(self, agent_id: AgentId, run_id: str | None) -> None:
        """Forbidden where a binding allows less than the rules."""
        ...

    @property
    def is_system(self) -> bool:
        """Is it the system principal, who may do what is for nobody else?"""
        ...


class SystemEyes:
    """The unbound store: operators' and single-tenant code. It sees every record, and writes as the
    agent of each."""

    def __init__(self, embedded: Embedded) -> None:
        self._embedded = embedded

    async def reader(self) -> Requester:
        principal = Principal(UserId(SERVER.spelling), kind=OwnerKind.AGENT)
        return Requester(principal, frozenset())

    async def writer(self, agent_id: AgentId, *, registers: bool = False) -> Requester:
        org_id = DEFAULT_ORG
        if registers:
            org_id = await _registered(self._embedded, agent_id, DEFAULT_ORG)
        return _as_agent(agent_id, org_id, Role.ADMIN)

    def sight(self, tx: Tx, reader: Requester) -> Sight:
        return Sight.whole("the system principal of an embedded store", self._embedded.clock.now())

    def places(self, tx: Tx, reader: Requester) -> Places:
        return tuple((kind, None) for kind in KINDS.values())

    def check_write(self, agent_id: AgentId, run_id: str | None) -> None:
        return None

    @property
    def is_system(self) -> bool:
        return True


class AgentEyes:
    """A bound view: the rules that the server has for this agent. Bound to a run it sees that run
    with its lineage, and no other run of the same agent."""

    def __init__(self, embedded: Embedded, binding: Binding) -> None:
        self._embedded = embedded
        self._binding = binding

    async def reader(self) -> Requester:
        agent = await _fetch(self._embedded, self._binding.agent_id)
        return self._requester(agent.org_id if agent else self._binding.org_id)

    async def writer(self, agent_id: AgentId, *, registers: bool = False) -> Requester:
        own = self._binding
        if registers and agent_id == own.agent_id:
            return self._requester(await _registered(self._embedded, own.agent_id, own.org_id))
        return await self.reader()

    def sight(self, tx: Tx, reader: Requester) -> Sight:
        return self._embedded.sights.of(tx, reader)

    def places(self, tx: Tx, reader: Requester) -> Places:
        own = (SpaceKind.AGENT_PRIVATE, str(self._binding.agent_id))
        return (own, (SpaceKind.ORG, None), *self._runs(tx))

    def check_write(self, agent_id: AgentId, run_id: str | None) -> None:
        own = self._binding
        if agent_id != own.agent_id:
            raise Forbidden("agent_slug: this view writes for its own agent alone")
        if own.run_id is not None and run_id not in (None, own.run_id):
            raise Forbidden("run_id: this view writes to its own run alone")

    @property
    def is_system(self) -> bool:
        return False

    def _requester(self, org_id: OrgId) -> Requester:
        if org_id != self._binding.org_id:
            raise Forbidden("org_id: the agent is registered in another org")
        return _as_agent(self._binding.agent_id, org_id)

    def _runs(self, tx: Tx) -> Places:
        run_id, who = self._binding.run_id, Owner.agent(self._binding.agent_id)
        if run_id is None:
            return ((SpaceKind.RUN, None),)
        lineage = self._embedded.stores.runs.lineage(tx, who, run_id)
        ids = [run_id, *(run.id for run in (*lineage.ancestors, *lineage.descendants))]
        return tuple((SpaceKind.RUN, str(one)) for one in ids)


def _as_agent(agent_id: AgentId, org_id: OrgId, *roles: Role) -> Requester:
    """With its owner's rights in its own spaces: that is what an embedded binding gives."""
    principal = Principal(
        UserId(AGENT_MARK + agent_id),
        roles=frozenset(roles),
        kind=OwnerKind.AGENT,
        orgs=frozenset({org_id}),
        acts_for_owner=True,
    )
    return Requester(principal, frozenset({org_id}))


async def _registered(embedded: Embedded, agent_id: AgentId, org_id: OrgId) -> OrgId:
    """The org of the agent, which is made where there is none: its own owner, with two spaces."""
    agent = await _fetch(embedded, agent_id)
    if agent is not None:
        return agent.org_id
    new = Registration(id=agent_id, org_id=org_id, space_mode=SpaceMode.DUAL)
    try:
        return (await embedded.services.agents.register(_as_agent(agent_id, org_id), new)).org_id
    except Conflict:
        # Somebody else was faster; the write will say so if it is not that.
        agent = await _fetch(embedded, agent_id)
        return agent.org_id if agent else org_id


async def _fetch(embedded: Embedded, agent_id: AgentId) -> Agent | None:
    return await embedded.engine.read(lambda tx: embedded.stores.agents.fetch(tx, agent_id))
