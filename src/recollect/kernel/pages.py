"""Pages and opaque cursors. A page has a cursor only if another item exists."""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from recollect.kernel.clock import from_text, to_text
from recollect.kernel.errors import InvalidInput
from recollect.kernel.strict_json import text_problem

LIMIT_MAX = 1_000

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Items in order, and the cursor of the next page, None at the end."""

    items: Sequence[T]
    next_cursor: str | None


def unknown_cursor_error(field: str = "after") -> InvalidInput:
    """The error for an unknown cursor: a list must not restart silently."""
    return InvalidInput("the cursor is unknown here; start again without it", field=field)


def encode_key(list_name: str, at: datetime, key: str) -> str:
    """An opaque cursor that holds the sort key, so it works even if its row was deleted."""
    text = json.dumps([list_name, to_text(at), key], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode_key(list_name: str, cursor: str, *, field: str = "after") -> tuple[datetime, str]:
    """The inverse of `encode_key`. Raises InvalidInput, naming `field`, for a cursor of another
    list or a made-up one."""
    # Encoding the result again must give the same text: so each position has one valid cursor.
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        name, at, key = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        instant = from_text(at)
        genuine = name == list_name and encode_key(name, instant, key) == cursor
    except (ValueError, TypeError, OverflowError, RecursionError):
        raise unknown_cursor_error(field) from None
    if not genuine or not isinstance(key, str) or text_problem(key):
        raise unknown_cursor_error(field)
    return instant, key
