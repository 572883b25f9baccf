"""Reads the claims of a token whose signature has been verified."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recollect.identity.user_ids import id_problem
from recollect.kernel.errors import Unauthenticated
from recollect.kernel.ids import UserId

# Tolerance for `nbf`: clocks differ a little, and a token is often used in its first second.
_CLOCK_SKEW_SECONDS = 30

_USER_CLAIMS = ("preferred_username", "upn", "sub")
_ROLE_CLAIMS = ("roles", "realm_access.roles")


@dataclass(frozen=True, slots=True)
class TokenClaims:
    """The claims that matter here. Instants are in seconds since 1970."""

    user_id: UserId
    roles: frozenset[str]
    expires_at: float
    valid_from: float | None
    orgs: frozenset[str] = frozenset()
    agent: bool = False
    acts_for_owner: bool = False

    def check_time(self, now: float) -> None:
        """Raises Unauthenticated if the token has expired or is not valid yet."""
        if now >= self.expires_at:
            raise Unauthenticated("the token has expired")
        if self.valid_from is not None and now < self.valid_from - _CLOCK_SKEW_SECONDS:
            raise Unauthenticated("the token is not valid yet")


class ClaimReader:
    """Reads claims and checks all that does not depend on the time, so the result can be cached."""

    def __init__(
        self, *, issuer: str | None, audience: str | None, roles_claim: str | None
    ) -> None:
        self._issuer = issuer
        self._audience = audience
        self._role_claims = (roles_claim,) if roles_claim else _ROLE_CLAIMS

    def read(self, payload: bytes) -> TokenClaims:
        """Raises Unauthenticated if the payload is malformed, or for another issuer or audience."""
        members = _parse_payload(payload)
        self._check_issuer(members)
        self._check_audience(members)
        expires_at = _parse_instant(members, "exp")
        if expires_at is None:
            raise Unauthenticated("the token has no `exp`")
        return TokenClaims(
            user_id=_parse_user_id(members),
            roles=self._read_roles(members),
            expires_at=expires_at,
            valid_from=_parse_instant(members, "nbf"),
            orgs=_parse_names(members.get("orgs")),
            agent=members.get("kind") == "agent",
            acts_for_owner=members.get("act_for") == "owner",
        )

    def _check_issuer(self, members: Mapping[str, Any]) -> None:
        if self._issuer is not None and members.get("iss") != self._issuer:
            raise Unauthenticated("the token has another issuer")

    def _check_audience(self, members: Mapping[str, Any]) -> None:
        if self._audience is None:
            return
        audience = members.get("aud")
        audiences = audience if isinstance(audience, list) else [audience]
        if self._audience not in audiences:
            raise Unauthenticated("the token is for another audience")

    def _read_roles(self, members: Mapping[str, Any]) -> frozenset[str]:
        for claim in self._role_claims:
            value = _claim_value(members, claim)
            if value is not None:
                return _parse_names(value)
        return frozenset()


def _parse_payload(payload: bytes) -> dict[str, Any]:
    try:
        value = json.loads(payload)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise Unauthenticated("the token's payload is not a JSON object")
    return value


def _parse_user_id(members: Mapping[str, Any]) -> UserId:
    """The user id from the first claim that is present. If that is invalid the token is refused:
    falling back to the next claim could make it another user's."""
    for claim in _USER_CLAIMS:
        user_id = members.get(claim)
        if user_id is None:
            continue
        problem = id_problem(user_id)
        if problem:
            raise Unauthenticated(f"the token's `{claim}` {problem}")
        return UserId(user_id)
    raise Unauthenticated("the token names no user")


def _parse_instant(members: Mapping[str, Any], claim: str) -> float | None:
    value = members.get(claim)
    if value is None:
        return None
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole and not (isinstance(value, float) and math.isfinite(value)):
        raise Unauthenticated(f"the token's `{claim}` must be a number of seconds")
    # An integer is not converted: it may be too large for a float, and compares all the same.
    return value  # type: ignore[no-any-return]


def _claim_value(members: Mapping[str, Any], path: str) -> Any:
    """The claim with this exact name (which may contain dots: `https://…/roles`), else the value
    at this dotted path."""
    if path in members:
        return members[path]
    value: Any = members
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _parse_names(value: Any) -> frozenset[str]:
    if isinstance(value, str):
        return frozenset(value.split())
    if isinstance(value, list):
        return frozenset(name for name in value if isinstance(name, str))
    return frozenset()
