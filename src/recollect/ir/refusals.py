"""Errors of the services, translated into Python's own."""

from collections.abc import Iterator
from contextlib import contextmanager

from recollect.kernel.errors import (
    Conflict,
    Forbidden,
    InvalidInput,
    LimitExceeded,
    NotFound,
    RecollectError,
)

SECRET_CODE = "secret_refused"  # noqa: S105 - a code of the contract


class SecretRefused(ValueError):
    """The entry holds a secret. Has the field and the family of the secret, never the text."""

    def __init__(self, message: str, *, family: str, field: str) -> None:
        super().__init__(message)
        self.family = family
        self.field = field


@contextmanager
def python_errors() -> Iterator[None]:
    """Raise ValueError, SecretRefused or PermissionError instead of the services' errors, and
    RuntimeError for what the caller can't help, such as a database that doesn't answer."""
    try:
        yield
    except Forbidden as error:
        raise PermissionError(error.message) from error
    except (InvalidInput, Conflict, NotFound, LimitExceeded) as error:
        raise _value_error(error) from error
    except RecollectError as error:
        raise RuntimeError(error.message) from error


@contextmanager
def open_errors(name: str) -> Iterator[None]:
    """While a store is opened: ValueError for a wrong setting, else RuntimeError, which names the
    argument of the constructor."""
    try:
        yield
    except InvalidInput as error:
        if (error.details or {}).get("field") == "database.url":  # it comes from the argument
            message = f"{name}: is a folder or no SQLite database; name another file or a new one"
            raise RuntimeError(message) from error
        raise ValueError(error.message) from error
    except RecollectError as error:
        raise RuntimeError(f"{name}: {error.message}") from error


def _value_error(error: RecollectError) -> ValueError:
    details = error.details or {}
    if error.code == SECRET_CODE:
        family, field = str(details.get("family")), str(details.get("field"))
        return SecretRefused(error.message, family=family, field=field)
    return ValueError(error.message)
