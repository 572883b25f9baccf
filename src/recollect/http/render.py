"""Rendering of values in the memory API."""

from datetime import datetime

from recollect.kernel.clock import to_text


def instant_text(at: datetime | None) -> str | None:
    """An instant as ISO-8601 text; None stays None."""
    return None if at is None else to_text(at)
