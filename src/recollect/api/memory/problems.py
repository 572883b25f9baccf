"""Schemas of the memory API's errors: `details` is always an object, and bad input is 422."""

from recollect.api.params import Schema
from recollect.api.problems import Statuses, problem_schema
from recollect.api.resources import TEXT, object_schema

_ANY: Schema = {"type": "object"}
_VIOLATION = object_schema(
    {"field": TEXT, "message": TEXT}, {"allowed": {"type": "array", "items": TEXT}}
)

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
FORBIDDEN_CODES = ("forbidden", "not_owner", "requester_mismatch", "subject_only")
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

MEMORY_PROBLEMS: dict[str, Schema] = {
    "RequesterRequired": problem_schema("requester_required", _ANY),
    "RequesterInvalid": problem_schema("requester_invalid", _ANY),
    "JustificationRequired": problem_schema("JUSTIFICATION_REQUIRED", _ANY),
    "Unauthorized": problem_schema("unauthorized", _ANY),
    "Forbidden": problem_schema(FORBIDDEN_CODES, _ANY),
    "NotFound": problem_schema(
        "not_found", object_schema({}, {"resource": TEXT, "id": TEXT, "message": TEXT})
    ),
    "MethodNotAllowed": problem_schema("method_not_allowed", _ANY),
    "Conflict": problem_schema(
        "conflict", _ANY | {"properties": {"reason": {"enum": list(CONFLICT_REASONS)}}}
    ),
    "PayloadTooLarge": problem_schema("payload_too_large", _ANY),
    "UnsupportedMediaType": problem_schema("unsupported_media_type", _ANY),
    "ValidationError": problem_schema(
        "validation_error",
        object_schema({"message": TEXT, "violations": {"type": "array", "items": _VIOLATION}}),
    ),
    "Refused": problem_schema(REFUSAL_CODES, _ANY),
    "InternalError": problem_schema(
        "internal_error", object_schema({"message": TEXT, "requestId": TEXT})
    ),
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
    422: ("The request breaks a rule.", ("ValidationError", "Refused")),
    500: ("A fault of the server.", ("InternalError",)),
    503: ("The server can't answer now.", ("Unavailable",)),
}
