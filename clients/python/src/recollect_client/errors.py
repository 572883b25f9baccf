"""The errors of the client: one class for each kind of refusal.

`code` is stable and for programs; the message is for people and says what would be right. The
message names an argument of yours where the server knows which one was wrong.
"""

import json
import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

from pydantic import BaseModel, ValidationError

from recollect_client.values import Response, snake_case

NOT_CONNECTED = "not_connected"
"""The code of a request that was not sent."""
NO_ANSWER = "no_answer"
"""The code of a request that may have been carried out."""
CLOSED = "closed"
"""The code of a request that was not sent because the client is closed."""
UNEXPECTED_ANSWER = "unexpected_answer"
"""The code of an answer that is none of Recollect: of a proxy, or of something else at the URL."""
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


class ApprovalRequired(RecollectError):
    """The change needs an admin's approval and waits for it: nothing has changed yet.
    `details["approval_id"]` is the id under which to ask for the decision."""


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


# Where a message begins with the name of a field, `accessLevel: must be …`, and such a name alone.
_WIRE_NAME = re.compile(r"^[a-z]+(?:[A-Z][a-z]+)+(?=:)")
_FIELD = re.compile(r"^[a-z]+(?:[A-Z][a-z]+)+")
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
    body = _read_body(response.body)
    if 300 <= response.status < 400 or body is None:
        return _foreign_answer(response)
    code = str(body.get("code") or body.get("error") or "")
    message = str(body.get("message") or body.get("error") or f"HTTP status {response.status}")
    details = body.get("details")
    if not isinstance(details, dict):
        details = {key: part for key, part in body.items() if key not in ("error", "code")}
    return _kind_of(response.status)(
        _WIRE_NAME.sub(_in_python, message),
        code=code,
        status=response.status,
        details=_name_in_python(details),
        retry_after_seconds=_retry_after(response.headers),
    )


def read_answer(response: Response, model: type[BaseModel] | None) -> Any:
    """The answer as a model; None if the operation has none. Unavailable if something else than
    Recollect has answered, such as the page of a proxy."""
    if response.status == 204 or (model is None and not response.body):
        return None
    try:
        if model is not None:
            return model.model_validate_json(response.body)
    except ValidationError:
        pass
    raise _waiting_change(response) or _foreign_answer(response)


def _waiting_change(response: Response) -> RecollectError | None:
    """The answer to a change that was put before an admin."""
    body = _read_body(response.body) or {}
    if response.status != 202 or "approval_id" not in body:
        return None
    return ApprovalRequired(
        "the change waits for the approval of an admin; nothing has changed yet",
        code="approval_required",
        status=response.status,
        details={"approval_id": body["approval_id"]},
    )


def _name_in_python(details: dict[str, Any]) -> dict[str, Any]:
    """The details with the fields that they name as arguments of Python."""
    named = dict(details)
    if isinstance(named.get("field"), str):
        named["field"] = _FIELD.sub(_in_python, named["field"])
    if isinstance(named.get("violations"), list):
        named["violations"] = [_name_in_python(dict(one)) for one in named["violations"]]
    return named


def _in_python(found: re.Match[str]) -> str:
    return snake_case(found[0])


def _kind_of(status: int) -> type[RecollectError]:
    return _BY_STATUS.get(status, Internal if status >= 500 else InvalidInput)


def _foreign_answer(response: Response) -> RecollectError:
    """What is at the URL has answered, and not as Recollect does."""
    media = response.headers.get("content-type", "no content type")
    message = (
        f"an answer with status {response.status} ({media}) that is not one of Recollect, or of"
    )
    message += " a version that this client does not know"
    if "location" in response.headers and response.status < 400:
        message = f"the URL leads to {response.headers['location']}: connect to that one"
    is_refusal = response.status >= 400
    return (_kind_of(response.status) if is_refusal else Unavailable)(
        message,
        code="" if is_refusal else UNEXPECTED_ANSWER,
        status=response.status,
        retry_after_seconds=_retry_after(response.headers),
    )


def _read_body(body: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(body)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds of the header, which is a number or a date."""
    text = headers.get("retry-after", "")
    try:
        seconds = float(text)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(text).timestamp() - time.time()
        except ValueError:
            return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None
