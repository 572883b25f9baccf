"""The error answers, as JSON Schema for the API documents: a shape per code, the codes per
status."""

from typing import Any

from recollect.api.params import Schema
from recollect.api.resources import SEARCH_TYPE, TEXT, UUID, ref, shape

_MESSAGE = shape({"message": TEXT})


def _problem(code: str, details: Schema | None, more: dict[str, Schema] | None = None) -> Schema:
    members = {"error": TEXT, "code": {"type": "string", "const": code}, **(more or {})}
    return shape(members if details is None else members | {"details": details})


PROBLEMS: dict[str, Schema] = {
    "BadRequest": _problem("bad_request", shape({"message": TEXT}, {"field": TEXT})),
    "ValidationError": _problem(
        "validation_error",
        shape(
            {
                "message": TEXT,
                "violations": {
                    "type": "array",
                    "items": shape({"field": TEXT, "message": TEXT}),
                },
            }
        ),
    ),
    "InvalidRequest": _problem("invalid_request", None),
    "JustificationRequired": _problem("JUSTIFICATION_REQUIRED", None),
    "Unauthorized": _problem("unauthorized", _MESSAGE),
    "Forbidden": _problem("forbidden", _MESSAGE),
    "NotFound": _problem(
        "not_found",
        shape(
            {
                "resource": {
                    "type": "string",
                    "enum": ["conversation", "entry", "membership", "transfer"],
                },
                "id": TEXT,
            }
        ),
    ),
    "UnknownPath": _problem("not_found", _MESSAGE),
    "MethodNotAllowed": _problem("method_not_allowed", _MESSAGE),
    "Conflict": _problem("conflict", _MESSAGE),
    "TransferAlreadyPending": _problem(
        "TRANSFER_ALREADY_PENDING", None, {"existingTransferId": UUID}
    ),
    "PayloadTooLarge": _problem("payload_too_large", _MESSAGE),
    "UnsupportedMediaType": _problem("unsupported_media_type", _MESSAGE),
    "InternalError": _problem("internal_error", shape({"message": TEXT, "requestId": TEXT})),
    "SearchTypeUnavailable": shape(
        {
            "error": {"type": "string", "const": "search_type_unavailable"},
            "message": TEXT,
            "availableTypes": {"type": "array", "items": SEARCH_TYPE},
        }
    ),
    "VectorStoreDisabled": _problem("vector_store_disabled", _MESSAGE),
    "Unavailable": _problem("unavailable", _MESSAGE),
}

_STATUSES: dict[int, tuple[str, tuple[str, ...]]] = {
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
    500: ("A fault of the server.", ("InternalError",)),
    501: ("This search is switched off.", ("SearchTypeUnavailable", "VectorStoreDisabled")),
    503: ("The server can't answer now.", ("Unavailable",)),
}
_HEADERS: dict[int, dict[str, Any]] = {
    401: {"WWW-Authenticate": TEXT | {"const": "Bearer"}},
    405: {"Allow": TEXT},
    503: {"Retry-After": {"type": "integer", "minimum": 0}},
}


def error_responses() -> dict[str, Schema]:
    """The reusable error answers, by name."""
    return {response_name(status): _response(status) for status in _STATUSES}


def response_name(status: int) -> str:
    """The name of an error status among the reusable answers."""
    return f"Error{status}"


def _response(status: int) -> Schema:
    description, names = _STATUSES[status]
    schemas = [ref(name) for name in names]
    schema = schemas[0] if len(schemas) == 1 else {"oneOf": schemas}
    response: Schema = {
        "description": description,
        "content": {"application/json": {"schema": schema}},
    }
    if status in _HEADERS:
        headers = _HEADERS[status].items()
        response["headers"] = {n: {"schema": s, "required": True} for n, s in headers}
    return response
