"""Which HS256 tokens are believed, and what ours say."""

import asyncio
import json
from datetime import timedelta
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import HMACAlgorithm
from jwt.utils import base64url_encode

from recollect.identity.model import ServerRole
from recollect.identity.tokens import tokens
from recollect.identity.tokens.signers import SharedSecret
from recollect.identity.tokens.tokens import mint
from recollect.kernel.errors import Unauthenticated
from tests.identity.authenticators import (
    LATER,
    NOW,
    SECRET,
    StoppedClock,
    a_token,
    an_authenticator,
    ask,
    asked,
    hs256,
)
from tests.support.servers.token_issuer import rs256, rsa_key


def spliced(header: dict[str, Any], claims: dict[str, Any], key: bytes = SECRET) -> str:
    """A token made by hand, HMAC-signed whatever its header says."""
    body = b".".join(base64url_encode(json.dumps(part).encode()) for part in (header, claims))
    signature = HMACAlgorithm(HMACAlgorithm.SHA256).sign(body, key)
    return (body + b"." + base64url_encode(signature)).decode()


GOOD = {"sub": "ann", "exp": LATER}
PUBLIC_KEY = rsa_key("one").public_key()
PUBLIC_PEM = PUBLIC_KEY.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


@pytest.mark.parametrize(
    ("claims", "user"),
    [
        ({"preferred_username": "p", "upn": "u", "sub": "s"}, "p"),
        ({"upn": "u", "sub": "s"}, "u"),
        ({"sub": "s"}, "s"),
        ({"preferred_username": None, "sub": "s"}, "s"),
    ],
)
def test_the_first_claim_that_is_there_names_the_user(claims: dict[str, Any], user: str) -> None:
    assert ask(an_authenticator(), token=hs256(claims | {"exp": LATER})).user_id == user


@pytest.mark.parametrize(
    "claims",
    [
        {"sub": "ann"},
        {"sub": "ann", "exp": None},
        {"sub": "ann", "exp": int(NOW.timestamp())},
        {"sub": "ann", "exp": str(LATER)},
        {"sub": "ann", "exp": True},
        {"sub": "ann", "exp": float("inf")},
        {"sub": "ann", "exp": float("nan")},
        GOOD | {"nbf": LATER},
        GOOD | {"nbf": "soon"},
        GOOD | {"nbf": True},
        {"exp": LATER},
        {"exp": LATER, "sub": ""},
        {"exp": LATER, "sub": 7},
        {"exp": LATER, "sub": "a" * 256},
        {"exp": LATER, "sub": "nul\0"},
        {"exp": LATER, "sub": "lone\ud800"},
        {"exp": LATER, "sub": "tab\t"},
        {"exp": LATER, "preferred_username": "", "sub": "ann"},
    ],
    ids=str,
)
def test_a_token_with_bad_claims_is_refused(claims: dict[str, Any]) -> None:
    token = spliced({"alg": "HS256"}, claims)
    with pytest.raises(Unauthenticated):
        ask(an_authenticator(), token=token)


@pytest.mark.parametrize(
    "token",
    [
        "garbage",
        "a.b.c",
        "..",
        "é.é.é",
        hs256(GOOD, b"another secret that is long enough"),
        jwt.encode(GOOD, "", "none"),
        jwt.encode(GOOD, SECRET * 2, "HS384"),
        jwt.encode(GOOD, SECRET * 2, "HS512"),
        rs256("one", GOOD),
        spliced({"alg": "none"}, GOOD),
        spliced({"alg": "hs256"}, GOOD),
        spliced({"alg": ["HS256"]}, GOOD),
        spliced({}, GOOD),
        spliced({"alg": "RS256"}, GOOD),
        spliced({"alg": "HS256", "kid": 5}, GOOD),
        spliced({"alg": "HS256", "crit": ["x"], "x": 1}, GOOD),
        spliced({"alg": "HS256", "crit": ["b64"], "b64": True}, GOOD),
        spliced({"alg": "HS256"}, GOOD, PUBLIC_PEM),
        hs256(GOOD) + "A",
        hs256(GOOD).rsplit(".", 1)[0] + ".",
    ],
)
def test_a_token_with_a_bad_signature_is_refused(token: str) -> None:
    with pytest.raises(Unauthenticated):
        ask(an_authenticator(), token=token)


def test_the_hand_made_tokens_above_fail_for_their_flaw_alone() -> None:
    assert ask(an_authenticator(), token=spliced({"alg": "HS256"}, GOOD)).user_id == "ann"
    assert ask(an_authenticator(), token=a_token(exp=10**400)).user_id == "ann"
    assert ask(an_authenticator(), token=a_token(exp=LATER + 0.5)).user_id == "ann"


@pytest.mark.parametrize(
    ("claims", "good"),
    [
        ({"iss": "us", "aud": "recollect"}, True),
        ({"iss": "us", "aud": ["other", "recollect"]}, True),
        ({"iss": "us"}, False),
        ({"aud": "recollect"}, False),
        ({"iss": "them", "aud": "recollect"}, False),
        ({"iss": ["us"], "aud": "recollect"}, False),
        ({"iss": "us", "aud": "recollect-2"}, False),
        ({"iss": "us", "aud": []}, False),
        ({"iss": "us", "aud": {"recollect": 1}}, False),
    ],
)
def test_issuer_and_audience_are_checked_when_set(claims: dict[str, Any], good: bool) -> None:
    authenticator = an_authenticator(issuer="us", audience="recollect")
    token = spliced({"alg": "HS256"}, GOOD | claims)
    if good:
        assert ask(authenticator, token=token).user_id == "ann"
    else:
        with pytest.raises(Unauthenticated):
            ask(authenticator, token=token)


def test_issuer_and_audience_are_ignored_when_unset() -> None:
    assert ask(an_authenticator(), token=a_token(iss="any", aud=["any"])).user_id == "ann"


def test_a_short_secret_works_without_a_warning() -> None:
    token = mint(b"short", user_id="ann", ttl=timedelta(hours=1), now=NOW)
    assert ask(an_authenticator(secret=b"short"), token=token).user_id == "ann"


def test_a_remembered_token_still_expires() -> None:
    clock = StoppedClock()
    authenticator = an_authenticator(clock)
    token = a_token("ann")
    clock.advance(3599)
    assert ask(authenticator, token=token).user_id == "ann"
    clock.advance(1)
    with pytest.raises(Unauthenticated, match="expired"):
        ask(authenticator, token=token)


def test_a_token_becomes_valid_in_time() -> None:
    clock = StoppedClock()
    authenticator = an_authenticator(clock)
    token = a_token("ann", nbf=int(NOW.timestamp()) + 60)
    with pytest.raises(Unauthenticated, match="not valid yet"):
        ask(authenticator, token=token)
    clock.advance(60)
    assert ask(authenticator, token=token).user_id == "ann"


def test_a_repeated_token_is_verified_once(monkeypatch: pytest.MonkeyPatch) -> None:
    verified: list[str] = []
    verify = SharedSecret.payload

    def counted(secret: SharedSecret, token: str) -> bytes:
        verified.append(token)
        return verify(secret, token)

    monkeypatch.setattr(SharedSecret, "payload", counted)
    monkeypatch.setattr(tokens, "SEEN_MAX", 2)
    authenticator = an_authenticator()
    users = ["ann", "bob", "ann", "cid", "ann", "bob"]

    async def all_ask() -> None:
        for user in users:
            assert (await asked(authenticator, token=a_token(user))).user_id == user

    asyncio.run(all_ask())
    assert verified == [a_token(user) for user in ("ann", "bob", "cid", "bob")]


def test_a_minted_token_is_believed_for_its_life() -> None:
    token = mint(
        SECRET,
        user_id="ann",
        roles=["auditor"],
        ttl=timedelta(minutes=5),
        now=NOW,
        issuer="us",
        audience="recollect",
    )
    clock = StoppedClock()
    authenticator = an_authenticator(clock, mode="local", issuer="us", audience="recollect")
    principal = ask(authenticator, token=token)
    assert principal.user_id == "ann"
    assert principal.roles == {ServerRole.AUDITOR}
    clock.advance(300)
    with pytest.raises(Unauthenticated):
        ask(authenticator, token=token)


@pytest.mark.parametrize(
    "changes", [{"user_id": ""}, {"user_id": "a\n"}, {"ttl": timedelta(0)}, {"secret": b""}]
)
def test_nothing_useless_is_minted(changes: dict[str, Any]) -> None:
    values: dict[str, Any] = {"secret": SECRET, "user_id": "ann", "ttl": timedelta(hours=1)}
    values |= changes
    with pytest.raises(ValueError, match=r"user id|second|secret"):
        mint(values.pop("secret"), now=NOW, **values)
