"""The error tree. One class a kind; adapters look at the kind alone.

`code` is stable and public. A message says what was wrong, with which value, and what would be
right; it holds no SQL, no path of the machine and no personal data.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule of a request's syntax: which member, and what would be right."""

    field: str
    message: str
    allowed: tuple[str, ...] = ()

    @property
    def members(self) -> dict[str, Any]:
        """As it is shown."""
        shown: dict[str, Any] = {"field": self.field, "message": self.message}
        return shown | ({"allowed": list(self.allowed)} if self.allowed else {})


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
            "violations": [violation.members for violation in violations],
        }

    @classmethod
    def of(cls, field: str, message: str, *, allowed: Sequence[str] = ()) -> "ValidationFailed":
        """The common case: one member is wrong."""
        return cls(f"{field}: {message}", [Violation(field, message, tuple(allowed))])


class EmptyEntry(InvalidInput):
    """A user's append that holds no text, event or attachment."""

    default_code = "invalid_request"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.details = None


class JustificationRequired(InvalidInput):
    """Admin calls need a reason here, and none was given."""

    default_code = "JUSTIFICATION_REQUIRED"

    def __init__(self) -> None:
        super().__init__("this server wants a `justification` on every admin call")
        self.details = None


class Unauthenticated(RecollectError):
    """Nobody, or somebody we can't believe."""

    default_code = "unauthorized"


class RequesterRequired(Unauthenticated):
    """Where a caller's word is believed, and none was given."""


class RequesterInvalid(Unauthenticated):
    """Where a caller's word is believed, and it can't be anybody's name."""


class Forbidden(RecollectError):
    """Known caller, not allowed."""

    default_code = "forbidden"


class RequesterMismatch(Forbidden):
    """The header names somebody else than the token does."""


class RequesterUnfit(RequesterMismatch):
    """The header beside a good token can't be anybody's name."""


class NotFound(RecollectError):
    """The thing does not exist for this caller."""

    default_code = "not_found"

    def __init__(self, resource: str, id_: str) -> None:
        super().__init__(f"no such {resource}", details={"resource": resource, "id": id_})
        self.resource = resource


class Conflict(RecollectError):
    """The state of the thing forbids it now."""

    default_code = "conflict"


class StillRunning(Conflict):
    """The same request runs already; its answer can be had in a while."""

    retry_after_seconds = 1


class TransferPending(Conflict):
    """A tree has at most one pending transfer; this names the one that exists."""

    default_code = "TRANSFER_ALREADY_PENDING"

    def __init__(self, existing_transfer_id: str) -> None:
        super().__init__("the conversation already has a pending ownership transfer")
        self.existing_transfer_id = existing_transfer_id
        self.details = None


class LimitExceeded(RecollectError):
    """Too large."""

    default_code = "payload_too_large"


class RecordingFull(LimitExceeded):
    """A recording has as many bytes as it may have."""


class BadGateway(RecollectError):
    """Another node has it, and the way there leads in circles."""

    default_code = "bad_gateway"


class Unavailable(RecollectError):
    """Can't answer now; try again later."""

    default_code = "unavailable"

    def __init__(self, message: str, *, retry_after_seconds: int = 1) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class EmbeddingFailed(Unavailable):
    """No vectors now: the model can't be loaded, the endpoint is down, or what it says is wrong."""


class SearchTypeUnavailable(RecollectError):
    """The asked search type is switched off; others may be on."""

    default_code = "search_type_unavailable"

    def __init__(self, message: str, available_types: Sequence[str]) -> None:
        super().__init__(message)
        self.available_types = tuple(available_types)


class VectorStoreDisabled(RecollectError):
    """No search type is switched on at all."""

    default_code = "vector_store_disabled"

    def __init__(self, message: str = "every kind of search is switched off") -> None:
        super().__init__(message)


class Internal(RecollectError):
    """A fault of ours. The message is for the log, never for the caller."""

    default_code = "internal_error"
