"""Who asks of the memory family: the caller with all that is known of them."""

from dataclasses import dataclass

from recollect.domain.agents import AgentId, Owner, OwnerKind
from recollect.domain.disclosure import PersonId
from recollect.domain.ids import UserId
from recollect.domain.spaces import OrgId
from recollect.policy.principals import Principal, Role
from recollect.policy.spaces import Caller


@dataclass(frozen=True, slots=True)
class Requester:
    """A caller, looked up. An agent has neither person nor users; its one org is that of its
    registration. `user_ids` are all users of the person, the caller's own among them."""

    principal: Principal
    orgs: frozenset[OrgId]
    person_id: PersonId | None = None
    user_ids: frozenset[UserId] = frozenset()

    @property
    def who(self) -> Owner:
        """The one who asks."""
        return self.principal.who

    @property
    def agent_id(self) -> AgentId | None:
        """Set where an agent asks."""
        return AgentId(self.who.id) if self.who.kind is OwnerKind.AGENT else None

    @property
    def admin(self) -> bool:
        """Counts only where a rule names admin."""
        return Role.ADMIN in self.principal.roles

    @property
    def auditor(self) -> bool:
        """Admins are auditors too."""
        return self.principal.has(Role.AUDITOR)

    @property
    def caller(self) -> Caller:
        """As the rules of spaces see it."""
        return Caller(self.who, self.orgs, self.principal.acts_for_owner, self.admin)
