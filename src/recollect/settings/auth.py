"""Section `auth`: authentication, API keys, agents and roles."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr, model_validator

from recollect.identity.model import ServerRole
from recollect.settings.section import Key, Name, Section, WebUrl, broken_rule

SECRET_BYTES_MIN = 32


def _check_distinct_keys(keys: dict[str, tuple[Key, ...]]) -> dict[str, tuple[Key, ...]]:
    owners: dict[str, str] = {}
    for client, own in keys.items():
        for key in own:
            owner = owners.setdefault(key.get_secret_value(), client)
            if owner != client or own.count(key) > 1:
                raise ValueError(
                    f"should hold each key once, and {client!r} repeats one of {owner!r}"
                )
    return keys


def _check_secret(secret: SecretStr) -> SecretStr:
    if len(secret.get_secret_value().encode()) < SECRET_BYTES_MIN:
        raise ValueError(
            f"should have at least {SECRET_BYTES_MIN} bytes, as `openssl rand -base64 32` prints: "
            "a shorter one can be guessed"
        )
    return secret


class RoleGrant(Section):
    """Who has a role."""

    users: tuple[Name, ...] = ()
    clients: tuple[Name, ...] = ()
    token_roles: tuple[Name, ...] = ()


class AgentGrant(Section):
    """The agent that a client runs."""

    agent: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
    act_for_owner: bool = False


class AuthSettings(Section):
    """How callers are authenticated, and which roles they have."""

    mode: Literal["local", "jwt"] = Field(
        "local",
        description="`local`: `X-Requester-Id` is trusted, loopback only; `jwt`: bearer tokens",
    )
    jwt_secret: Annotated[Key, AfterValidator(_check_secret)] | None = Field(
        None, description="checks and signs HS256 tokens; at least 32 bytes"
    )
    jwks_url: WebUrl | None = Field(
        None, description="where the public keys of RS256 and ES256 tokens are"
    )
    issuer: Name | None = Field(None, description="`iss` that tokens must have, if set")
    audience: Name | None = Field(None, description="`aud` that tokens must have, if set")
    roles_claim: str = Field(
        "",
        description="dotted path of the claim with the token's roles; "
        "empty: `roles`, then `realm_access.roles`",
    )
    api_keys: Annotated[
        dict[Name, tuple[Key, ...]],
        AfterValidator(_check_distinct_keys),
    ] = Field(
        {},
        description="client id → its API keys; a key belongs to one client; a client without "
        "keys here gets them by `recollect key create`",
        examples=[{"support-bot": ["key-1", "key-2"]}],
    )
    failures_per_minute: int = Field(
        30,
        ge=0,
        description="bad tokens and API keys of one address in a minute; more are answered with "
        "429; good ones always pass; 0: no limit",
    )
    trusted_clients: tuple[Name, ...] = Field(
        (),
        description="clients of `auth.api_keys` that may name the user with `X-Requester-Id`",
        examples=[["support-bot"]],
    )
    agents: dict[Name, AgentGrant] = Field(
        {},
        description="client of `auth.api_keys` → the one `agent` that it may name with "
        "`X-Requester-Id`, and whether that agent has its owner's rights in its own spaces and "
        "runs (`act_for_owner`)",
        examples=[{"support-bot": {"agent": "helper", "act_for_owner": True}}],
    )
    roles: dict[ServerRole, RoleGrant] = Field(
        {},
        description="`admin`, `auditor` or `indexer` → `users`, `clients` and `token_roles` "
        "that have it",
        examples=[{"admin": {"users": ["ann"], "clients": [], "token_roles": ["ops"]}}],
    )

    @model_validator(mode="after")
    def _clients_are_known(self) -> "AuthSettings":
        for setting, clients in (
            ("auth.trusted_clients", self.trusted_clients),
            ("auth.agents", self.agents),
        ):
            unknown = [client for client in clients if client not in self.api_keys]
            if unknown:
                raise broken_rule(
                    setting, f"should name clients of auth.api_keys, and {unknown[0]!r} is none"
                )
        return self

    @model_validator(mode="after")
    def _tokens_can_be_checked(self) -> "AuthSettings":
        if self.mode == "jwt" and self.jwt_secret is None and self.jwks_url is None:
            raise broken_rule("auth.mode", "jwt needs auth.jwt_secret or auth.jwks_url as well")
        return self
