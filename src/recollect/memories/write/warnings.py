"""Warnings in the answer to a write that succeeded."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WriteWarning:
    """A warning for the writer. `code` is part of the API."""

    code: str
    message: str


EXPIRY_IGNORED = WriteWarning(
    "term_ignored",
    "the text seems to say how long to remember it, but no future time was understood; it was"
    " stored as sent: to set an expiry send `ttl_seconds` or `expires_at`",
)


def clamped_warning(rule: str) -> WriteWarning:
    """A ceiling shortened the expiry that was asked for."""
    return WriteWarning("expiry_clamped", f"a ceiling shortened the requested expiry: {rule}")


def duplicate_warning(names: Sequence[str]) -> WriteWarning:
    """These fields were sent with a text that is stored already, and had no effect on its row."""
    message = f"the statement exists and keeps its own values: {', '.join(names)}; use PATCH"
    return WriteWarning("duplicate_kept", message)
