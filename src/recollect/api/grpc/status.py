"""Maps errors to gRPC statuses; trailing metadata carries REST's error code and retry time."""

import json
from collections.abc import Mapping
from typing import Any

import grpc

from recollect.http.errors import error_body, http_headers, http_status
from recollect.kernel.errors import AccessLost, RecollectError, TransferPending
from recollect.recordings.grpc import STATUS_TRAILER
from recollect.recordings.model import RecordingStatus
from recollect.rpc.method import Trailers

_STATUS: Mapping[int, grpc.StatusCode] = {
    400: grpc.StatusCode.INVALID_ARGUMENT,
    401: grpc.StatusCode.UNAUTHENTICATED,
    403: grpc.StatusCode.PERMISSION_DENIED,
    404: grpc.StatusCode.NOT_FOUND,
    409: grpc.StatusCode.FAILED_PRECONDITION,
    413: grpc.StatusCode.RESOURCE_EXHAUSTED,
    422: grpc.StatusCode.INVALID_ARGUMENT,
    429: grpc.StatusCode.RESOURCE_EXHAUSTED,
    501: grpc.StatusCode.UNIMPLEMENTED,
    503: grpc.StatusCode.UNAVAILABLE,
}
# Clients accept about 8 KB of trailers, and percent-encoding may triple the size of the text.
_TEXT_BYTES_MAX = 1_000
_DETAILS_BYTES_MAX = 4_000
_RETRY_AFTER = b"retry-after"


def grpc_status(error: RecollectError, *, strict: bool) -> grpc.StatusCode:
    """The gRPC status of an error, by its HTTP status; INTERNAL for those not in the table."""
    if isinstance(error, TransferPending):
        return grpc.StatusCode.ALREADY_EXISTS
    return _STATUS.get(http_status(error, strict=strict), grpc.StatusCode.INTERNAL)


def describe_error(error: RecollectError, request_id: str, *, strict: bool) -> tuple[str, Trailers]:
    """The text and the trailers of an error. An internal error shows the request's id only; the
    memory API adds REST's `details` as JSON."""
    body = error_body(error, request_id, strict=strict)
    # The one body without `code` has the word for programs in `error`.
    code = body.get("code", body["error"])
    trailers = [("error-code", code), ("x-request-id", request_id)]
    wait = dict(http_headers(error, strict=strict)).get(_RETRY_AFTER)
    if wait is not None:
        trailers.append((_RETRY_AFTER.decode(), wait.decode()))
    if isinstance(error, TransferPending):
        trailers.append(("existing-transfer-id", error.existing_transfer_id))
    if isinstance(error, AccessLost):
        trailers.append((STATUS_TRAILER, RecordingStatus.FORBIDDEN))
    if strict:
        trailers.append(("error-details", _details_json(body["details"])))
    return _truncate(str(body.get("message") or body["error"])), tuple(trailers)


def _truncate(text: str) -> str:
    raw = text.encode()
    if len(raw) <= _TEXT_BYTES_MAX:
        return text
    return f"{raw[:_TEXT_BYTES_MAX].decode(errors='ignore')} ..."


def _details_json(members: Mapping[str, Any]) -> str:
    """The details as JSON. Lists are halved until it fits; `{}` if even that is too large."""
    items = max((len(v) for v in members.values() if isinstance(v, list)), default=0)
    text = json.dumps(members)
    while len(text) > _DETAILS_BYTES_MAX and items:
        items //= 2
        text = json.dumps(
            {name: v[:items] if isinstance(v, list) else v for name, v in members.items()}
        )
    return text if len(text) <= _DETAILS_BYTES_MAX else "{}"
