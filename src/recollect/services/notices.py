"""Warnings in the answer to a write that succeeded."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Notice:
    """A warning for the writer. `code` is part of the API."""

    code: str
    message: str


TERM_IGNORED = Notice(
    "term_ignored",
    "the text seems to say how long to remember it, but no future time was understood; it was"
    " stored as sent: to set an expiry send `ttl_seconds` or `expires_at`",
)


def clamped_notice(rule: str) -> Notice:
    """A ceiling shortened the expiry that was asked for."""
    return Notice("expiry_clamped", f"a ceiling shortened the requested expiry: {rule}")


def kept_notice(names: Sequence[str]) -> Notice:
    """These fields were sent with a text that is stored already, and had no effect on its row."""
    message = f"the statement exists and keeps its own values: {', '.join(names)}; use PATCH"
    return Notice("duplicate_kept", message)
