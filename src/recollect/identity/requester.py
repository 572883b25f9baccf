"""The caller of a memory operation, with person, users and orgs looked up."""

from dataclasses import dataclass

from recollect.identity.model import Caller, Principal, ServerRole
from recollect.kernel.ids import AgentId, OrgId, PersonId, UserId
from recollect.kernel.owner import Owner, OwnerKind


@dataclass(frozen=True, slots=True)
class Requester:
    """A principal and what the database knows about it.

    `user_ids` are all user ids of the caller's person, including the caller's own. An agent has
    neither a person nor user ids, and one org: that of its registration.
    """

    principal: Principal
    orgs: frozenset[OrgId]
    person_id: PersonId | None = None
    user_ids: frozenset[UserId] = frozenset()

    @property
    def identity(self) -> Owner:
        """The caller as an owner: kind and id."""
        return self.principal.identity

    @property
    def agent_id(self) -> AgentId | None:
        """The agent's id, None for a user."""
        return AgentId(self.identity.id) if self.identity.kind is OwnerKind.AGENT else None

    @property
    def is_admin(self) -> bool:
        """Matters only where a rule names admins."""
        return ServerRole.ADMIN in self.principal.roles

    @property
    def is_auditor(self) -> bool:
        """Admins are auditors too."""
        return self.principal.has_role(ServerRole.AUDITOR)

    @property
    def space_caller(self) -> Caller:
        """The caller in the form that the policy of spaces takes."""
        return Caller(self.identity, self.orgs, self.principal.acts_for_owner, self.is_admin)
