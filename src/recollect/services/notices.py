"""What a writer should know though the write succeeded."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Notice:
    """A warning in the answer to a write."""

    code: str
    message: str


TERM_IGNORED = Notice(
    "term_ignored",
    "the text seems to say how long to remember it, and names no time to come that is understood;"
    " it was stored as sent: for a term send `ttl_seconds` or `expires_at`",
)


def clamped_notice(rule: str) -> Notice:
    """A ceiling won over a longer wish."""
    return Notice("expiry_clamped", f"a ceiling shortened the asked expiry: {rule}")


def kept_notice(names: Sequence[str]) -> Notice:
    """Something was sent with words that are known, and has no effect on what is known."""
    message = f"the statement is known and keeps what it has: {', '.join(names)}; change it there"
    return Notice("duplicate_kept", message)
