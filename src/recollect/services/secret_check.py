"""No secret is stored, whatever member of a request holds it."""

from typing import Any

from recollect.domain.secrets import SecretFound, find_secret_in
from recollect.errors import InvalidInput


def refuse_secrets(**fields: Any) -> None:
    """Refuse the first field, by its name, whose text or JSON value holds a secret; None holds
    nothing. Neither the message nor the details repeat any of it."""
    for name, value in fields.items():
        found = find_secret_in(value, name)
        if found is not None:
            raise secret_refused(found)


def secret_refused(found: SecretFound) -> InvalidInput:
    """The refusal: where, and of which family."""
    message = f"{found.field}: holds a secret, and secrets are not stored; send it without"
    error = InvalidInput(message, field=found.field, code="secret_refused")
    error.details = {"field": found.field, "family": str(found.family)}
    return error
