"""Looks up the caller of a memory operation: the person of a user, or the org of an agent."""

from recollect.agents.hooks import HandleTakeover
from recollect.agents.store_bundle import AgentStores
from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.identity.model import KnownUser, Principal
from recollect.identity.requester import Requester
from recollect.kernel.ids import AgentId, OrgId, PersonId, UserId
from recollect.kernel.owner import OwnerKind
from recollect.kernel.runtime import Runtime


class UserRegistrar:
    """Makes users known: their person, their orgs, and what was said of them before."""

    def __init__(self, stores: AgentStores, runtime: Runtime, handles: HandleTakeover) -> None:
        self._stores = stores
        self._runtime = runtime
        self._handles = handles

    def register(self, tx: Tx, user_id: UserId, orgs: frozenset[OrgId]) -> KnownUser:
        """Create a person for the user, unless the user has one, and store the orgs."""
        users = self._stores.users
        known = users.fetch(tx, user_id)
        if known is None:
            person_id, now = PersonId(self._runtime.ids.new()), self._runtime.clock.now()
            users.insert_person(tx, user_id, person_id, name=default_name(user_id), at=now)
        # Before the orgs: the person would keep those that came with whom they take over.
        self._handles.take_over(tx, user_id, orgs)
        users.update_orgs(tx, user_id, orgs)
        known = users.fetch(tx, user_id)
        if known is None:
            raise RuntimeError("a user who was introduced is not known")
        return known


class RequesterLookup:
    """One read per request. It writes only for a new user, or if the user's orgs have changed."""

    def __init__(self, context: ServiceContext[AgentStores], registrar: UserRegistrar) -> None:
        self._database = context.database
        self._stores = context.stores
        self._registrar = registrar

    async def resolve(self, principal: Principal, *, introduce: bool = True) -> Requester:
        """Return the caller with person, user ids and orgs.

        An unknown user gets a person, unless `introduce` is False: then the caller has none.
        """
        if principal.kind is OwnerKind.AGENT:
            return Requester(principal, await self._orgs_of_agent(principal))
        user_id = principal.user_id
        known = await self._database.read(lambda tx: self._stores.users.fetch(tx, user_id))
        if known is None and not introduce:
            return Requester(principal, principal.orgs, None, frozenset({user_id}))
        if known is None or known.orgs != principal.orgs:
            # The registrar looks again: another request of the same user may have been faster.
            known = await self._database.write(
                lambda tx: self._registrar.register(tx, user_id, principal.orgs)
            )
        return Requester(principal, principal.orgs, known.person_id, known.user_ids)

    async def _orgs_of_agent(self, principal: Principal) -> frozenset[OrgId]:
        agent_id = AgentId(principal.identity.id)
        agent = await self._database.read(lambda tx: self._stores.agents.fetch(tx, agent_id))
        return principal.orgs if agent is None else frozenset({agent.org_id})


def default_name(user_id: UserId) -> str:
    """The initial name of a user's person: the id up to an `@`. More people see the name than the
    id, and the id may be an e-mail address."""
    return user_id.partition("@")[0].strip() or user_id
