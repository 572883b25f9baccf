"""Keys that a token may be signed with. Each is bound to one algorithm, so a token can't choose."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from jwt import PyJWK, PyJWS
from jwt.algorithms import HMACAlgorithm
from jwt.exceptions import PyJWTError

from recollect.errors import Unauthenticated

HMAC_ALGORITHM = "HS256"
PUBLIC_ALGORITHMS = ("RS256", "ES256")

_RSA_BITS_MIN = 2048
_PUBLIC_MEMBERS = {"RS256": ("kty", "n", "e"), "ES256": ("kty", "crv", "x", "y")}


class Signer(Protocol):
    """A key that is believed."""

    def payload(self, token: str) -> bytes:
        """What the token says. Raises Unauthenticated if this key did not sign it."""
        ...


@dataclass(frozen=True, slots=True)
class SharedSecret:
    """HS256. How long the secret is, is the operator's choice."""

    secret: bytes = field(repr=False)

    def __post_init__(self) -> None:
        """Raises ValueError for a secret that is empty or somebody's public key."""
        if not self.secret:
            raise ValueError("the token secret is empty")
        try:
            _HMAC.prepare_key(self.secret)
        except PyJWTError as error:
            raise ValueError(f"the token secret can't be used: {error}") from None

    def sign(self, payload: bytes) -> str:
        """A token that says `payload`."""
        return _SHARED.encode(payload, self.secret, HMAC_ALGORITHM)

    def payload(self, token: str) -> bytes:
        """See `Signer`."""
        return _open(_SHARED, token, self.secret, HMAC_ALGORITHM)


@dataclass(frozen=True, slots=True)
class PublicKey:
    """RS256 or ES256. Two are equal when they are the same key for the same algorithm."""

    algorithm: str
    members: tuple[str, ...]
    jwk: PyJWK = field(compare=False, repr=False)

    def payload(self, token: str) -> bytes:
        """See `Signer`."""
        return _open(_PUBLIC, token, self.jwk, self.algorithm)


def public_keys(document: Any) -> dict[tuple[str, str | None], PublicKey]:
    """The keys of a JWK Set that we can use, by algorithm and key id.

    Keys of other kinds are passed over; what is no JWK Set at all raises ValueError.
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
    algorithm = _algorithm(jwk)
    if algorithm is None or not isinstance(jwk.get("kid"), str | None):
        return None
    members = {name: jwk.get(name) for name in _PUBLIC_MEMBERS[algorithm]}
    if not all(isinstance(value, str) for value in members.values()):
        return None
    try:
        parsed = PyJWK(members, algorithm)
    except (PyJWTError, ValueError, TypeError):
        return None
    if algorithm == "RS256" and parsed.key.key_size < _RSA_BITS_MIN:
        return None
    return PublicKey(algorithm, tuple(map(str, members.values())), parsed)


def _algorithm(jwk: Mapping[str, Any]) -> str | None:
    """What the key may verify for us, if anything."""
    if jwk.get("kty") == "RSA":
        algorithm = "RS256"
    elif jwk.get("kty") == "EC" and jwk.get("crv") == "P-256":
        algorithm = "ES256"
    else:
        return None
    meant_for_us = jwk.get("use") in (None, "sig") and jwk.get("alg") in (None, algorithm)
    return algorithm if meant_for_us else None


def _open(jws: PyJWS, token: str, key: PyJWK | bytes, algorithm: str) -> bytes:
    try:
        payload: bytes = jws.decode(token, key, algorithms=[algorithm])
    except PyJWTError:
        raise Unauthenticated("the token's signature is not valid") from None
    return payload


class _AnyLengthHmac(HMACAlgorithm):
    """Without the library's warning about short keys."""

    def check_key_length(self, key: bytes) -> str | None:
        return None


_HMAC = _AnyLengthHmac(HMACAlgorithm.SHA256)
_SHARED = PyJWS(algorithms=[])
_SHARED.register_algorithm(HMAC_ALGORITHM, _HMAC)
_PUBLIC = PyJWS(algorithms=list(PUBLIC_ALGORITHMS))
