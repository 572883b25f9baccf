"""Turns the credentials of a request into a principal, the same way for every protocol.

A request has up to three: a bearer token, an API key (which identifies the client), and
`X-Requester-Id`. A token identifies the user by itself. `X-Requester-Id` without a token counts in
local mode, from a trusted client, or from a client that names the agent it is bound to."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from recollect.identity.clients import ApiKeys
from recollect.identity.failed_attempts import FailedAttempts
from recollect.identity.model import KeyHolder, Principal
from recollect.identity.orgs import OrgMemberships
from recollect.identity.ports import KeyHolders
from recollect.identity.roles import RoleGrants
from recollect.identity.settings import BoundAgent, IdentitySettings
from recollect.identity.tokens.claims import ClaimReader, TokenClaims
from recollect.identity.tokens.jwks import JwksKeys
from recollect.identity.tokens.signers import SharedSecret
from recollect.identity.tokens.tokens import TokenVerifier
from recollect.identity.user_ids import id_problem
from recollect.kernel.clock import Clock
from recollect.kernel.errors import (
    RecollectError,
    RequesterHeaderInvalid,
    RequesterInvalid,
    RequesterMismatch,
    RequesterRequired,
    Unauthenticated,
)
from recollect.kernel.ids import UserId
from recollect.kernel.owner import AGENT_PREFIX, OwnerKind


class CredentialAuthenticator:
    """Implements `Authenticator`."""

    def __init__(
        self,
        settings: IdentitySettings,
        *,
        clock: Clock,
        issued_keys: KeyHolders | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Raises ValueError for invalid settings, such as one API key of two clients."""
        self._believes_anyone = settings.mode == "local"
        self._api_keys = ApiKeys(settings.api_keys)
        self._issued_keys = issued_keys
        self._failures = FailedAttempts(settings.failures_max, monotonic=monotonic)
        self._trusted = frozenset(settings.trusted_clients)
        self._bound = dict(settings.bound_agents)
        self._roles = RoleGrants(settings)
        self._orgs = OrgMemberships(settings.org_members, local=self._believes_anyone)
        self._tokens = _build_verifier(settings, clock, monotonic)

    async def authenticate(
        self,
        *,
        authorization: str | None,
        api_key: str | None,
        requester_id: str | None,
        address: str | None = None,
    ) -> Principal:
        """Check all credentials. None is an absent header; an empty one is present and invalid.

        Raises Unauthenticated for no user, a bad token or an unknown key, TooManyAttempts for one
        of the latter two from an address that sent too many, Forbidden if
        `requester_id` is not the token's user, and Unavailable if a token can't be checked now. A
        malformed `requester_id` is reported first: as RequesterInvalid without a valid token, and
        as RequesterUnfit with one.
        """
        # The order decides which error a caller with several faults gets: first a malformed user
        # id, then the API key, then the token, and last whether they fit together.
        problem = None if requester_id is None else id_problem(requester_id)
        if problem:
            raise await self._requester_error(authorization, address, f"`X-Requester-Id` {problem}")
        with self._refusals_of(address):
            holder = await self._find_holder(api_key)
            claims = await self._verify_bearer(authorization)
        client_id = holder.client_id if holder else None
        trusted = client_id in self._trusted
        bound = self._bound.get(client_id or "")
        # Without a token the prefix of the user id tells an agent from a user. With one only the
        # claim `kind` does.
        if claims is None:
            user_id = self._accept_requester(
                requester_id, trusted=trusted or _is_bound_agent(requester_id, bound)
            )
            kind = OwnerKind.AGENT if user_id.startswith(AGENT_PREFIX) else OwnerKind.USER
            token_roles: frozenset[str] = frozenset()
        else:
            user_id = _match_requester(claims, requester_id)
            kind = OwnerKind.AGENT if claims.agent else OwnerKind.USER
            token_roles = claims.roles
        return Principal(
            user_id=user_id,
            client_id=client_id,
            trusted=trusted,
            roles=self._roles.find_roles(user_id, client_id, token_roles),
            kind=kind,
            orgs=self._orgs.find_orgs(user_id, claims.orgs if claims else ()),
            acts_for_owner=_acts_for_owner(user_id, claims, bound),
            expires_at=_first_expiry(claims, holder),
            key_is_known=partial(self._is_known, api_key) if holder and holder.issued else None,
        )

    async def _is_known(self, key: str | None) -> bool:
        try:
            return await self._find_holder(key) is not None
        except Unauthenticated:
            return False

    @contextmanager
    def _refusals_of(self, address: str | None) -> Iterator[None]:
        """Count a credential that is refused inside the block."""
        try:
            yield
        except Unauthenticated:
            self._failures.count(address)
            raise

    async def _find_holder(self, key: str | None) -> KeyHolder | None:
        """None without a key. Keys of the settings cost no look-up in the database."""
        if key is None:
            return None
        client_id = self._api_keys.find_client(key)
        if client_id is not None:
            return KeyHolder(client_id, issued=False)
        holder = await self._issued_keys.find_holder(key) if self._issued_keys else None
        if holder is None:
            raise Unauthenticated("unknown API key")
        return holder

    async def _verify_bearer(self, authorization: str | None) -> TokenClaims | None:
        if authorization is None:
            return None
        scheme, _, token = authorization.partition(" ")
        token = token.strip(" ")
        if scheme.lower() != "bearer" or not token:
            raise Unauthenticated("`Authorization` must be `Bearer` and a token")
        return await self._tokens.verify(token)

    def _accept_requester(self, requester_id: str | None, *, trusted: bool) -> UserId:
        if requester_id is None:
            if self._believes_anyone:
                raise RequesterRequired("no user: send `X-Requester-Id` or a bearer token")
            raise Unauthenticated("no user: send a bearer token")
        if not (trusted or self._believes_anyone):
            raise Unauthenticated(
                "`X-Requester-Id` without a token is accepted from trusted clients only"
            )
        return UserId(requester_id)

    async def _requester_error(
        self, authorization: str | None, address: str | None, message: str
    ) -> RecollectError:
        try:
            with self._refusals_of(address):
                claims = await self._verify_bearer(authorization)
        except Unauthenticated:
            claims = None
        return RequesterInvalid(message) if claims is None else RequesterHeaderInvalid(message)


def _first_expiry(claims: TokenClaims | None, holder: KeyHolder | None) -> float | None:
    ends = [claims.expires_at] if claims is not None else []
    if holder is not None and holder.expires_at is not None:
        ends.append(holder.expires_at.timestamp())
    return min(ends, default=None)


def _is_bound_agent(requester_id: str | None, bound: BoundAgent | None) -> bool:
    return bound is not None and requester_id == f"{AGENT_PREFIX}{bound.agent_id}"


def _acts_for_owner(user_id: UserId, claims: TokenClaims | None, bound: BoundAgent | None) -> bool:
    """From the claim of an agent's token, or from the settings of the API key."""
    if claims is not None and not claims.agent:
        return False
    by_key = bound is not None and bound.acts_for_owner and _is_bound_agent(user_id, bound)
    return by_key or (claims is not None and claims.acts_for_owner)


def _match_requester(claims: TokenClaims, requester_id: str | None) -> UserId:
    if claims.user_id.startswith(AGENT_PREFIX):
        # The prefix marks agents. A user with it in the name could pass for an agent, and an agent
        # that spells it itself would have two ids.
        raise Unauthenticated(f"the token's user must not start with `{AGENT_PREFIX}`")
    spelled = UserId(f"{AGENT_PREFIX}{claims.user_id}") if claims.agent else claims.user_id
    if requester_id is not None and requester_id != spelled:
        raise RequesterMismatch("`X-Requester-Id` is not the user of the token")
    return spelled


def _build_verifier(
    settings: IdentitySettings, clock: Clock, monotonic: Callable[[], float]
) -> TokenVerifier:
    # In local mode only tokens signed by this server count, so no external issuer is asked.
    jwks_url = settings.jwks_url if settings.mode == "jwt" else None
    if settings.mode == "jwt" and settings.secret is None and jwks_url is None:
        raise ValueError("`jwt` mode needs a secret or a JWKS URL")
    return TokenVerifier(
        secret=None if settings.secret is None else SharedSecret(settings.secret),
        keys=None if jwks_url is None else JwksKeys(jwks_url, monotonic=monotonic),
        claims=ClaimReader(
            issuer=settings.issuer,
            audience=settings.audience,
            roles_claim=settings.roles_claim,
        ),
        clock=clock,
    )
