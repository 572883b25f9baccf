"""Keys that verify tokens.

Each key is bound to one algorithm. So a token can't choose it, for example HS256 with a public key
as the secret."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from jwt import PyJWK, PyJWS
from jwt.algorithms import HMACAlgorithm
from jwt.exceptions import PyJWTError

from recollect.kernel.errors import Unauthenticated

HMAC_ALGORITHM = "HS256"
PUBLIC_ALGORITHMS = ("RS256", "ES256")

_RSA_BITS_MIN = 2048
_PUBLIC_JWK_FIELDS = {"RS256": ("kty", "n", "e"), "ES256": ("kty", "crv", "x", "y")}


class TokenKey(Protocol):
    """A key whose signatures are accepted."""

    def payload(self, token: str) -> bytes:
        """The token's payload. Raises Unauthenticated if this key did not sign the token."""
        ...


@dataclass(frozen=True, slots=True)
class SharedSecret:
    """A secret for HS256, of any length that the operator chooses."""

    secret: bytes = field(repr=False)

    def __post_init__(self) -> None:
        """Raises ValueError if the secret is empty or looks like a public key."""
        if not self.secret:
            raise ValueError("the token secret is empty")
        try:
            _HMAC.prepare_key(self.secret)
        except PyJWTError as error:
            raise ValueError(f"the token secret can't be used: {error}") from None

    def sign(self, payload: bytes) -> str:
        """Sign a payload; returns the token."""
        return _HMAC_JWS.encode(payload, self.secret, HMAC_ALGORITHM)

    def payload(self, token: str) -> bytes:
        return _decode_verified(_HMAC_JWS, token, self.secret, HMAC_ALGORITHM)


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A key for RS256 or ES256. Two are equal if key material and algorithm are the same."""

    algorithm: str
    members: tuple[str, ...]
    jwk: PyJWK = field(compare=False, repr=False)

    def payload(self, token: str) -> bytes:
        return _decode_verified(_PUBLIC_JWS, token, self.jwk, self.algorithm)


def public_keys(document: Any) -> dict[tuple[str, str | None], PublicKey]:
    """The usable keys of a JWK Set, by algorithm and key id.

    Keys of other kinds are skipped. Raises ValueError if the document is not a JWK Set.
    """
    listed = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise ValueError("not a JWK Set")
    found: dict[tuple[str, str | None], PublicKey] = {}
    for jwk in listed:
        key = _public_key(jwk) if isinstance(jwk, dict) else None
        if key is not None:
            found.setdefault((key.algorithm, jwk.get("kid")), key)
    return found


def _public_key(jwk: Mapping[str, Any]) -> PublicKey | None:
    algorithm = _usable_algorithm(jwk)
    if algorithm is None or not isinstance(jwk.get("kid"), str | None):
        return None
    members = {name: jwk.get(name) for name in _PUBLIC_JWK_FIELDS[algorithm]}
    if not all(isinstance(value, str) for value in members.values()):
        return None
    # Only the public fields are passed on: `use`, `alg` and private parts are of no use here.
    try:
        parsed = PyJWK(members, algorithm)
    except (PyJWTError, ValueError, TypeError):
        return None
    if algorithm == "RS256" and parsed.key.key_size < _RSA_BITS_MIN:
        return None
    return PublicKey(algorithm, tuple(map(str, members.values())), parsed)


def _usable_algorithm(jwk: Mapping[str, Any]) -> str | None:
    """The algorithm that the key may be used with here, None if it can't be used."""
    if jwk.get("kty") == "RSA":
        algorithm = "RS256"
    elif jwk.get("kty") == "EC" and jwk.get("crv") == "P-256":
        algorithm = "ES256"
    else:
        return None
    meant_for_us = jwk.get("use") in (None, "sig") and jwk.get("alg") in (None, algorithm)
    return algorithm if meant_for_us else None


def _decode_verified(jws: PyJWS, token: str, key: PyJWK | bytes, algorithm: str) -> bytes:
    try:
        payload: bytes = jws.decode(token, key, algorithms=[algorithm])
    except PyJWTError:
        raise Unauthenticated("the token's signature is not valid") from None
    return payload


class _AnyLengthHmac(HMACAlgorithm):
    """HMAC without the library's warning about short keys."""

    def check_key_length(self, key: bytes) -> str | None:
        return None


_HMAC = _AnyLengthHmac(HMACAlgorithm.SHA256)
_HMAC_JWS = PyJWS(algorithms=[])
_HMAC_JWS.register_algorithm(HMAC_ALGORITHM, _HMAC)
_PUBLIC_JWS = PyJWS(algorithms=list(PUBLIC_ALGORITHMS))
