"""The errors of the client: one class for each kind of refusal.

`code` is stable and for programs; the message is for people and says what would be right. The
message names an argument of yours where the server knows which one was wrong.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recollect_client.values import Response

NOT_CONNECTED = "not_connected"
"""The code of a request that was not sent."""
NO_ANSWER = "no_answer"
"""The code of a request that may have been carried out."""
CLOSED = "closed"
"""The code of a request that was not sent because the client is closed."""
CLIENT_CLOSED = "this client is closed"


@dataclass(frozen=True, slots=True)
class Violation:
    """One wrong field, and what would be right."""

    field: str
    message: str
    allowed: tuple[str, ...] = ()


class RecollectError(Exception):
    """Base of all errors that a call can raise."""

    def __init__(
        self,
        message: str,
        *,
        code: str = "",
        status: int | None = None,
        details: Mapping[str, Any] | None = None,
        retry_after_seconds: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.status = status
        self.details: dict[str, Any] = dict(details or {})
        self.retry_after_seconds = retry_after_seconds


class InvalidInput(RecollectError):
    """An argument is wrong; `violations` says which, and what would be right."""

    @property
    def violations(self) -> tuple[Violation, ...]:
        listed = self.details.get("violations") or ()
        return tuple(
            Violation(one["field"], one["message"], tuple(one.get("allowed", ()))) for one in listed
        )


class Unauthenticated(RecollectError):
    """No credentials, or bad ones."""


class Forbidden(RecollectError):
    """The caller may not do this."""


class NotFound(RecollectError):
    """No such thing for this caller."""


class Conflict(RecollectError):
    """The state of the thing forbids it; `details` has a reason."""


class LimitExceeded(RecollectError):
    """Too large, or too often."""


class Unsupported(RecollectError):
    """The server has this switched off."""


class Unavailable(RecollectError):
    """The server can't answer now. Nobody knows whether the last attempt was carried out."""


class ServerUnreachable(Unavailable):
    """No connection to the server, or none that lasted until the answer."""


class Interrupted(RecollectError):
    """A response that was followed ended before it was complete: its writer is gone."""


class Internal(RecollectError):
    """A fault of the server; its log has the request under `details["requestId"]`."""


_BY_STATUS: Mapping[int, type[RecollectError]] = {
    400: InvalidInput,
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    405: InvalidInput,
    409: Conflict,
    413: LimitExceeded,
    415: InvalidInput,
    422: InvalidInput,
    429: LimitExceeded,
    501: Unsupported,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
}


def error_from(response: Response) -> RecollectError:
    """The error that a refusal stands for."""
    kind = _BY_STATUS.get(response.status, Internal if response.status >= 500 else InvalidInput)
    body = _read_body(response.body)
    code = str(body.get("code") or body.get("error") or "")
    message = str(body.get("message") or body.get("error") or f"HTTP status {response.status}")
    details = body.get("details")
    if not isinstance(details, dict):
        details = {key: part for key, part in body.items() if key not in ("error", "code")}
    return kind(
        message,
        code=code,
        status=response.status,
        details=details,
        retry_after_seconds=_retry_after(response.headers),
    )


def _read_body(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _retry_after(headers: Mapping[str, str]) -> float | None:
    try:
        return float(headers["retry-after"])
    except (KeyError, ValueError):
        return None
