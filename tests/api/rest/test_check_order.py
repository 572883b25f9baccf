"""The order of checks, identity headers, and justifications."""

import pytest

from recollect.audit.model import EventKind
from tests.api.fakes import ID, Rest

ADMIN_ONE = f"/v1/admin/conversations/{ID}"
SYNC = f"/v1/conversations/{ID}/entries/sync"


def test_nobody_learns_nothing_about_syntax_or_ids(rest: Rest) -> None:
    answered = rest.call("POST", "/v1/conversations/nope/entries", b"{", user=None)
    assert set(answered.refused(401, "unauthorized")) == {"message"}
    assert answered.headers["www-authenticate"] == "Bearer"


def test_a_missing_key_or_role_comes_before_syntax(rest: Rest) -> None:
    rest.call("POST", SYNC, b"{").refused(403, "forbidden")
    rest.call("GET", f"{ADMIN_ONE}/entries?limit=x").refused(403, "forbidden")
    rest.call("POST", "/v1/admin/evict", b"{").refused(403, "forbidden")
    rest.call("DELETE", "/v1/admin/conversations/nope").refused(403, "forbidden")


def test_syntax_comes_before_the_existence_of_the_path(rest: Rest) -> None:
    path = "/v1/conversations/nope/entries"
    rest.call("POST", path, b"{").refused(400, "validation_error")
    rest.call("GET", f"{path}?limit=x").refused(400, "validation_error")
    rest.call("POST", path, b"x", headers={"content-type": "text/x"}).refused(
        415, "unsupported_media_type"
    )
    rest.call("POST", path, {"content": ["a"]}).refused(404, "not_found")


def test_the_gate_knows_the_operation_and_the_conversation(rest: Rest) -> None:
    rest.call("GET", ADMIN_ONE.replace(ID, ID.upper()))
    audit, conversation_id = rest.gate.audits[0]
    assert (audit.kind, audit.action) == (EventKind.ADMIN_READ, "getConversation")
    assert conversation_id == ID


def test_a_required_justification_comes_before_syntax(rest: Rest) -> None:
    rest.gate.require_justification = True
    for body in (None, b"{", b'{"justification":""}', b'{"justification":7}'):
        answered = rest.call("DELETE", ADMIN_ONE, body, user="root")
        assert answered.refused(400, "JUSTIFICATION_REQUIRED") is None
        assert "details" not in answered.json
    answered = rest.call("DELETE", ADMIN_ONE, b"x", user="root", headers={"content-type": "a/b"})
    answered.refused(400, "JUSTIFICATION_REQUIRED")


def test_a_justification_may_be_in_the_query_or_in_the_body(rest: Rest) -> None:
    rest.gate.require_justification = True
    calls = [
        ("DELETE", f"{ADMIN_ONE}?justification=why", None),
        ("DELETE", ADMIN_ONE, {"justification": "why"}),
        ("DELETE", f"{ADMIN_ONE}?justification=why", {"justification": "why"}),
        ("POST", f"{ADMIN_ONE}/restore?justification=", {"justification": "why"}),
        ("GET", f"{ADMIN_ONE}/entries?justification=why", None),
    ]
    for method, target, body in calls:
        assert rest.call(method, target, body, user="root").status in (200, 204)
    assert rest.gate.justifications == ["why"] * 5
    assert [call[2]["justification"] for call in rest.admin.calls] == ["why"] * 5


def test_two_justifications_that_differ_are_refused(rest: Rest) -> None:
    target = f"{ADMIN_ONE}?justification=one"
    answered = rest.call("DELETE", target, {"justification": "two"}, user="root")
    answered.refused(400, "validation_error")


def test_what_the_gate_may_have_to_write_down_is_harmless(rest: Rest) -> None:
    rest.call("GET", f"{ADMIN_ONE}?justification=%00{'j' * 2000}").refused(403, "forbidden")
    assert rest.gate.justifications == ["j" * 1000]


def test_the_requester_is_utf_8(rest: Rest) -> None:
    assert rest.call("GET", "/v1/conversations", user="Zoë 日本").status == 200
    assert rest.conversations.calls[0][1][0].user_id == "Zoë 日本"
    answered = rest.call("GET", "/v1/conversations", headers={"x-requester-id": b"Zo\xeb"})
    answered.refused(401, "unauthorized")


@pytest.mark.parametrize("name", ["x-requester-id", "x-api-key", "authorization"])
def test_a_credential_that_is_sent_twice_is_not_believed(rest: Rest, name: str) -> None:
    doubled = [(name, "k1"), (name, "k2")]
    answered = rest.call("GET", "/v1/conversations", more_headers=doubled)
    assert "more than once" in answered.refused(401, "unauthorized")["message"]
