"""What each kind of error is called outside: HTTP status, body and headers, and CLI exit code.

No web framework here: the CLI reads this module too. The errors that only a wire can have live
here and not in the error tree.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from recollect.errors import (
    BadGateway,
    Conflict,
    Forbidden,
    Internal,
    InvalidInput,
    JustificationRequired,
    LimitExceeded,
    NotFound,
    RecollectError,
    RequesterInvalid,
    RequesterMismatch,
    RequesterRequired,
    RequesterUnfit,
    SearchTypeUnavailable,
    StillRunning,
    TransferPending,
    Unauthenticated,
    Unavailable,
    ValidationFailed,
    VectorStoreDisabled,
    Violation,
)

T = TypeVar("T")


class UnknownPath(RecollectError):
    """No operation lives at this path."""

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


# Where the memory family differs: status and code.
STRICT_STATUS: Mapping[type[RecollectError], int] = {
    RequesterRequired: 400,
    RequesterInvalid: 400,
    RequesterUnfit: 400,
    JustificationRequired: 400,
    InvalidInput: 422,
}
_STRICT_CODES: Mapping[type[RecollectError], str] = {
    RequesterRequired: "requester_required",
    RequesterInvalid: "requester_invalid",
    RequesterUnfit: "requester_invalid",
    RequesterMismatch: "requester_mismatch",
}


def http_status(error: RecollectError, *, strict: bool = False) -> int:
    """The status of an error's kind; a kind that is not in the table is a fault of ours.

    `strict` is the memory family's reading.
    """
    plain = _of_kind(HTTP_STATUS, error, 500)
    return _of_kind(STRICT_STATUS, error, plain) if strict else plain


def cli_exit(error: RecollectError) -> int:
    """The exit code of an error's kind."""
    return _of_kind(CLI_EXIT, error, 1)


def http_headers(error: RecollectError, *, strict: bool = False) -> list[tuple[bytes, bytes]]:
    """The headers that belong to the status."""
    if isinstance(error, Unauthenticated) and http_status(error, strict=strict) == 401:
        return [(b"www-authenticate", b"Bearer")]
    if isinstance(error, Unavailable | StillRunning):
        return [(b"retry-after", b"%d" % error.retry_after_seconds)]
    if isinstance(error, MethodNotAllowed):
        return [(b"allow", error.allow.encode())]
    return []


def error_body(error: RecollectError, request_id: str, *, strict: bool = False) -> dict[str, Any]:
    """The body `{"error", "code", "details"}`.

    An internal error's own text is for the log: its body names the request and nothing else.
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
    """`details` is always an object; what is wrong with a request is told as violations."""
    code = _of_kind(_STRICT_CODES, error, error.code)
    details = error.details or {}
    if code == InvalidInput.default_code:
        code = ValidationFailed.default_code
        violation = Violation(str(details.get("field", "body")), error.message)
        details = {"message": error.message, "violations": [violation.members]}
    return {"error": error.message, "code": code, "details": details}


def _search_type_body(error: SearchTypeUnavailable) -> dict[str, Any]:
    """The one body without `code`: here `error` is the word for programs."""
    return {
        "error": error.code,
        "message": error.message,
        "availableTypes": list(error.available_types),
    }


def _of_kind(table: Mapping[type[RecollectError], T], error: RecollectError, default: T) -> T:
    return next((table[kind] for kind in type(error).__mro__ if kind in table), default)
