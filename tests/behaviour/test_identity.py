"""Who is calling: tokens, API keys, trusted clients, roles, and what happens when they are bad."""

from typing import Any

import jwt
import pytest

from tests.conftest import Serve
from tests.support.api import Credentials
from tests.support.world import CLIENT_KEYS, JWT_SECRET, User, World, a_token, new_id

LATER = 4_102_444_800


def bearer(world: World, claims: dict[str, Any]) -> User:
    """Somebody who shows a token with exactly these claims."""
    return User("?", world.api, Credentials(token=jwt.encode(claims, JWT_SECRET, "HS256")))


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        ({"preferred_username": "p", "upn": "u", "sub": "s"}, "p"),
        ({"upn": "u", "sub": "s"}, "u"),
        ({"sub": "s"}, "s"),
    ],
)
def test_the_user_id_comes_from_the_first_claim_that_is_there(
    world: World, claims: dict[str, str], expected: str
) -> None:
    assert bearer(world, claims | {"exp": LATER}).starts()["ownerUserId"] == expected


@pytest.mark.parametrize(
    "token",
    [
        jwt.encode({"sub": "ann"}, JWT_SECRET, "HS256"),
        jwt.encode({"sub": "ann", "exp": 1_000_000_000}, JWT_SECRET, "HS256"),
        jwt.encode({"sub": "ann", "exp": LATER}, "another secret, long enough for HS256", "HS256"),
        jwt.encode({"sub": "ann", "exp": LATER}, JWT_SECRET + JWT_SECRET, "HS512"),
        jwt.encode({"sub": "ann", "exp": LATER}, "", "none"),
        jwt.encode({"exp": LATER}, JWT_SECRET, "HS256"),
        jwt.encode({"sub": "", "exp": LATER}, JWT_SECRET, "HS256"),
        "garbage",
    ],
    ids=["no exp", "expired", "bad secret", "HS512", "none", "no user", "empty user", "garbage"],
)
def test_a_bad_token_is_refused(world: World, token: str) -> None:
    reply = User("?", world.api, Credentials(token=token)).call("list_conversations")
    assert reply.refused(401, "unauthorized").keys() == {"message"}


def test_no_credential_is_refused(world: World) -> None:
    world.nobody.call("list_conversations").refused(401, "unauthorized")
    key_alone = User("?", world.api, Credentials(api_key=CLIENT_KEYS["k1"]))
    key_alone.call("list_conversations").refused(401, "unauthorized")


def test_an_unknown_api_key_is_never_dropped_silently(world: World) -> None:
    credentials = Credentials(token=a_token("ann"), api_key="unknown")
    reply = User("ann", world.api, credentials).call("list_conversations")
    reply.refused(401, "unauthorized")


@pytest.mark.rest_only("the header WWW-Authenticate")
@pytest.mark.parametrize(
    "credentials",
    [Credentials(), Credentials(token="garbage"), Credentials(a_token("ann"), api_key="unknown")],
    ids=["none", "bad token", "unknown key"],
)
def test_who_is_refused_is_told_the_scheme(world: World, credentials: Credentials) -> None:
    reply = User("?", world.api, credentials).call("list_conversations")
    assert reply.headers["WWW-Authenticate"].startswith("Bearer")


def test_a_trusted_client_may_assert_the_user(world: World) -> None:
    credentials = Credentials(api_key=CLIENT_KEYS["trusted"], requester_id="asserted")
    assert User("asserted", world.api, credentials).starts()["ownerUserId"] == "asserted"


def test_an_ordinary_client_may_not_assert_the_user(world: World) -> None:
    for key in (CLIENT_KEYS["k1"], None):
        user = User("ann", world.api, Credentials(api_key=key, requester_id="ann"))
        user.call("list_conversations").refused(401, "unauthorized")


@pytest.mark.parametrize("client", [None, "k1", "trusted"])
def test_a_requester_that_differs_from_the_token_is_forbidden(
    world: World, client: str | None
) -> None:
    key = client and CLIENT_KEYS[client]
    differs = Credentials(token=a_token("ann"), api_key=key, requester_id="bob")
    User("?", world.api, differs).call("list_conversations").refused(403, "forbidden")
    agrees = Credentials(token=a_token("ann"), api_key=key, requester_id="ann")
    User("?", world.api, agrees).call("list_conversations").expect(200)


@pytest.mark.parametrize(
    "claims", [{"roles": ["auditor"]}, {"realm_access": {"roles": ["auditor"]}}]
)
def test_a_role_may_come_in_the_token(world: World, claims: dict[str, Any]) -> None:
    user = bearer(world, claims | {"sub": "visitor", "exp": LATER})
    user.call("admin_list_events", limit=1).expect(200)
    user.call("evict", body={"retentionPeriod": "P1D"}).refused(403, "forbidden")


def test_nobody_has_a_role_by_default(world: World) -> None:
    for user in (world.user("ann"), world.user("ann").with_key("k1")):
        user.call("admin_list_conversations").refused(403, "forbidden")
    stranger = bearer(world, {"sub": "x", "exp": LATER, "roles": "not a list", "realm_access": 3})
    stranger.call("admin_list_conversations").refused(403, "forbidden")


def test_the_admin_role_includes_the_auditors(world: World) -> None:
    world.admin.call("admin_list_conversations").expect(200)
    world.auditor.call("admin_list_conversations").expect(200)


def test_an_auditor_may_not_write(world: World) -> None:
    conversation = world.user("ann").starts()
    for operation in ("admin_delete_conversation", "admin_restore_conversation"):
        world.auditor.call(operation, conversation).refused(403, "forbidden")


def test_an_api_key_gives_no_membership(world: World) -> None:
    conversation = world.user("ann").starts()
    stranger = world.user("sam").with_key("k1")
    stranger.call("get_conversation", conversation).refused(403, "forbidden")
    stranger.call("append", conversation, body={"content": ["x"], "contentType": "x"}).refused(
        403, "forbidden"
    )


def test_issuer_and_audience_are_checked_when_set(serve: Serve) -> None:
    world = serve(auth__issuer="https://issuer.test", auth__audience="recollect")
    good = {"sub": "ann", "exp": LATER, "iss": "https://issuer.test", "aud": "recollect"}
    bearer(world, good).call("list_conversations").expect(200)
    for claims in (
        good | {"iss": "https://other.test"},
        good | {"aud": "other"},
        {name: good[name] for name in ("sub", "exp", "iss")},
        {name: good[name] for name in ("sub", "exp", "aud")},
    ):
        bearer(world, claims).call("list_conversations").refused(401, "unauthorized")


def test_local_mode_believes_the_requester(serve: Serve) -> None:
    world = serve(auth__mode="local")
    local = User("ann", world.api, Credentials(requester_id="ann"))
    conversation = new_id()
    assert local.says(conversation, "hello")["userId"] == "ann"
    assert local.gets(conversation)["ownerUserId"] == "ann"
    world.nobody.call("list_conversations").refused(401, "unauthorized")
    disagrees = Credentials(token=a_token("ann"), requester_id="bob")
    User("?", world.api, disagrees).call("list_conversations").refused(403, "forbidden")
