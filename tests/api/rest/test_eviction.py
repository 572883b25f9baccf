"""Eviction: the two ways to answer, and what goes wrong."""

from typing import Any

import pytest

from recollect.kernel.errors import Unavailable
from recollect.text.dates.durations import parse_duration
from tests.api.fakes import FakeEviction, Rest

EVICT = "/v1/admin/evict"
BODY = {"retentionPeriod": "P1Y", "resourceTypes": ["Conversations"], "justification": "why"}
STREAM = {"accept": "text/event-stream"}


def test_the_answer_comes_when_it_is_done(rest: Rest) -> None:
    assert rest.call("POST", EVICT, BODY, user="root").status == 204
    _, (principal, period), more = rest.eviction.calls[0]
    assert (principal.user_id, period) == ("root", parse_duration("P1Y"))
    assert more == {"justification": "why"}


def test_a_failure_is_an_ordinary_error(rest: Rest) -> None:
    rest.eviction.answers["begin"] = FakeEviction(Unavailable("busy"))
    rest.call("POST", EVICT, BODY, user="root").refused(503, "unavailable")


@pytest.mark.parametrize(("query", "headers"), [("?async=TRUE", {}), ("", STREAM)])
def test_progress_is_streamed_on_request(rest: Rest, query: str, headers: Any) -> None:
    rest.eviction.answers["begin"] = FakeEviction(0, 50, 100)
    answered = rest.call("POST", EVICT + query, BODY, user="root", headers=headers)
    assert (answered.status, answered.headers["content-type"]) == (200, "text/event-stream")
    assert "x-request-id" in answered.headers
    steps = [b'data: {"progress":%d}\n\n' % step for step in (0, 50, 100)]
    assert answered.body == b"".join(steps)


@pytest.mark.parametrize(
    ("failure", "told"), [(Unavailable("busy"), b"busy"), (RuntimeError("secret"), b"log says why")]
)
def test_a_failure_in_the_stream_is_an_event(rest: Rest, failure: Exception, told: bytes) -> None:
    rest.eviction.answers["begin"] = FakeEviction(0, failure)
    answered = rest.call("POST", EVICT, BODY, user="root", headers=STREAM)
    progress, error, end = answered.body.split(b"\n\n")
    assert progress == b'data: {"progress":0}'
    assert error.startswith(b'event: error\ndata: {"error":"')
    assert told in error
    assert b"secret" not in error
    assert end == b""


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"retentionPeriod": None}, "retentionPeriod"),
        ({"retentionPeriod": "90 days"}, "retentionPeriod"),
        ({"retentionPeriod": "P0D"}, "retentionPeriod"),
        ({"retentionPeriod": 90}, "retentionPeriod"),
        ({"resourceTypes": None}, "resourceTypes"),
        ({"resourceTypes": []}, "resourceTypes"),
        ({"resourceTypes": "conversations"}, "resourceTypes"),
        ({"resourceTypes": ["memories"]}, "resourceTypes[0]"),
        ({"justification": "j" * 1001}, "justification"),
    ],
)
def test_a_wrong_member_is_a_validation_error(
    rest: Rest, change: dict[str, Any], field: str
) -> None:
    answered = rest.call("POST", EVICT, BODY | change, user="root")
    details = answered.refused(400, "validation_error")
    assert [violation["field"] for violation in details["violations"]] == [field]
    assert not rest.asked


def test_whether_to_stream_is_a_boolean(rest: Rest) -> None:
    rest.call("POST", f"{EVICT}?async=1", BODY, user="root").refused(400, "validation_error")
