"""Who calls."""

from dataclasses import dataclass, field
from enum import StrEnum

from recollect.domain.ids import ClientId, UserId


class Role(StrEnum):
    """A role opens the role endpoints only; it gives no membership."""

    ADMIN = "admin"
    AUDITOR = "auditor"
    INDEXER = "indexer"


@dataclass(frozen=True, slots=True)
class Principal:
    """The user a request acts for, the client it came through, and their roles."""

    user_id: UserId
    client_id: ClientId | None = None
    trusted: bool = False
    roles: frozenset[Role] = field(default_factory=frozenset)

    def has(self, role: Role) -> bool:
        """`admin` includes the other two."""
        return role in self.roles or Role.ADMIN in self.roles
