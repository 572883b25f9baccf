"""Who a request's headers say is calling."""

from typing import Any

import pytest

from recollect.identity.model import ServerRole
from recollect.identity.settings import BoundAgent, IdentitySettings
from recollect.kernel.errors import Forbidden, Unauthenticated
from recollect.kernel.owner import Owner
from tests.identity.authenticators import a_token, an_authenticator, ask

ODD_NAMES = ["", "a" * 256, "nul\0", "bell\x07", "line\nfeed", "del\x7f", "c1\x85", "lone\ud800"]


def test_a_token_names_the_user_and_no_client() -> None:
    principal = ask(an_authenticator(), token=a_token("ann"))
    assert (principal.user_id, principal.client_id, principal.trusted) == ("ann", None, False)
    assert principal.roles == frozenset()


@pytest.mark.parametrize("authorization", ["bearer {}", "BEARER {}", "Bearer   {}"])
def test_the_scheme_is_read_in_any_case(authorization: str) -> None:
    principal = ask(an_authenticator(), authorization=authorization.format(a_token("ann")))
    assert principal.user_id == "ann"


@pytest.mark.parametrize("mode", ["jwt", "local"])
@pytest.mark.parametrize("authorization", ["", "Bearer", "Bearer ", "Basic YTpi", "Token x", "x"])
def test_a_malformed_authorization_is_refused_even_beside_a_requester(
    authorization: str, mode: str
) -> None:
    with pytest.raises(Unauthenticated):
        ask(
            an_authenticator(mode=mode),
            authorization=authorization,
            key="trusted-1",
            requester="ann",
        )


@pytest.mark.parametrize("mode", ["jwt", "local"])
def test_nobody_is_refused(mode: str) -> None:
    for key in (None, "trusted-1"):
        with pytest.raises(Unauthenticated):
            ask(an_authenticator(mode=mode), key=key)


def test_each_key_of_a_client_names_the_client() -> None:
    for key in ("plain-1", "plain-2"):
        principal = ask(an_authenticator(), token=a_token(), key=key)
        assert (principal.client_id, principal.trusted) == ("plain", False)


@pytest.mark.parametrize("mode", ["jwt", "local"])
@pytest.mark.parametrize("key", ["", "unknown", "plain-1 ", "PLAIN-1", "\ud800"])
def test_an_unknown_key_is_refused_beside_a_good_user(key: str, mode: str) -> None:
    with pytest.raises(Unauthenticated):
        ask(an_authenticator(mode=mode), token=a_token("ann"), key=key, requester="ann")


def test_a_trusted_client_asserts_the_user() -> None:
    principal = ask(an_authenticator(), key="trusted-1", requester="zoë")
    assert (principal.user_id, principal.client_id, principal.trusted) == ("zoë", "trusted", True)


@pytest.mark.parametrize("key", [None, "plain-1"])
def test_others_may_not_assert_the_user_in_jwt_mode(key: str | None) -> None:
    with pytest.raises(Unauthenticated):
        ask(an_authenticator(), key=key, requester="ann")


@pytest.mark.parametrize("key", [None, "plain-1", "trusted-1"])
def test_anybody_asserts_the_user_in_local_mode(key: str | None) -> None:
    assert ask(an_authenticator(mode="local"), key=key, requester="ann").user_id == "ann"


@pytest.mark.parametrize("mode", ["jwt", "local"])
@pytest.mark.parametrize("key", [None, "plain-1", "trusted-1"])
@pytest.mark.parametrize("requester", ["bob", "Ann", "", "ann "])
def test_a_requester_that_differs_from_the_token_is_forbidden(
    mode: str, key: str | None, requester: str
) -> None:
    authenticator = an_authenticator(mode=mode)
    with pytest.raises(Forbidden):
        ask(authenticator, token=a_token("ann"), key=key, requester=requester)
    agreed = ask(authenticator, token=a_token("ann"), key=key, requester="ann")
    assert agreed.user_id == "ann"


@pytest.mark.parametrize("name", ODD_NAMES)
def test_an_odd_requester_is_refused(name: str) -> None:
    with pytest.raises(Unauthenticated):
        ask(an_authenticator(mode="local"), requester=name)


@pytest.mark.parametrize("name", ["a" * 255, "Ann Ångström", "a\u00a0b", "安", "👩‍👧", " "])
def test_any_other_text_is_a_name(name: str) -> None:
    assert ask(an_authenticator(mode="local"), requester=name).user_id == name
    assert ask(an_authenticator(), token=a_token(name)).user_id == name


def test_a_token_is_accepted_in_local_mode_only_with_the_local_secret() -> None:
    assert ask(an_authenticator(mode="local"), token=a_token("ann")).user_id == "ann"
    with pytest.raises(Unauthenticated):
        ask(an_authenticator(mode="local", secret=b"another"), token=a_token("ann"))
    with pytest.raises(Unauthenticated):
        ask(an_authenticator(mode="local", secret=None), token=a_token("ann"))


@pytest.mark.parametrize(
    "changes",
    [
        {"api_keys": {"a": ["hush"], "b": ["hush"]}},
        {"api_keys": {"a": ["hush", "hush"]}},
        {"api_keys": {"a": [""]}},
        {"api_keys": {"a": [" hush"]}},
        {"api_keys": {"": ["hush"]}},
        {"secret": None},
        {"secret": b""},
        {"secret": b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"},
        {"jwks_url": "file:///etc/passwd"},
        {"role_users": {"king": ["ann"]}},
    ],
)
def test_settings_that_cant_be_right_fail_at_start(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"API key|client id|secret|JWKS URL|role") as failure:
        an_authenticator(**changes)
    assert "hush" not in str(failure.value)


def test_nobody_holds_a_role_by_default_in_jwt_mode() -> None:
    token = a_token("ann", roles=["admin", "auditor", "indexer"])
    assert ask(an_authenticator(), token=token, key="trusted-1").roles == frozenset()


def test_a_role_is_granted_by_user_client_and_token() -> None:
    authenticator = an_authenticator(
        role_users={"admin": ["ann"]},
        role_clients={"indexer": ["plain"]},
        role_tokens={"auditor": ["reviewers", "audit"]},
    )
    token = a_token("ann", roles=["audit", "admin", "other"])
    assert ask(authenticator, token=token, key="plain-1").roles == set(ServerRole)
    assert ask(authenticator, token=token).roles == {ServerRole.ADMIN, ServerRole.AUDITOR}
    assert ask(authenticator, token=a_token("bob"), key="plain-1").roles == {ServerRole.INDEXER}
    assert ask(authenticator, token=a_token("bob", roles=["indexer"])).roles == set()


def test_local_tokens_are_believed_for_role_names_when_none_are_mapped() -> None:
    token = a_token("ann", roles=["admin", "nonsense"])
    assert ask(an_authenticator(mode="local"), token=token).roles == {ServerRole.ADMIN}
    assert ask(an_authenticator(mode="local"), requester="ann").roles == set()
    mapped = an_authenticator(mode="local", role_tokens={"auditor": ["audit"]})
    assert ask(mapped, token=token).roles == set()


@pytest.mark.parametrize(
    ("claim", "claims", "granted"),
    [
        (None, {"roles": ["ops"]}, True),
        ("", {"roles": ["ops"]}, True),
        (None, {"roles": "other ops"}, True),
        (None, {"realm_access": {"roles": ["ops"]}}, True),
        (None, {"roles": ["other"], "realm_access": {"roles": ["ops"]}}, False),
        (None, {"roles": {"ops": True}}, False),
        (None, {"roles": [["ops"], 3, None]}, False),
        (None, {"realm_access": ["ops"]}, False),
        ("groups", {"groups": ["ops"], "roles": []}, True),
        ("groups", {"roles": ["ops"]}, False),
        ("resource.app.roles", {"resource": {"app": {"roles": ["ops"]}}}, True),
        ("https://app.test/roles", {"https://app.test/roles": ["ops"]}, True),
    ],
)
def test_roles_are_read_from_the_configured_claim(
    claim: str | None, claims: dict[str, object], granted: bool
) -> None:
    authenticator = an_authenticator(roles_claim=claim, role_tokens={"admin": ["ops"]})
    expected = {ServerRole.ADMIN} if granted else set()
    assert ask(authenticator, token=a_token("ann", **claims)).roles == expected


def test_settings_dont_show_secrets() -> None:
    shown = repr(IdentitySettings(mode="jwt", secret=b"hush-1", api_keys={"a": ["hush-2"]}))
    assert "hush" not in shown


@pytest.mark.parametrize("mode", ["jwt", "local"])
@pytest.mark.parametrize("claims", [{}, {"kind": "user"}, {"kind": "agent"}, {"kind": True}])
def test_a_token_whose_user_is_spelled_like_an_agent_is_refused(
    mode: str, claims: dict[str, Any]
) -> None:
    with pytest.raises(Unauthenticated):
        ask(an_authenticator(mode=mode), token=a_token("agent:guide", **claims))


def test_a_token_is_an_agent_by_its_claim_alone() -> None:
    agent = ask(an_authenticator(), token=a_token("guide", kind="agent"))
    assert (agent.identity, agent.user_id) == (Owner.agent("guide"), "agent:guide")
    user = ask(an_authenticator(), token=a_token("guide"))
    assert (user.identity, user.user_id) == (Owner.user("guide"), "guide")
    acting = ask(an_authenticator(), token=a_token("guide", kind="agent", act_for="owner"))
    assert acting.acts_for_owner
    assert not ask(an_authenticator(), token=a_token("guide", act_for="owner")).acts_for_owner


def test_a_client_that_runs_an_agent_names_that_agent_and_nobody_else() -> None:
    authenticator = an_authenticator(bound_agents={"plain": BoundAgent("guide", True)})
    agent = ask(authenticator, key="plain-1", requester="agent:guide")
    assert (agent.identity, agent.acts_for_owner) == (Owner.agent("guide"), True)
    for other in ("agent:other", "guide", "ann", None):
        with pytest.raises(Unauthenticated):
            ask(authenticator, key="plain-1", requester=other)
    with pytest.raises(Unauthenticated):
        ask(authenticator, requester="agent:guide")


def test_the_key_of_an_agent_gives_rights_to_no_other_caller() -> None:
    authenticator = an_authenticator(
        mode="local", bound_agents={"plain": BoundAgent("guide", True)}
    )
    for requester in ("agent:other", "guide", "ann"):
        assert not ask(authenticator, key="plain-1", requester=requester).acts_for_owner
    assert not ask(authenticator, requester="agent:guide").acts_for_owner
    assert not ask(authenticator, key="plain-1", token=a_token("guide")).acts_for_owner
    assert ask(authenticator, key="plain-1", token=a_token("guide", kind="agent")).acts_for_owner
