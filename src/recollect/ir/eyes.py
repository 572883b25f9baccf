"""The identity behind the calls of a store: who reads and writes, and what they may see. The
unbound store is the system, which sees everything; a view is one agent."""

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
    """What a view is bound to: an agent, its org, and optionally one run."""

    agent_id: AgentId
    run_id: RunId | None = None
    org_id: OrgId = DEFAULT_ORG


class Eyes(Protocol):
    """Who reads and writes through a store."""

    async def reader(self) -> Requester:
        """The requester of reads."""
        ...

    async def writer(self, agent_id: AgentId, *, registers: bool = False) -> Requester:
        """The requester of writes for this agent. With `registers` the agent is registered first,
        if it is not."""
        ...

    def sight(self, tx: Tx, reader: Requester) -> Sight:
        """The viewer, by whom the rules of visibility filter rows."""
        ...

    def places(self, tx: Tx, reader: Requester) -> Places:
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


class SystemEyes:
    """The identity of an unbound store, for operators and single-tenant code. It sees every record,
    and writes as the agent of each."""

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
    """The identity of a view: the rights that the server gives this agent. Bound to a run it sees
    that run with its ancestors and descendants, and no other run of the agent."""

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
        # Orgs without an id: the viewer shows only that of the agent.
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
    """The agent as a requester, with the rights of its owner in its own spaces."""
    principal = Principal(
        UserId(AGENT_MARK + agent_id),
        roles=frozenset(roles),
        kind=OwnerKind.AGENT,
        orgs=frozenset({org_id}),
        acts_for_owner=True,
    )
    return Requester(principal, frozenset({org_id}))


async def _registered(embedded: Embedded, agent_id: AgentId, org_id: OrgId) -> OrgId:
    """The org of the agent. An unknown agent is registered first, as its own owner, with a private
    and a public space."""
    agent = await _fetch(embedded, agent_id)
    if agent is not None:
        return agent.org_id
    new = Registration(id=agent_id, org_id=org_id, space_mode=SpaceMode.DUAL)
    try:
        return (await embedded.services.agents.register(_as_agent(agent_id, org_id), new)).org_id
    except Conflict:
        # Another call has registered it since. If the conflict has another cause, the write that
        # follows is refused with an error of its own.
        agent = await _fetch(embedded, agent_id)
        return agent.org_id if agent else org_id


async def _fetch(embedded: Embedded, agent_id: AgentId) -> Agent | None:
    return await embedded.engine.read(lambda tx: embedded.stores.agents.fetch(tx, agent_id))
