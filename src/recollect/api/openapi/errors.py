"""Schemas of error responses for the OpenAPI documents: a schema per code, the codes per status."""

from collections.abc import Mapping, Sequence
from typing import Any

from recollect.http.params import Schema
from recollect.http.schemas import TEXT, UUID, describe, object_schema, schema_ref
from recollect.search.rest_entries import SEARCH_TYPE

# Per status: its description, and the schema names of its bodies.
Statuses = Mapping[int, tuple[str, tuple[str, ...]]]

_AGAIN = describe(TEXT, "The same as `error`.")
_MESSAGE = object_schema({"message": _AGAIN})
_VIOLATION: dict[str, Schema] = {
    "field": describe(TEXT, "The field or parameter that is wrong."),
    "message": describe(TEXT, "What would be right."),
}
_ALLOWED = describe({"type": "array", "items": TEXT}, "The words that would be right.")


def _validation_details(violation: Schema) -> Schema:
    violations = {"type": "array", "items": violation}
    return object_schema(
        {"message": _AGAIN, "violations": describe(violations, "Everything that is wrong.")}
    )


def _internal_details() -> Schema:
    request_id = describe(TEXT, "The id under which the server's log has more.")
    return object_schema({"message": _AGAIN, "requestId": request_id})


def problem_schema(
    code: str | Sequence[str], details: Schema | None, more: dict[str, Schema] | None = None
) -> Schema:
    """The schema of an error body with this code, or with one of these codes."""
    codes = {"const": code} if isinstance(code, str) else {"enum": list(code)}
    members = {
        "error": describe(TEXT, "What was wrong, and what would be right."),
        "code": describe({"type": "string", **codes}, "The kind of error, for programs."),
        **(more or {}),
    }
    if details is None:
        return object_schema(members)
    return object_schema(members | {"details": describe(details, "More about it.")})


PROBLEMS: dict[str, Schema] = {
    "BadRequest": problem_schema(
        "bad_request", object_schema({"message": _AGAIN}, {"field": _VIOLATION["field"]})
    ),
    "ValidationError": problem_schema(
        "validation_error",
        _validation_details(object_schema(_VIOLATION)),
    ),
    "InvalidRequest": problem_schema("invalid_request", None),
    "JustificationRequired": problem_schema("JUSTIFICATION_REQUIRED", None),
    "Unauthorized": problem_schema("unauthorized", _MESSAGE),
    "Forbidden": problem_schema("forbidden", _MESSAGE),
    "NotFound": problem_schema(
        "not_found",
        object_schema(
            {
                "resource": describe(
                    {
                        "type": "string",
                        "enum": ["api_key", "conversation", "entry", "membership", "transfer"],
                    },
                    "What was not found.",
                ),
                "id": describe(TEXT, "The id that was sent."),
            }
        ),
    ),
    "UnknownPath": problem_schema("not_found", _MESSAGE),
    "MethodNotAllowed": problem_schema("method_not_allowed", _MESSAGE),
    "Conflict": problem_schema("conflict", _MESSAGE),
    "TransferAlreadyPending": problem_schema(
        "TRANSFER_ALREADY_PENDING",
        None,
        {"existingTransferId": describe(UUID, "The transfer that is pending.")},
    ),
    "PayloadTooLarge": problem_schema("payload_too_large", _MESSAGE),
    "UnsupportedMediaType": problem_schema("unsupported_media_type", _MESSAGE),
    "TooManyAttempts": problem_schema("too_many_attempts", _MESSAGE),
    "InternalError": problem_schema("internal_error", _internal_details()),
    "SearchTypeUnavailable": object_schema(
        {
            "error": describe(
                {"type": "string", "const": "search_type_unavailable"}, "The kind of error."
            ),
            "message": describe(TEXT, "What was wrong, and what would be right."),
            "availableTypes": describe(
                {"type": "array", "items": SEARCH_TYPE}, "The ways to search that are enabled."
            ),
        }
    ),
    "VectorStoreDisabled": problem_schema("vector_store_disabled", _MESSAGE),
    "BadGateway": problem_schema("bad_gateway", _MESSAGE),
    "Unavailable": problem_schema("unavailable", _MESSAGE),
}

STATUSES: Statuses = {
    400: (
        "The request breaks a rule.",
        ("BadRequest", "ValidationError", "InvalidRequest", "JustificationRequired"),
    ),
    401: ("No credentials, or bad ones.", ("Unauthorized",)),
    403: ("The caller may not do this.", ("Forbidden",)),
    404: ("No such thing, or no such path.", ("NotFound", "UnknownPath")),
    405: ("The path has other methods.", ("MethodNotAllowed",)),
    409: ("The state of the thing forbids it.", ("Conflict", "TransferAlreadyPending")),
    413: ("The body is larger than 16 MiB.", ("PayloadTooLarge",)),
    415: ("The body is not JSON.", ("UnsupportedMediaType",)),
    429: ("Bad credentials, after too many others from this address.", ("TooManyAttempts",)),
    500: ("A fault of the server.", ("InternalError",)),
    501: ("This search is switched off.", ("SearchTypeUnavailable", "VectorStoreDisabled")),
    502: ("It was forwarded from node to node too often.", ("BadGateway",)),
    503: ("The server can't answer now.", ("Unavailable",)),
}
_HEADERS: dict[int, dict[str, Any]] = {
    401: {"WWW-Authenticate": TEXT | {"const": "Bearer"}},
    405: {"Allow": TEXT},
    429: {"Retry-After": {"type": "integer", "minimum": 1}},
    503: {"Retry-After": {"type": "integer", "minimum": 0}},
}


def error_responses(statuses: Statuses) -> dict[str, Schema]:
    """The reusable error responses of a document, by name."""
    return {
        response_name(status): _error_response(status, *described)
        for status, described in statuses.items()
    }


def response_name(status: int) -> str:
    """The name of the reusable response for an error status."""
    return f"Error{status}"


def _error_response(status: int, description: str, names: Sequence[str]) -> Schema:
    schemas = [schema_ref(name) for name in names]
    schema = schemas[0] if len(schemas) == 1 else {"oneOf": schemas}
    response: Schema = {
        "description": description,
        "content": {"application/json": {"schema": schema}},
    }
    if status in _HEADERS:
        headers = _HEADERS[status].items()
        response["headers"] = {n: {"schema": s, "required": True} for n, s in headers}
    return response


_ANY: Schema = {"type": "object"}

# Every code of a 422 besides `validation_error`.
REFUSAL_CODES = (
    "agent_id_reserved",
    "ambiguous_subject",
    "immutable_field",
    "pii_not_allowed",
    "pii_refused",
    "policy_scope",
    "private_unavailable",
    "secret_refused",
    "sensitivity_not_allowed",
)
FORBIDDEN_CODES = (
    "asker_not_allowed",
    "forbidden",
    "not_owner",
    "requester_mismatch",
    "subject_only",
)
CONFLICT_REASONS = (
    "both_users",
    "duplicate_id",
    "has_memories",
    "id_taken",
    "idempotency",
    "run_completed",
    "same_person",
    "version",
    "wrong_state",
)

_REASON = describe({"type": "string", "enum": list(CONFLICT_REASONS)}, "Why not, for programs.")
MEMORY_PROBLEMS: dict[str, Schema] = {
    "RequesterRequired": problem_schema("requester_required", _ANY),
    "RequesterInvalid": problem_schema("requester_invalid", _ANY),
    "JustificationRequired": problem_schema("JUSTIFICATION_REQUIRED", _ANY),
    "Unauthorized": problem_schema("unauthorized", _ANY),
    "Forbidden": problem_schema(FORBIDDEN_CODES, _ANY),
    "NotFound": problem_schema(
        "not_found",
        object_schema(
            {},
            {
                "resource": describe(TEXT, "What was not found."),
                "id": describe(TEXT, "The id that was sent."),
                "message": _AGAIN,
            },
        ),
    ),
    "MethodNotAllowed": problem_schema("method_not_allowed", _ANY),
    "Conflict": problem_schema("conflict", object_schema({}, {"reason": _REASON})),
    "PayloadTooLarge": problem_schema("payload_too_large", _ANY),
    "UnsupportedMediaType": problem_schema("unsupported_media_type", _ANY),
    "TooManyAttempts": problem_schema("too_many_attempts", _ANY),
    "ValidationError": problem_schema(
        "validation_error",
        _validation_details(object_schema(_VIOLATION, {"allowed": _ALLOWED})),
    ),
    "Refused": problem_schema(REFUSAL_CODES, _ANY),
    "InternalError": problem_schema("internal_error", _internal_details()),
    "Unavailable": problem_schema("unavailable", _ANY),
}

MEMORY_STATUSES: Statuses = {
    400: (
        "Nobody says who asks, or no reason was given.",
        ("RequesterRequired", "RequesterInvalid", "JustificationRequired"),
    ),
    401: ("No credentials, or bad ones.", ("Unauthorized",)),
    403: ("The caller may not do this.", ("Forbidden",)),
    404: ("No such thing for this caller, or no such path.", ("NotFound",)),
    405: ("The path has other methods.", ("MethodNotAllowed",)),
    409: ("The state of the thing forbids it.", ("Conflict",)),
    413: ("The body is larger than 16 MiB.", ("PayloadTooLarge",)),
    415: ("The body is not JSON.", ("UnsupportedMediaType",)),
    429: ("Bad credentials, after too many others from this address.", ("TooManyAttempts",)),
    422: ("The request breaks a rule.", ("ValidationError", "Refused")),
    500: ("A fault of the server.", ("InternalError",)),
    503: ("The server can't answer now.", ("Unavailable",)),
}
