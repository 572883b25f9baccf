"""The authenticated caller of a request."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from recollect.kernel.ids import ClientId, OrgId, PersonId, UserId
from recollect.kernel.owner import AGENT_PREFIX, Owner, OwnerKind

KeyCheck = Callable[[], Awaitable[bool]]


class ServerRole(StrEnum):
    """A role of the server. It allows the operations that name it, and gives no membership."""

    ADMIN = "admin"
    AUDITOR = "auditor"
    INDEXER = "indexer"


@dataclass(frozen=True, slots=True)
class Principal:
    """The user a request acts for, the client it came through, and their roles.

    In conversations an agent is a user with the id `agent:<id>`; only `kind` tells that it is an
    agent. `orgs` come from the credential and the settings; an agent's org is in its registration.
    `acts_for_owner` comes from a credential, never from a header. `expires_at` is the expiry
    of the token or the API key in seconds since 1970, and `key_is_known` asks whether an issued key
    is still one; a stream has to check both again while it runs.
    """

    user_id: UserId
    client_id: ClientId | None = None
    trusted: bool = False
    roles: frozenset[ServerRole] = field(default_factory=frozenset)
    kind: OwnerKind = OwnerKind.USER
    orgs: frozenset[OrgId] = frozenset()
    acts_for_owner: bool = False
    expires_at: float | None = field(default=None, compare=False)
    key_is_known: KeyCheck | None = field(default=None, compare=False, repr=False)

    @property
    def identity(self) -> Owner:
        """The caller as an owner: kind and id, without the prefix `agent:`."""
        if self.kind is OwnerKind.AGENT:
            return Owner.agent(self.user_id.removeprefix(AGENT_PREFIX))
        return Owner.user(self.user_id)

    def is_expired(self, now: datetime) -> bool:
        """Has the caller's token or key expired?"""
        return self.expires_at is not None and now.timestamp() >= self.expires_at

    async def has_ended(self, now: datetime) -> bool:
        """Has the caller's token or key expired, or was the key revoked since the call began?"""
        if self.is_expired(now):
            return True
        return self.key_is_known is not None and not await self.key_is_known()

    def has_role(self, role: ServerRole) -> bool:
        """Does the caller have the role? `admin` includes the other two."""
        return role in self.roles or ServerRole.ADMIN in self.roles


@dataclass(frozen=True, slots=True)
class KeyHolder:
    """The client of an API key, and when the key expires. One that the server `issued` can be
    revoked while it runs; one of the settings can't."""

    client_id: ClientId
    expires_at: datetime | None = None
    issued: bool = True


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of a request: a user or an agent.

    `acts_for_owner` comes from the agent's credential, never from a header. `orgs` are the user's
    orgs, or the agent's single org. The owner of an agent does not get the agent's org.
    """

    who: Owner
    orgs: frozenset[OrgId] = frozenset()
    acts_for_owner: bool = False
    admin: bool = False


@dataclass(frozen=True, slots=True)
class KnownUser:
    """A user who has called before: the user's person, all users of that person, and the orgs that
    the user had in the last call."""

    person_id: PersonId
    user_ids: frozenset[UserId]
    orgs: frozenset[OrgId]
