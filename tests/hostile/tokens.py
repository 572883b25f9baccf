"""Tokens that nobody should believe, made by hand: the libraries refuse to make most of them."""

import base64
import hashlib
import hmac
import json
from typing import Any

from tests.support.servers.token_issuer import es256, rs256
from tests.support.world import ADMIN, JWT_SECRET, a_token

FAR = 4_102_444_800
CLAIMS: dict[str, Any] = {"preferred_username": ADMIN, "exp": FAR, "roles": ["admin"]}
HS256 = {"alg": "HS256", "typ": "JWT"}
DEEP = b"[" * 100_000


def forged(header: Any, payload: Any, *, secret: str = JWT_SECRET, digest: str = "sha256") -> str:
    """A token of these parts, signed with HMAC; bytes stand for themselves."""
    signed = f"{_part(header)}.{_part(payload)}"
    mac = hmac.new(secret.encode(), signed.encode(), digest).digest()
    return f"{signed}.{_part(mac)}"


def tokens_of_no_use() -> dict[str, str]:
    """By what is wrong with them. Most are of an administrator, so that belief would show."""
    good = a_token(ADMIN)
    head, body, signature = good.split(".")
    none = {"alg": "none"}
    return {
        "no token": "x",
        "dots": "...",
        "three words": "a.b.c",
        "two parts": f"{head}.{body}",
        "four parts": f"{good}.{signature}",
        "no signature": f"{head}.{body}.",
        "half a signature": good[:-10],
        "another payload": f"{head}.{_part(CLAIMS | {'preferred_username': 'x'})}.{signature}",
        "too long": "a" * 60_000,
        "no algorithm": f"{_part(none)}.{_part(CLAIMS)}.",
        "no algorithm, upper case": f"{_part({'alg': 'NONE'})}.{_part(CLAIMS)}.",
        "no algorithm, signed": forged(none, CLAIMS),
        "alg missing": forged({"typ": "JWT"}, CLAIMS),
        "alg a list": forged({"alg": ["HS256"]}, CLAIMS),
        "alg in lower case": forged({"alg": "hs256"}, CLAIMS),
        "HS384": forged({"alg": "HS384"}, CLAIMS, digest="sha384"),
        "HS512": forged({"alg": "HS512"}, CLAIMS, digest="sha512"),
        "another secret": forged(HS256, CLAIMS, secret="another secret"),
        "an empty secret": forged(HS256, CLAIMS, secret=""),
        "its own key": rs256("attacker", CLAIMS),
        "its own curve": es256("attacker", CLAIMS),
        "a key in the header": forged(
            HS256 | {"jwk": {"kty": "oct", "k": "AA"}}, CLAIMS, secret="\0"
        ),
        "critical extension": forged(HS256 | {"crit": ["b64"], "b64": False}, CLAIMS),
        "a header of no JSON": forged(b"nonsense", CLAIMS),
        "a header that is a list": forged([], CLAIMS),
        "a header that is a number": forged(7, CLAIMS),
        "a bottomless header": forged(DEEP, CLAIMS),
        "a header of bad UTF-8": forged(b'{"alg":"\xff"}', CLAIMS),
        "a number of 5000 digits": forged(b'{"alg":' + b"9" * 5000 + b"}", CLAIMS),
        "a key id that is a list": forged({"alg": "RS256", "kid": ["x"]}, CLAIMS),
        "a payload of no JSON": forged(HS256, b"nonsense"),
        "a payload that is a list": forged(HS256, []),
        "a bottomless payload": forged(HS256, DEEP),
        "expired": a_token(ADMIN, expires_at=1),
        "not yet": forged(HS256, CLAIMS | {"nbf": FAR - 1}),
        "no exp": forged(HS256, {"preferred_username": ADMIN}),
        **{f"exp {exp}": forged(HS256, CLAIMS | {"exp": exp}) for exp in BAD_TIMES},
        "exp NaN": forged(HS256, b'{"sub":"x","exp":NaN}'),
        "exp beyond a double": forged(HS256, b'{"sub":"x","exp":-1e999}'),
        "nbf of no number": forged(HS256, CLAIMS | {"nbf": "soon"}),
        "nobody": forged(HS256, {"exp": FAR}),
        **{f"user {name!r:.20}": forged(HS256, {"sub": name, "exp": FAR}) for name in BAD_NAMES},
    }


BAD_TIMES: tuple[Any, ...] = (None, "x", [], True, {})
BAD_NAMES: tuple[Any, ...] = ("", 7, None, [], "x\0y", "u" * 256, "\ud800")


def _part(value: Any) -> str:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def key_as_secret(public_pem: bytes) -> str:
    """A token signed with a public key's text, as if that were a shared secret."""
    signed = f"{_part(HS256)}.{_part(CLAIMS)}"
    return f"{signed}.{_part(hmac.new(public_pem, signed.encode(), hashlib.sha256).digest())}"
