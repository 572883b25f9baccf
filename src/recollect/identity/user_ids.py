"""What a user id or client id may look like."""

import unicodedata

from recollect.kernel.validation import DOT_SEGMENT, is_dot_segment

LENGTH_MAX = 255
_FORBIDDEN_CATEGORIES = ("Cc", "Cs")


def id_problem(name: object) -> str | None:
    """What is wrong with the id, for an error message; None if it is valid."""
    if not isinstance(name, str):
        return "must be a string"
    if not 1 <= len(name) <= LENGTH_MAX:
        return f"must have 1 to {LENGTH_MAX} characters"
    if not name.isprintable() and any(
        unicodedata.category(c) in _FORBIDDEN_CATEGORIES for c in name
    ):
        return "must not contain control characters or lone surrogates"
    if is_dot_segment(name):
        return DOT_SEGMENT
    return None
