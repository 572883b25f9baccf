"""What a refusal looks like: its status, its code, and exactly the members of the contract."""

import re
from typing import Any

import httpx2

from tests.hostile.sample_tree import MARKER

# code: status, members of `details` (None: there are none), optional ones
SHAPES: dict[str, tuple[int, set[str] | None, set[str]]] = {
    "bad_request": (400, {"message"}, {"field"}),
    "validation_error": (400, {"message", "violations"}, set()),
    "invalid_request": (400, None, set()),
    "JUSTIFICATION_REQUIRED": (400, None, set()),
    "unauthorized": (401, {"message"}, set()),
    "forbidden": (403, {"message"}, set()),
    "not_found": (404, {"resource", "id"}, set()),
    "method_not_allowed": (405, {"message"}, set()),
    "conflict": (409, {"message"}, set()),
    "TRANSFER_ALREADY_PENDING": (409, None, set()),
    "payload_too_large": (413, {"message"}, set()),
    "unsupported_media_type": (415, {"message"}, set()),
    "unavailable": (503, {"message"}, set()),
}
HEADERS = {401: "www-authenticate", 405: "allow", 503: "retry-after"}
_INSIDES = re.compile(
    r"traceback|\bfile \"|sqlalchemy|psycopg|apsw|sqlite|postgres|pydantic|sqlstate|\bselect\b"
    r"|constraint|\.py\b|recollect\.|exception",
    re.IGNORECASE,
)


def refused(response: httpx2.Response, code: str) -> dict[str, Any]:
    """The `details` of a refusal with this code, whose every part is as agreed."""
    status, required, optional = SHAPES[code]
    assert response.status_code == status, (response.status_code, response.text[:500])
    body = well_formed(response)
    assert body["code"] == code, body
    details: dict[str, Any] = body.get("details", {})
    assert ("details" in body) == (required is not None), body
    assert (required or set()) <= set(details) <= (required or set()) | optional, body
    return details


def well_formed(response: httpx2.Response) -> dict[str, Any]:
    """The body of any refusal, of known members, without a word of the inside or of the content."""
    assert 400 <= response.status_code < 500, (response.status_code, response.text[:500])
    assert response.headers["content-type"] == "application/json"
    assert response.headers["x-request-id"]
    assert response.status_code not in HEADERS or response.headers[HEADERS[response.status_code]]
    body: dict[str, Any] = response.json()
    extra = {"existingTransferId"} if body["code"] == "TRANSFER_ALREADY_PENDING" else set()
    assert {"error", "code"} | extra <= set(body) <= {"error", "code", "details"} | extra
    assert isinstance(body["error"], str)
    assert body["error"]
    assert not _INSIDES.search(response.text), response.text[:500]
    assert MARKER not in response.text
    return body


def violated(response: httpx2.Response) -> set[str]:
    """The members that a validation error names, of the body or of its first item, each without
    what is inside of it."""
    violations = refused(response, "validation_error")["violations"]
    assert violations
    for violation in violations:
        assert {"field", "message"} <= set(violation) <= {"field", "message", "allowed"}
        words = [violation["field"], violation["message"], *violation.get("allowed", ["one"])]
        assert all(isinstance(text, str) and text for text in words)
    fields = (violation["field"].removeprefix("[0].") for violation in violations)
    return {re.split(r"[.\[]", field)[0] for field in fields}
