"""Looks up the caller of a memory operation: the person of a user, or the org of an agent."""

from recollect.agents.store_bundle import AgentStores
from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.identity.model import KnownUser, Principal
from recollect.identity.requester import Requester
from recollect.kernel.ids import AgentId, OrgId, PersonId, UserId
from recollect.kernel.owner import OwnerKind
from recollect.kernel.runtime import Runtime


class RequesterLookup:
    """One read per request. It writes only for a new user, or if the user's orgs have changed."""

    def __init__(self, context: ServiceContext[AgentStores]) -> None:
        self._database = context.database
        self._stores = context.stores
        self._runtime = context.runtime

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
            known = await self._database.write(lambda tx: self._register_user(tx, principal))
        return Requester(principal, principal.orgs, known.person_id, known.user_ids)

    async def _orgs_of_agent(self, principal: Principal) -> frozenset[OrgId]:
        agent_id = AgentId(principal.identity.id)
        agent = await self._database.read(lambda tx: self._stores.agents.fetch(tx, agent_id))
        return principal.orgs if agent is None else frozenset({agent.org_id})

    def _register_user(self, tx: Tx, principal: Principal) -> KnownUser:
        user_id, users = principal.user_id, self._stores.users
        # Fetched again: the first read was in another transaction, and another request of the same
        # user may have been faster.
        if users.fetch(tx, user_id) is None:
            ensure_person(tx, self._stores, self._runtime, user_id)
        users.update_orgs(tx, user_id, principal.orgs)
        known = users.fetch(tx, user_id)
        if known is None:
            raise RuntimeError("a user who was introduced is not known")
        return known


def ensure_person(tx: Tx, stores: AgentStores, runtime: Runtime, user_id: UserId) -> None:
    """Create a person for the user, unless the user has one."""
    person_id, now = PersonId(runtime.ids.new()), runtime.clock.now()
    stores.users.insert_person(tx, user_id, person_id, name=default_name(user_id), at=now)


def default_name(user_id: UserId) -> str:
    """The initial name of a user's person: the id up to an `@`. More people see the name than the
    id, and the id may be an e-mail address."""
    return user_id.partition("@")[0].strip() or user_id
