"""What the services refuse, in Python's own errors."""

from collections.abc import Iterator
from contextlib import contextmanager

from recollect.errors import (
    Conflict,
    Forbidden,
    InvalidInput,
    LimitExceeded,
    NotFound,
    RecollectError,
)

SECRET_CODE = "secret_refused"  # noqa: S105 - a code of the contract


class SecretRefused(ValueError):
    """What was to be stored holds a secret. Where, and of which family; never the text."""

    def __init__(self, message: str, *, family: str, field: str) -> None:
        super().__init__(message)
        self.family = family
        self.field = field


@contextmanager
def python_errors() -> Iterator[None]:
    """ValueError, SecretRefused and PermissionError; RuntimeError for what the caller can't help,
    such as a database that is away."""
    try:
        yield
    except Forbidden as error:
        raise PermissionError(error.message) from error
    except (InvalidInput, Conflict, NotFound, LimitExceeded) as error:
        raise _value_error(error) from error
    except RecollectError as error:
        raise RuntimeError(error.message) from error


@contextmanager
def opening(name: str) -> Iterator[None]:
    """A store that can't be opened is a RuntimeError that names the argument, and a ValueError
    where a setting is wrong."""
    try:
        yield
    except InvalidInput as error:
        raise ValueError(error.message) from error
    except RecollectError as error:
        raise RuntimeError(f"{name}: {error.message}") from error


def _value_error(error: RecollectError) -> ValueError:
    details = error.details or {}
    if error.code == SECRET_CODE:
        family, field = str(details.get("family")), str(details.get("field"))
        return SecretRefused(error.message, family=family, field=field)
    return ValueError(error.message)
