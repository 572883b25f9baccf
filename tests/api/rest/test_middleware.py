"""What every answer has: request id, errors, unknown paths, the Host check, health, metrics."""

import asyncio

import pytest
from structlog.testing import capture_logs

from recollect.api.rest.app import RestSettings
from recollect.kernel.errors import (
    Conflict,
    EmptyEntry,
    Forbidden,
    Internal,
    InvalidInput,
    NotFound,
    TransferPending,
    Unavailable,
)
from tests.api.fakes import ID, REPORT, Rest

ONE = f"/v1/conversations/{ID}"


def test_a_sane_request_id_is_kept_and_any_other_replaced(rest: Rest) -> None:
    sane = rest.call("GET", ONE, headers={"x-request-id": "abc-1.2:3"})
    assert sane.headers["x-request-id"] == "abc-1.2:3"
    for bad in ("", "a b", "x" * 129, "line\nfeed"):
        made = rest.call("GET", ONE, headers={"x-request-id": bad}).headers["x-request-id"]
        assert made != bad
        assert len(made) == 32


@pytest.mark.parametrize(
    ("error", "status", "body"),
    [
        (
            InvalidInput("m", field="f"),
            400,
            {"error": "m", "code": "bad_request", "details": {"message": "m", "field": "f"}},
        ),
        (EmptyEntry("m"), 400, {"error": "m", "code": "invalid_request"}),
        (Forbidden("m"), 403, {"error": "m", "code": "forbidden", "details": {"message": "m"}}),
        (
            NotFound("entry", ID),
            404,
            {
                "error": "no such entry",
                "code": "not_found",
                "details": {"resource": "entry", "id": ID},
            },
        ),
        (Conflict("m"), 409, {"error": "m", "code": "conflict", "details": {"message": "m"}}),
        (
            TransferPending(ID),
            409,
            {
                "error": "the conversation already has a pending ownership transfer",
                "code": "TRANSFER_ALREADY_PENDING",
                "existingTransferId": ID,
            },
        ),
    ],
)
def test_errors_have_the_body_of_the_contract(
    rest: Rest, error: Exception, status: int, body: dict[str, object]
) -> None:
    rest.conversations.answers["get"] = error
    answered = rest.call("GET", ONE)
    assert (answered.status, answered.json) == (status, body)


def test_unavailable_says_when_to_try_again(rest: Rest) -> None:
    rest.conversations.answers["get"] = Unavailable("busy", retry_after_seconds=7)
    answered = rest.call("GET", ONE)
    assert answered.refused(503, "unavailable") == {"message": "busy"}
    assert answered.headers["retry-after"] == "7"


@pytest.mark.parametrize("error", [RuntimeError("secret text"), Internal("secret text")])
def test_what_is_unexpected_is_logged_once_and_never_told(rest: Rest, error: Exception) -> None:
    rest.conversations.answers["get"] = error
    with capture_logs() as logged:
        answered = rest.call("GET", ONE, headers={"x-request-id": "r1"})
    details = answered.refused(500, "internal_error")
    assert (set(details), details["requestId"]) == ({"message", "requestId"}, "r1")
    assert "secret" not in answered.body.decode()
    assert [line["event"] for line in logged] == ["request failed"]
    assert logged[0]["exc_info"] in (True, error)


def test_a_request_that_the_stopping_server_cancels_is_told_to_come_back(rest: Rest) -> None:
    rest.conversations.answers["get"] = asyncio.CancelledError()
    with capture_logs() as logged:
        answered = rest.call("GET", ONE)
    assert set(answered.refused(503, "unavailable")) == {"message"}
    assert "retry-after" in answered.headers
    assert rest.metrics.requests == [("GET", "/v1/conversations/{id}", 503)]
    assert logged == []


def test_a_refusal_is_not_logged_as_a_failure(rest: Rest) -> None:
    rest.conversations.answers["get"] = Forbidden("m")
    with capture_logs() as logged:
        rest.call("GET", f"{ONE}?colour=red")
    assert logged == []


def test_every_request_leaves_a_line_with_its_route_and_nothing_the_caller_sent(
    rest: Rest,
) -> None:
    rest.call("GET", f"{ONE}?colour=red", headers={"x-request-id": "r1"})
    assert rest.requests.lines == [("r1", "GET", "/v1/conversations/{id}", 200)]


@pytest.mark.parametrize(
    "path", ["/docs/", "/v1", "/v1/", "/v1/nothing", "/v1/conversations/", f"{ONE}/", "/v1/health/"]
)
def test_an_unknown_path_is_not_found_and_never_redirected(rest: Rest, path: str) -> None:
    assert set(rest.call("GET", path).refused(404, "not_found")) == {"message"}
    assert rest.metrics.requests == [("GET", "(none)", 404)]


def test_another_method_is_told_which_there_are(rest: Rest) -> None:
    answered = rest.call("PUT", ONE)
    assert set(answered.refused(405, "method_not_allowed")) == {"message"}
    assert answered.headers["allow"] == "DELETE, GET, HEAD, PATCH"
    assert rest.call("GET", "/v1/admin/evict", user="root").headers["allow"] == "POST"


def test_an_invented_method_is_one_label_in_the_metrics(rest: Rest) -> None:
    assert rest.call("BREW", ONE).status == 405
    assert rest.metrics.requests == [("OTHER", "/v1/conversations/{id}", 405)]


def test_head_is_get_without_the_body(rest: Rest) -> None:
    got, headed = rest.call("GET", ONE), rest.call("HEAD", ONE)
    assert (headed.status, headed.body) == (200, b"")
    assert headed.headers["content-length"] == got.headers["content-length"] == str(len(got.body))


def test_no_content_has_neither_body_nor_type(rest: Rest) -> None:
    answered = rest.call("DELETE", ONE)
    assert (answered.status, answered.body) == (204, b"")
    assert not {"content-type", "content-length"} & set(answered.headers)


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("LOCALHOST:8080", 200),
        ("127.0.0.1:80", 200),
        ("127.9.9.9", 200),
        ("[::1]:8080", 200),
        ("[::1]", 200),
        ("evil.example", 403),
        ("localhost.evil.example:8080", 403),
        ("127.0.0.1.evil.example", 403),
        ("192.168.0.1", 403),
        ("", 403),
    ],
)
def test_local_mode_answers_under_loopback_names_only(host: str, status: int) -> None:
    local = Rest(RestSettings(local_mode=True))
    for path in ("/v1/health", ONE):
        assert local.call("GET", path, headers={"host": host}).status == status


def test_outside_local_mode_any_host_will_do(rest: Rest) -> None:
    assert rest.call("GET", "/v1/health", headers={"host": "memory.example"}).status == 200


def test_health_needs_no_credentials_and_tells_when_the_database_is_away(rest: Rest) -> None:
    assert rest.call("GET", "/v1/health", user=None).json == {"status": "ok"}
    rest.status.answers["ping"] = Unavailable("the database does not answer")
    rest.call("GET", "/v1/health", user=None).refused(503, "unavailable")


def test_the_detailed_health_needs_a_role(rest: Rest) -> None:
    rest.call("GET", "/v1/admin/health").refused(403, "forbidden")
    assert rest.call("GET", "/v1/admin/health", user="root").json == REPORT


def test_metrics_are_text(rest: Rest) -> None:
    answered = rest.call("GET", "/metrics", user=None)
    assert answered.body == b"requests 1\n"
    assert answered.headers["content-type"] == "text/plain; version=0.0.4"


def test_a_request_is_measured_under_its_template(rest: Rest) -> None:
    rest.call("DELETE", f"{ONE}/memberships/bob")
    route = "/v1/conversations/{id}/memberships/{userId}"
    assert rest.metrics.requests == [("DELETE", route, 204)]
