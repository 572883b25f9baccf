"""Refuses requests with secrets in any of their fields."""

from typing import Any

from recollect.kernel.errors import InvalidInput
from recollect.screening.secrets import SecretLocation, find_secret_in, find_secret_in_id


def refuse_secrets(**fields: Any) -> None:
    """Raise InvalidInput for the first field whose text or JSON value contains a secret.

    Neither the message nor the details repeat any part of it. None counts as empty.
    """
    for name, value in fields.items():
        found = find_secret_in(value, name)
        if found is not None:
            raise secret_refusal(found)


def refuse_secret_ids(**ids: str | None) -> None:
    """Raise InvalidInput for the first id, chosen by a caller, that has the form of a key."""
    for name, identifier in ids.items():
        found = find_secret_in_id(identifier) if identifier else None
        if found is not None:
            raise secret_refusal(SecretLocation(name, found.family))


def secret_refusal(found: SecretLocation) -> InvalidInput:
    """The error for a secret: its field and family."""
    message = f"{found.field}: holds a secret, and secrets are not stored; send it without"
    error = InvalidInput(message, field=found.field, code="secret_refused")
    error.details = {"field": found.field, "family": str(found.family)}
    return error
