"""What the composition root tells the authenticator."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class BoundAgent:
    """The agent that a client runs, and whether its key says that it acts for its owner."""

    agent_id: str
    acts_for_owner: bool = False


@dataclass(frozen=True, slots=True)
class IdentitySettings:
    """Plain values, checked by `CredentialAuthenticator`. Secrets stay out of the repr.

    `api_keys` is client id → its keys. The `role_…` mappings are role name → who holds it: users,
    clients, or names of roles in a token. `org_members` is org id → its users,
    `bound_agents` client id → the agent that it may name without being trusted. `roles_claim` None
    or empty means `roles`, then `realm_access.roles`.
    """

    mode: Literal["local", "jwt"]
    secret: bytes | None = field(default=None, repr=False)
    jwks_url: str | None = None
    issuer: str | None = None
    audience: str | None = None
    roles_claim: str | None = None
    api_keys: Mapping[str, Sequence[str]] = field(default_factory=dict, repr=False)
    trusted_clients: Collection[str] = ()
    bound_agents: Mapping[str, BoundAgent] = field(default_factory=dict)
    org_members: Mapping[str, Collection[str]] = field(default_factory=dict)
    role_users: Mapping[str, Collection[str]] = field(default_factory=dict)
    role_clients: Mapping[str, Collection[str]] = field(default_factory=dict)
    role_tokens: Mapping[str, Collection[str]] = field(default_factory=dict)
