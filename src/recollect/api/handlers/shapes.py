"""Values as the memory family shows them: all members, null included."""

from datetime import datetime

from recollect.domain.clock import to_text


def instant(at: datetime | None) -> str | None:
    """An instant's text, or null."""
    return None if at is None else to_text(at)
