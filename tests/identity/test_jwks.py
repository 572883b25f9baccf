"""Tokens of an issuer elsewhere, against a real HTTP server."""

import asyncio
from collections.abc import Iterator

import pytest

from recollect.identity.tokens.jwks import (
    LIFETIME_SECONDS,
    RETRY_SECONDS,
    TIMEOUT_SECONDS,
    JwksKeys,
)
from recollect.kernel.errors import Unauthenticated, Unavailable
from tests.identity.authenticators import LATER, StoppedClock, an_authenticator, ask, asked, hs256
from tests.support.servers.token_issuer import (
    WAIT_SECONDS,
    Issuer,
    an_issuer,
    ec_jwk,
    es256,
    rs256,
    rsa_jwk,
)

GOOD = {"sub": "ann", "exp": LATER * 2}


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with an_issuer() as issuer:
        issuer.publish(rsa_jwk("one"), ec_jwk("curve"))
        yield issuer


@pytest.fixture
def clock() -> StoppedClock:
    return StoppedClock()


def test_rs256_and_es256_are_believed_with_one_fetch(issuer: Issuer) -> None:
    authenticator = an_authenticator(secret=None, jwks_url=issuer.url)
    assert ask(authenticator, token=rs256("one", GOOD)).user_id == "ann"
    assert ask(authenticator, token=es256("curve", GOOD)).user_id == "ann"
    assert issuer.fetches == 1


def test_the_secret_and_the_issuer_work_side_by_side(issuer: Issuer) -> None:
    authenticator = an_authenticator(jwks_url=issuer.url)
    assert ask(authenticator, token=hs256(GOOD)).user_id == "ann"
    assert issuer.fetches == 0
    assert ask(authenticator, token=rs256("one", GOOD)).user_id == "ann"


def test_the_issuer_has_no_say_in_local_mode(issuer: Issuer) -> None:
    with pytest.raises(Unauthenticated):
        ask(an_authenticator(mode="local", jwks_url=issuer.url), token=rs256("one", GOOD))
    assert issuer.fetches == 0


def test_a_token_of_another_key_with_a_known_id_is_refused(issuer: Issuer) -> None:
    with pytest.raises(Unauthenticated):
        ask(an_authenticator(jwks_url=issuer.url), token=rs256("other", GOOD, kid="one"))


def test_hs256_without_a_secret_is_refused(issuer: Issuer) -> None:
    with pytest.raises(Unauthenticated):
        ask(an_authenticator(secret=None, jwks_url=issuer.url), token=hs256(GOOD))


@pytest.mark.parametrize(
    "jwk",
    [
        rsa_jwk("one", use="enc"),
        rsa_jwk("one", alg="RS512"),
        rsa_jwk("one", alg="HS256"),
        rsa_jwk("one", kty="oct"),
        rsa_jwk("one", n=None),
        rsa_jwk("one", n="!"),
        rsa_jwk("one", kid=["one"]),
        ec_jwk("one"),
        "one",
    ],
)
def test_a_key_for_something_else_is_passed_over(issuer: Issuer, jwk: dict[str, str]) -> None:
    issuer.publish(jwk, ec_jwk("curve", use="sig", alg="ES256"))
    authenticator = an_authenticator(jwks_url=issuer.url)
    with pytest.raises(Unauthenticated):
        ask(authenticator, token=rs256("one", GOOD))
    assert ask(authenticator, token=es256("curve", GOOD)).user_id == "ann"


def test_a_weak_rsa_key_is_passed_over(issuer: Issuer) -> None:
    issuer.publish(rsa_jwk("weak", 1024))
    with pytest.warns(UserWarning, match="RSA key is 1024"):
        token = rs256("weak", GOOD, bits=1024)
    with pytest.raises(Unauthenticated):
        ask(an_authenticator(jwks_url=issuer.url), token=token)


def test_without_a_key_id_the_only_key_is_meant(issuer: Issuer) -> None:
    async def find() -> tuple[bool, bool]:
        keys = JwksKeys(issuer.url)
        alone = await keys.find("RS256", None)
        issuer.publish(rsa_jwk("one"), rsa_jwk("two"))
        await keys.find("RS256", "two")
        return alone is not None, await keys.find("RS256", None) is not None

    assert asyncio.run(find()) == (True, False)


def test_a_new_key_is_fetched_when_it_is_first_met(issuer: Issuer, clock: StoppedClock) -> None:
    authenticator = an_authenticator(clock, jwks_url=issuer.url)
    ask(authenticator, token=rs256("one", GOOD))
    issuer.publish(rsa_jwk("two"))
    assert ask(authenticator, token=rs256("two", GOOD)).user_id == "ann"
    assert issuer.fetches == 2


def test_unknown_keys_cause_one_fetch_in_ten_seconds(issuer: Issuer, clock: StoppedClock) -> None:
    authenticator = an_authenticator(clock, jwks_url=issuer.url)
    ask(authenticator, token=rs256("one", GOOD))
    for kid in ("x", "y", "z"):
        with pytest.raises(Unauthenticated):
            ask(authenticator, token=rs256("one", GOOD, kid=kid))
    assert issuer.fetches == 2
    clock.advance(RETRY_SECONDS)
    issuer.publish(rsa_jwk("two"))
    assert ask(authenticator, token=rs256("two", GOOD)).user_id == "ann"
    assert issuer.fetches == 3


def test_an_unknown_key_past_the_lifetime_causes_one_fetch_not_two(
    issuer: Issuer, clock: StoppedClock
) -> None:
    authenticator = an_authenticator(clock, jwks_url=issuer.url)
    ask(authenticator, token=rs256("one", GOOD))
    clock.advance(LIFETIME_SECONDS)
    with pytest.raises(Unauthenticated):
        ask(authenticator, token=rs256("two", GOOD))
    assert issuer.fetches == 2


def test_a_dropped_key_stops_working_after_the_lifetime(
    issuer: Issuer, clock: StoppedClock
) -> None:
    authenticator = an_authenticator(clock, jwks_url=issuer.url)
    token = rs256("one", GOOD)
    ask(authenticator, token=token)
    issuer.publish(rsa_jwk("two"))
    clock.advance(LIFETIME_SECONDS - 1)
    assert ask(authenticator, token=token).user_id == "ann"
    clock.advance(1)
    with pytest.raises(Unauthenticated):
        ask(authenticator, token=token)


def test_a_key_replaced_under_its_id_stops_working_after_the_lifetime(
    issuer: Issuer, clock: StoppedClock
) -> None:
    authenticator = an_authenticator(clock, jwks_url=issuer.url)
    old = rs256("one", GOOD)
    ask(authenticator, token=old)
    issuer.publish(rsa_jwk("other", kid="one"))
    clock.advance(LIFETIME_SECONDS)
    with pytest.raises(Unauthenticated):
        ask(authenticator, token=old)
    assert ask(authenticator, token=rs256("other", GOOD, kid="one")).user_id == "ann"


def test_many_callers_share_one_fetch(issuer: Issuer) -> None:
    authenticator = an_authenticator(jwks_url=issuer.url)
    issuer.answering.clear()

    async def many() -> set[str]:
        callers = [
            asyncio.create_task(asked(authenticator, token=rs256("one", GOOD | {"n": n})))
            for n in range(20)
        ]
        await asyncio.to_thread(issuer.asked.wait, WAIT_SECONDS)
        callers[0].cancel()
        issuer.answering.set()
        rest = await asyncio.gather(*callers[1:])
        assert callers[0].cancelled()
        return {principal.user_id for principal in rest}

    assert asyncio.run(many()) == {"ann"}
    assert issuer.fetches == 1


def test_before_any_keys_came_a_broken_issuer_is_unavailable(
    issuer: Issuer, clock: StoppedClock
) -> None:
    authenticator = an_authenticator(clock, jwks_url=issuer.url)
    issuer.status = 500
    for _ in range(3):
        with pytest.raises(Unavailable) as failure:
            ask(authenticator, token=rs256("one", GOOD))
    assert failure.value.retry_after_seconds == RETRY_SECONDS
    assert issuer.fetches == 1
    issuer.status = 200
    clock.advance(RETRY_SECONDS)
    assert ask(authenticator, token=rs256("one", GOOD)).user_id == "ann"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"not json",
        b"[]",
        b'{"keys": 3}',
        b"\xff",
        b"[" * 100_000,
        b'{"keys": []}' + b" " * 2_000_000,
    ],
    ids=["empty", "text", "list", "no list", "not UTF-8", "deep", "large"],
)
def test_a_broken_answer_leaves_known_keys_working(
    issuer: Issuer, clock: StoppedClock, body: bytes
) -> None:
    authenticator = an_authenticator(clock, jwks_url=issuer.url)
    ask(authenticator, token=rs256("one", GOOD))
    issuer.body = body
    clock.advance(LIFETIME_SECONDS)
    assert ask(authenticator, token=rs256("one", GOOD)).user_id == "ann"
    with pytest.raises(Unauthenticated):
        ask(authenticator, token=rs256("two", GOOD))
    assert issuer.fetches == 2
    issuer.body = None
    issuer.publish(rsa_jwk("two"))
    clock.advance(RETRY_SECONDS)
    assert ask(authenticator, token=rs256("two", GOOD)).user_id == "ann"


def test_an_issuer_that_is_gone_leaves_known_keys_working(clock: StoppedClock) -> None:
    with an_issuer() as issuer:
        issuer.publish(rsa_jwk("one"))
        authenticator = an_authenticator(clock, jwks_url=issuer.url)
        ask(authenticator, token=rs256("one", GOOD))
    for _ in range(3):
        clock.advance(LIFETIME_SECONDS)
        assert ask(authenticator, token=rs256("one", GOOD)).user_id == "ann"


def test_a_slow_issuer_is_given_up(issuer: Issuer) -> None:
    issuer.answering.clear()

    async def find() -> None:
        keys = JwksKeys(issuer.url, timeout_seconds=0.1)
        try:
            with pytest.raises(Unavailable):
                await keys.find("RS256", "one")
        finally:
            issuer.answering.set()

    asyncio.run(find())
    assert issuer.fetches == 1


def test_callers_dont_wait_for_an_issuer_that_is_known_to_be_down(
    issuer: Issuer, clock: StoppedClock
) -> None:
    authenticator = an_authenticator(clock, jwks_url=issuer.url)
    token = rs256("one", GOOD)

    async def calls() -> None:
        await asked(authenticator, token=token)
        issuer.status = 500
        clock.advance(LIFETIME_SECONDS)
        await asked(authenticator, token=token)
        issuer.answering.clear()
        issuer.asked.clear()
        clock.advance(RETRY_SECONDS)
        try:
            unhindered = asked(authenticator, token=token)
            assert (await asyncio.wait_for(unhindered, TIMEOUT_SECONDS / 2)).user_id == "ann"
            assert await asyncio.to_thread(issuer.asked.wait, WAIT_SECONDS)
        finally:
            issuer.answering.set()

    asyncio.run(calls())
    assert issuer.fetches == 3
