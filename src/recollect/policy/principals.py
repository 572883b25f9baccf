"""Who calls."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from recollect.domain.agents import AGENT_MARK, Owner, OwnerKind
from recollect.domain.ids import ClientId, UserId
from recollect.domain.spaces import OrgId


class Role(StrEnum):
    """A role opens the role endpoints only; it gives no membership."""

    ADMIN = "admin"
    AUDITOR = "auditor"
    INDEXER = "indexer"


@dataclass(frozen=True, slots=True)
class Principal:
    """The user a request acts for, the client it came through, and their roles.

    An agent is a user named `agent:<id>` to conversations; `kind` alone says that it is one.
    `orgs` are what the credential and the settings say; those of an agent are in its registration.
    `acts_for_owner` is a credential's word, never a header's. `expires_at` is when the token's
    life ends, in seconds since 1970; a call that goes on for long has to look at it again.
    """

    user_id: UserId
    client_id: ClientId | None = None
    trusted: bool = False
    roles: frozenset[Role] = field(default_factory=frozenset)
    kind: OwnerKind = OwnerKind.USER
    orgs: frozenset[OrgId] = frozenset()
    acts_for_owner: bool = False
    expires_at: float | None = field(default=None, compare=False)

    @property
    def who(self) -> Owner:
        """The one who asks, in the namespace that the credential named."""
        if self.kind is OwnerKind.AGENT:
            return Owner.agent(self.user_id.removeprefix(AGENT_MARK))
        return Owner.user(self.user_id)

    def is_expired(self, now: datetime) -> bool:
        """Is the token over by which this caller was believed?"""
        return self.expires_at is not None and now.timestamp() >= self.expires_at

    def has(self, role: Role) -> bool:
        """`admin` includes the other two."""
        return role in self.roles or Role.ADMIN in self.roles
