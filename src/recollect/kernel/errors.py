"""The exceptions that callers may see. The APIs map the class to a status (`http/errors.py`).

`code` is stable and public. A message says what was wrong, with which value, and what would be
right. It contains no SQL, no file path and no personal data.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class Violation:
    """One wrong field of a request: its path, and what would be right."""

    field: str
    message: str
    allowed: tuple[str, ...] = ()

    @property
    def json_fields(self) -> dict[str, Any]:
        """The violation as a JSON object."""
        violation: dict[str, Any] = {"field": self.field, "message": self.message}
        return violation | ({"allowed": list(self.allowed)} if self.allowed else {})


class RecollectError(Exception):
    """Base of every error that a caller may see."""

    default_code: ClassVar[str]

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.details: dict[str, Any] | None = (
            {"message": message} if details is None else dict(details)
        )


class InvalidInput(RecollectError):
    """The request breaks a rule of the contract."""

    default_code = "bad_request"

    def __init__(self, message: str, *, field: str | None = None, code: str | None = None) -> None:
        details = {"message": message} | ({"field": field} if field else {})
        super().__init__(message, code=code, details=details)


class ValidationFailed(InvalidInput):
    """The request's syntax is wrong: JSON, types, limits, characters."""

    default_code = "validation_error"

    def __init__(self, message: str, violations: Sequence[Violation] = ()) -> None:
        super().__init__(message)
        self.violations = tuple(violations)
        self.details = {
            "message": message,
            "violations": [violation.json_fields for violation in violations],
        }

    @classmethod
    def for_field(
        cls, field: str, message: str, *, allowed: Sequence[str] = ()
    ) -> "ValidationFailed":
        """The error for one wrong field."""
        return cls(f"{field}: {message}", [Violation(field, message, tuple(allowed))])


class EmptyEntry(InvalidInput):
    """An append of a user without text, event or attachment."""

    default_code = "invalid_request"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.details = None


class JustificationRequired(InvalidInput):
    """The server requires a justification for admin calls, and none was sent."""

    default_code = "JUSTIFICATION_REQUIRED"

    def __init__(self) -> None:
        super().__init__("this server requires a `justification` on every admin call")
        self.details = None


class Unauthenticated(RecollectError):
    """No credentials, or invalid ones."""

    default_code = "unauthorized"


class TooManyAttempts(RecollectError):
    """A refused credential from an address that sent too many of them."""

    default_code = "too_many_attempts"

    def __init__(self, *, retry_after_seconds: int) -> None:
        super().__init__("too many refused credentials from this address")
        self.retry_after_seconds = retry_after_seconds


class RequesterRequired(Unauthenticated):
    """The caller may name the requester in a header, and sent none."""


class RequesterInvalid(Unauthenticated):
    """The caller may name the requester in a header, and the value is no valid id."""


class Forbidden(RecollectError):
    """The caller is known and not allowed to do this."""

    default_code = "forbidden"


class AccessLost(Forbidden):
    """The caller of a stream lost access while it ran."""


class RequesterMismatch(Forbidden):
    """The requester header names another user than the token."""


class RequesterHeaderInvalid(RequesterMismatch):
    """The requester header beside a valid token is no valid id."""


class NotFound(RecollectError):
    """The resource does not exist, or not for this caller."""

    default_code = "not_found"

    def __init__(self, resource: str, id_: str, *, why: str = "") -> None:
        message = f"no such {resource}" + (f": {why}" if why else "")
        super().__init__(message, details={"resource": resource, "id": id_})
        self.resource = resource


class Conflict(RecollectError):
    """The present state of the resource does not allow it."""

    default_code = "conflict"


class RequestStillRunning(Conflict):
    """The same request is running already; its answer will be available soon."""

    retry_after_seconds = 1


class TransferPending(Conflict):
    """A tree has at most one pending transfer; this names the one that exists."""

    default_code = "TRANSFER_ALREADY_PENDING"

    def __init__(self, existing_transfer_id: str) -> None:
        super().__init__("the conversation already has a pending ownership transfer")
        self.existing_transfer_id = existing_transfer_id
        self.details = None


class LimitExceeded(RecollectError):
    """The request or a part of it is too large."""

    default_code = "payload_too_large"


class RecordingFull(LimitExceeded):
    """A recording has reached its maximum size."""


class BadGateway(RecollectError):
    """The call was forwarded from node to node too often."""

    default_code = "bad_gateway"


class Unavailable(RecollectError):
    """The server can't answer now; the caller should try again."""

    default_code = "unavailable"

    def __init__(self, message: str, *, retry_after_seconds: int = 1) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class EmbeddingFailed(Unavailable):
    """No vectors now: the model can't be loaded, or the endpoint is down or returns nonsense."""


class SearchTypeUnavailable(RecollectError):
    """The requested search type is disabled; others may be enabled."""

    default_code = "search_type_unavailable"

    def __init__(self, message: str, available_types: Sequence[str]) -> None:
        super().__init__(message)
        self.available_types = tuple(available_types)


class VectorStoreDisabled(RecollectError):
    """Every search type is disabled."""

    default_code = "vector_store_disabled"

    def __init__(self, message: str = "every kind of search is switched off") -> None:
        super().__init__(message)


class Internal(RecollectError):
    """A fault of the server. The message is for the log, never for the caller."""

    default_code = "internal_error"


class Unreadable(Internal):
    """A stored value can't be decrypted: its key is missing, or it was damaged. The message names
    the row and the key, and never the value."""
