"""The settings of the authenticator, as plain values."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class BoundAgent:
    """The agent that a client may act as, and whether it then acts for the agent's owner."""

    agent_id: str
    acts_for_owner: bool = False


@dataclass(frozen=True, slots=True)
class IdentitySettings:
    """Checked by `CredentialAuthenticator`. Secrets are not in the repr.

    `api_keys` maps a client id to its keys. The `role_…` mappings map a role to those who have it:
    users, clients, or role names in a token. `org_members` maps an org to its users, and
    `bound_agents` a client id to the agent that it may name without being trusted. If
    `roles_claim` is None or empty, roles are read from `roles`, else from `realm_access.roles`.
    `failures_max` bad credentials of one address a minute are answered as such; 0 is no limit.
    """

    mode: Literal["local", "jwt"]
    secret: bytes | None = field(default=None, repr=False)
    jwks_url: str | None = None
    issuer: str | None = None
    audience: str | None = None
    roles_claim: str | None = None
    failures_max: int = 0
    api_keys: Mapping[str, Sequence[str]] = field(default_factory=dict, repr=False)
    trusted_clients: Collection[str] = ()
    bound_agents: Mapping[str, BoundAgent] = field(default_factory=dict)
    org_members: Mapping[str, Collection[str]] = field(default_factory=dict)
    role_users: Mapping[str, Collection[str]] = field(default_factory=dict)
    role_clients: Mapping[str, Collection[str]] = field(default_factory=dict)
    role_tokens: Mapping[str, Collection[str]] = field(default_factory=dict)
