"""Creates and verifies tokens."""

import json
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from jwt import PyJWS
from jwt.exceptions import PyJWTError

from recollect.identity.tokens.claims import ClaimReader, TokenClaims
from recollect.identity.tokens.jwks import JwksKeys
from recollect.identity.tokens.signers import (
    HMAC_ALGORITHM,
    PUBLIC_ALGORITHMS,
    SharedSecret,
    TokenKey,
)
from recollect.identity.user_ids import id_problem
from recollect.kernel.clock import Clock
from recollect.kernel.errors import Unauthenticated

SEEN_MAX = 4096
_JWS = PyJWS()


def mint(
    secret: bytes,
    *,
    user_id: str,
    roles: tuple[str, ...] | list[str] = (),
    ttl: timedelta,
    now: datetime,
    issuer: str | None = None,
    audience: str | None = None,
    roles_claim: str | None = None,
) -> str:
    """Create an HS256 token for `user_id` (`sub`) with `roles`, valid for `ttl` from `now` on.

    Raises ValueError for an invalid user id, an empty secret or a TTL of less than a second.
    """
    problem = id_problem(user_id)
    if problem:
        raise ValueError(f"user id {problem}")
    if ttl < timedelta(seconds=1):
        raise ValueError("a token must live for at least one second")
    issued_at = int(now.timestamp())
    payload: dict[str, Any] = {"sub": user_id, "iat": issued_at}
    payload["exp"] = issued_at + int(ttl.total_seconds())
    optional = {roles_claim or "roles": list(roles), "iss": issuer, "aud": audience}
    payload.update({claim: value for claim, value in optional.items() if value})
    return SharedSecret(secret).sign(json.dumps(payload).encode())


class TokenVerifier:
    """Verifies tokens, and caches those used last, so that a signature is verified once.

    On every use, cached or not, the token must not have expired and its key must still be valid:
    a key that the issuer removes or replaces ends its tokens. The cache is keyed by a digest, so it
    holds no tokens. Use it from one event loop only.
    """

    def __init__(
        self,
        *,
        secret: SharedSecret | None,
        keys: JwksKeys | None,
        claims: ClaimReader,
        clock: Clock,
    ) -> None:
        self._secret = secret
        self._keys = keys
        self._claims = claims
        self._clock = clock
        self._seen: OrderedDict[bytes, _VerifiedToken] = OrderedDict()

    async def verify(self, token: str) -> TokenClaims:
        """Raises Unauthenticated for an invalid token, Unavailable if it can't be checked now."""
        if not token.isascii():
            raise Unauthenticated("the token is malformed")
        digest = sha256(token.encode()).digest()
        seen = self._seen.get(digest)
        header = seen.header if seen else _parse_header(token)
        # The key is looked up even for a cached token. If it differs from the key that verified
        # the token, for example after a rotation, the signature is verified again.
        signer = await self._find_key(header)
        if seen is None or seen.signer != signer:
            seen = _VerifiedToken(header, signer, self._claims.read(signer.payload(token)))
        seen.claims.check_time(self._clock.now().timestamp())
        self._cache_token(digest, seen)
        return seen.claims

    async def _find_key(self, header: "_TokenHeader") -> TokenKey:
        if header.algorithm == HMAC_ALGORITHM and self._secret is not None:
            return self._secret
        if header.algorithm in PUBLIC_ALGORITHMS and self._keys is not None:
            key = await self._keys.find(header.algorithm, header.key_id)
            if key is None:
                raise Unauthenticated("the token is signed with an unknown key")
            return key
        raise Unauthenticated("the token's algorithm is not accepted here")

    def _cache_token(self, digest: bytes, seen: "_VerifiedToken") -> None:
        self._seen[digest] = seen
        self._seen.move_to_end(digest)
        if len(self._seen) > SEEN_MAX:
            self._seen.popitem(last=False)


@dataclass(frozen=True, slots=True)
class _TokenHeader:
    algorithm: str
    key_id: str | None


@dataclass(frozen=True, slots=True)
class _VerifiedToken:
    header: _TokenHeader
    signer: TokenKey
    claims: TokenClaims


def _parse_header(token: str) -> _TokenHeader:
    try:
        header = _JWS.get_unverified_header(token)
    except PyJWTError:
        raise Unauthenticated("the token is malformed") from None
    # `crit` lists extensions that the verifier must support; none is supported here.
    if not isinstance(header.get("alg"), str) or "crit" in header:
        raise Unauthenticated("the token is malformed")
    return _TokenHeader(header["alg"], header.get("kid"))
