"""Callers who are nobody, or say to be somebody else."""

from collections.abc import Mapping
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from recollect.api.registry import CONVERSATION_OPERATIONS
from recollect.http.operation import Operation
from recollect.identity.actions import Action
from tests.conftest import Host
from tests.hostile.field_values import content_for
from tests.hostile.refusals import refused, well_formed
from tests.hostile.sample_tree import MARKER, SampleTree, operation
from tests.hostile.stored import EVENTS, nothing_stored
from tests.hostile.tokens import CLAIMS, HS256, forged, key_as_secret, tokens_of_no_use
from tests.support.servers.token_issuer import an_issuer, rs256, rsa_jwk, rsa_key
from tests.support.world import ADMIN, AUDITOR, CLIENT_KEYS, World, a_token

CLOSED = [row for row in CONVERSATION_OPERATIONS if not row.open]
ADMIN_ROWS = [row for row in CONVERSATION_OPERATIONS if row.audit is not None]
every_closed = pytest.mark.parametrize("row", CLOSED, ids=[row.name for row in CLOSED])
every_admin = pytest.mark.parametrize("row", ADMIN_ROWS, ids=[row.name for row in ADMIN_ROWS])

GOOD = f"Bearer {a_token(ADMIN)}"
BAD_AUDIENCES: tuple[Any, ...] = ("other", "", "Recollect", ["other"], [], None, 7, {})
BAD_HEADERS: dict[str, Mapping[str, str | bytes]] = {
    "nothing at all": {},
    "an empty header": {"Authorization": ""},
    "a scheme alone": {"Authorization": "Bearer"},
    "another scheme": {"Authorization": "Basic cm9vdDpyb290"},
    "the token alone": {"Authorization": a_token(ADMIN)},
    "two tokens": {"Authorization": f"{GOOD} {a_token(ADMIN)}"},
    "bytes that are no UTF-8": {"Authorization": b"Bearer \xff\xfe"},
    "a name alone": {"X-Requester-Id": ADMIN},
    "a name through a client": {"X-Requester-Id": ADMIN, "X-API-Key": CLIENT_KEYS["k1"]},
    "a key alone": {"X-API-Key": CLIENT_KEYS["trusted"]},
    "an unknown key": {"Authorization": GOOD, "X-API-Key": MARKER},
    "an empty key": {"Authorization": GOOD, "X-API-Key": ""},
    "a key in upper case": {"Authorization": GOOD, "X-API-Key": CLIENT_KEYS["k1"].upper()},
    "two keys in one": {"Authorization": GOOD, "X-API-Key": ", ".join(CLIENT_KEYS.values())},
    "a key of no UTF-8": {"Authorization": GOOD, "X-API-Key": b"\xff"},
    "a bad token beside a name": {
        "Authorization": "Bearer x",
        "X-API-Key": CLIENT_KEYS["trusted"],
        "X-Requester-Id": ADMIN,
    },
    "a trusted client's nobody": {"X-API-Key": CLIENT_KEYS["trusted"], "X-Requester-Id": ""},
    "a trusted client's endless name": {
        "X-API-Key": CLIENT_KEYS["trusted"],
        "X-Requester-Id": "u" * 256,
    },
    "a trusted client's noise": {
        "X-API-Key": CLIENT_KEYS["trusted"],
        "X-Requester-Id": b"\xc3\x28",
    },
}


@pytest.mark.usefixtures("untouched")
@every_closed
def test_bad_credentials_are_401_on_every_operation(
    sample_tree: SampleTree, row: Operation
) -> None:
    for name, headers in BAD_HEADERS.items():
        response = sample_tree.send(
            row, content_for(row), by=sample_tree.world.nobody, headers=headers
        )
        refused(response, "unauthorized")
        assert response.headers["www-authenticate"] == "Bearer", name


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize("kind", sorted(tokens_of_no_use()))
def test_a_token_that_is_not_good_is_401(sample_tree: SampleTree, kind: str) -> None:
    headers = {"Authorization": f"Bearer {tokens_of_no_use()[kind]}"}
    for name in ("listConversations", "createConversation", "adminListEvents", "adminEvict"):
        row = operation(name)
        response = sample_tree.send(
            row, content_for(row), by=sample_tree.world.nobody, headers=headers
        )
        refused(response, "unauthorized")


def test_the_same_token_without_the_fault_is_believed(sample_tree: SampleTree) -> None:
    headers = {"Authorization": f"Bearer {forged(HS256, CLAIMS | {'nbf': 1})}"}
    row = operation("adminListEvents")
    assert sample_tree.send(row, by=sample_tree.world.nobody, headers=headers).status_code == 200


@pytest.mark.usefixtures("untouched")
@every_closed
def test_a_name_that_is_not_the_tokens_user_is_403(sample_tree: SampleTree, row: Operation) -> None:
    for name in (AUDITOR, ADMIN.upper(), f"{ADMIN}x", "", b"\xc3\xbc"):
        headers: dict[str, str | bytes] = {"Authorization": GOOD, "X-Requester-Id": name}
        response = sample_tree.send(
            row, content_for(row), by=sample_tree.world.nobody, headers=headers
        )
        refused(response, "forbidden")


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize("name", ["Authorization", "X-API-Key", "X-Requester-Id"])
def test_a_credential_that_comes_twice_is_not_believed(sample_tree: SampleTree, name: str) -> None:
    given = {"Authorization": GOOD, "X-API-Key": CLIENT_KEYS["k1"], "X-Requester-Id": ADMIN}
    pairs = [*given.items(), (name, given[name])]
    http = sample_tree.world.api.http
    refused(http.get("/conversations", headers=pairs), "unauthorized")


@every_admin
def test_who_lacks_the_role_is_refused_whatever_was_sent_and_recorded_without_content(
    sample_tree: SampleTree, row: Operation
) -> None:
    database = sample_tree.world.database
    before = database.rows(f"SELECT count(*) FROM {EVENTS}")[0][0]
    bodies = [content_for(row), b'{"x":"' + MARKER.encode(), b"[" * 100_000, b"\xff"]
    with nothing_stored(database):
        for content in bodies:
            for by in (
                sample_tree.owner,
                sample_tree.writer,
                sample_tree.world.named("nobody special"),
            ):
                response = sample_tree.send(
                    row, content, by=by, query=f"limit=x&query={MARKER}&title={MARKER}"
                )
                refused(response, "forbidden")
    after = database.rows(f"SELECT count(*) FROM {EVENTS}")[0][0]
    assert after - before == len(bodies) * 3


@every_admin
def test_a_justification_of_a_refused_call_cannot_break_the_log(
    sample_tree: SampleTree, row: Operation
) -> None:
    for query in ("justification=%00", "justification=" + "j" * 9_000, "justification=%ED%A0%80"):
        refused(
            sample_tree.send(row, content_for(row), by=sample_tree.owner, query=query), "forbidden"
        )
    body = rb'{"justification":"\ud800"}'
    refused(sample_tree.send(row, body, by=sample_tree.owner), "forbidden")


@pytest.mark.usefixtures("untouched")
def test_an_auditor_changes_nothing(sample_tree: SampleTree) -> None:
    for row in (r for r in ADMIN_ROWS if r.action is Action.ADMIN_WRITE):
        response = sample_tree.send(row, content_for(row), by=sample_tree.world.auditor)
        refused(response, "forbidden")


def test_audience_and_issuer_have_to_match_where_they_are_set(host: Host) -> None:
    with host(auth__audience="recollect", auth__issuer="https://issuer.example") as world:
        sample_tree = empty(world)
        good: dict[str, Any] = {"aud": "recollect", "iss": "https://issuer.example"}
        row = operation("listConversations")

        def ask(claims: dict[str, Any]) -> int:
            headers = {"Authorization": f"Bearer {forged(HS256, CLAIMS | claims)}"}
            response = sample_tree.send(row, by=world.nobody, headers=headers)
            if response.status_code != 200:
                well_formed(response)
            return response.status_code

        assert ask(good) == 200
        assert ask(good | {"aud": ["other", "recollect"]}) == 200
        for aud in BAD_AUDIENCES:
            assert ask(good | {"aud": aud}) == 401, aud
        for iss in ("https://issuer.example/", "", None, ["https://issuer.example"], 7):
            assert ask(good | {"iss": iss}) == 401, iss
        assert ask({}) == 401


def test_a_public_key_is_no_shared_secret(host: Host) -> None:
    with an_issuer() as issuer:
        issuer.publish(rsa_jwk("issuer"))
        with host(auth__jwks_url=issuer.url, auth__jwt_secret=None) as world:
            sample_tree = empty(world)
            public = rsa_key("issuer").public_key()
            pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
            tokens = {
                rs256("issuer", CLAIMS): 200,
                rs256("attacker", CLAIMS, kid="issuer"): 401,
                rs256("attacker", CLAIMS): 401,
                key_as_secret(pem): 401,
                key_as_secret(pem.strip()): 401,
                forged(HS256, CLAIMS): 401,
                forged({"alg": "none"}, CLAIMS): 401,
            }
            for token, status in tokens.items():
                headers = {"Authorization": f"Bearer {token}"}
                row = operation("listConversations")
                response = sample_tree.send(row, by=world.nobody, headers=headers)
                assert response.status_code == status, token


def empty(world: World) -> SampleTree:
    """A tree where nobody has done anything yet."""
    return SampleTree(world, world.nobody, world.nobody, world.nobody, {}, "", "")
