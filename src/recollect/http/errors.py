"""Maps each kind of error to its HTTP status, body and headers, and to a CLI exit code.

The CLI imports this module too, so it uses no web framework. Errors that only HTTP has (unknown
path, method, media type) are defined here and not in `kernel/errors.py`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from recollect.kernel.errors import (
    BadGateway,
    Conflict,
    Forbidden,
    Internal,
    InvalidInput,
    JustificationRequired,
    LimitExceeded,
    NotFound,
    RecollectError,
    RequesterHeaderInvalid,
    RequesterInvalid,
    RequesterMismatch,
    RequesterRequired,
    RequestStillRunning,
    SearchTypeUnavailable,
    TooManyAttempts,
    TransferPending,
    Unauthenticated,
    Unavailable,
    ValidationFailed,
    VectorStoreDisabled,
    Violation,
)

T = TypeVar("T")


class UnknownPath(RecollectError):
    """No operation has this path."""

    default_code = "not_found"


class UnsupportedMediaType(RecollectError):
    """The body is of a type that the operation doesn't take."""

    default_code = "unsupported_media_type"


class MethodNotAllowed(RecollectError):
    """The path exists, with other methods."""

    default_code = "method_not_allowed"

    def __init__(self, allowed: Sequence[str]) -> None:
        self.allow = ", ".join(allowed)
        super().__init__(f"the path has no such method; it has {self.allow}")


HTTP_STATUS: Mapping[type[RecollectError], int] = {
    InvalidInput: 400,
    Unauthenticated: 401,
    Forbidden: 403,
    NotFound: 404,
    UnknownPath: 404,
    MethodNotAllowed: 405,
    Conflict: 409,
    LimitExceeded: 413,
    UnsupportedMediaType: 415,
    TooManyAttempts: 429,
    Internal: 500,
    SearchTypeUnavailable: 501,
    VectorStoreDisabled: 501,
    BadGateway: 502,
    Unavailable: 503,
}

CLI_EXIT: Mapping[type[RecollectError], int] = {
    InvalidInput: 2,
    UnsupportedMediaType: 2,
    MethodNotAllowed: 2,
    Unauthenticated: 3,
    TooManyAttempts: 3,
    Forbidden: 3,
    NotFound: 4,
    UnknownPath: 4,
    Conflict: 5,
    LimitExceeded: 6,
    BadGateway: 7,
    Unavailable: 7,
    SearchTypeUnavailable: 7,
    VectorStoreDisabled: 7,
    Internal: 1,
}


# The memory API's statuses and codes, where they differ from the tables above.
STRICT_STATUS: Mapping[type[RecollectError], int] = {
    RequesterRequired: 400,
    RequesterInvalid: 400,
    RequesterHeaderInvalid: 400,
    JustificationRequired: 400,
    InvalidInput: 422,
}
_STRICT_CODES: Mapping[type[RecollectError], str] = {
    RequesterRequired: "requester_required",
    RequesterInvalid: "requester_invalid",
    RequesterHeaderInvalid: "requester_invalid",
    RequesterMismatch: "requester_mismatch",
}


def http_status(error: RecollectError, *, strict: bool = False) -> int:
    """The HTTP status of an error by its class; 500 for a class that is not in the table.

    `strict` uses the memory API's statuses.
    """
    plain = _lookup_by_kind(HTTP_STATUS, error, 500)
    return _lookup_by_kind(STRICT_STATUS, error, plain) if strict else plain


def cli_exit(error: RecollectError) -> int:
    """The CLI's exit code for an error."""
    return _lookup_by_kind(CLI_EXIT, error, 1)


def http_headers(error: RecollectError, *, strict: bool = False) -> list[tuple[bytes, bytes]]:
    """The response headers that belong to an error's status."""
    if isinstance(error, Unauthenticated) and http_status(error, strict=strict) == 401:
        return [(b"www-authenticate", b"Bearer")]
    if isinstance(error, Unavailable | RequestStillRunning | TooManyAttempts):
        return [(b"retry-after", b"%d" % error.retry_after_seconds)]
    if isinstance(error, MethodNotAllowed):
        return [(b"allow", error.allow.encode())]
    return []


def error_body(error: RecollectError, request_id: str, *, strict: bool = False) -> dict[str, Any]:
    """The body `{"error", "code", "details"}`.

    The message of an internal error is for the log: the body has the request's id and no more.
    """
    if http_status(error) == 500:
        return internal_body(request_id)
    if strict:
        return _strict_body(error)
    if isinstance(error, SearchTypeUnavailable):
        return _search_type_body(error)
    body: dict[str, Any] = {"error": error.message, "code": error.code}
    if error.details is not None:
        body["details"] = error.details
    if isinstance(error, TransferPending):
        body["existingTransferId"] = error.existing_transfer_id
    return body


def internal_body(request_id: str) -> dict[str, Any]:
    """The body of every 500."""
    message = "something went wrong in the server; its log has this request's id"
    return {
        "error": message,
        "code": Internal.default_code,
        "details": {"message": message, "requestId": request_id},
    }


def _strict_body(error: RecollectError) -> dict[str, Any]:
    """The memory API's body: `details` is always an object, and bad input becomes violations."""
    code = _lookup_by_kind(_STRICT_CODES, error, error.code)
    details = error.details or {}
    if code == InvalidInput.default_code:
        code = ValidationFailed.default_code
        violation = Violation(str(details.get("field", "body")), error.message)
        details = {"message": error.message, "violations": [violation.json_fields]}
    return {"error": error.message, "code": code, "details": details}


def _search_type_body(error: SearchTypeUnavailable) -> dict[str, Any]:
    """The one body without `code`: here `error` holds the code."""
    return {
        "error": error.code,
        "message": error.message,
        "availableTypes": list(error.available_types),
    }


def _lookup_by_kind(
    table: Mapping[type[RecollectError], T], error: RecollectError, default: T
) -> T:
    return next((table[kind] for kind in type(error).__mro__ if kind in table), default)
