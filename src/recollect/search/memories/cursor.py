"""The cursor of a page of memory hits: the position behind the page's last hit."""

import base64
import math
import struct
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from recollect.kernel.pages import unknown_cursor_error
from recollect.kernel.strict_json import text_problem

# Score, scale, instant in microseconds, with a vector or not, fingerprint. The id has no fixed
# length and follows.
_FIXED = struct.Struct(">ddq?8s")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TICK = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class MemoryPosition:
    """The last hit of a page. The next page is scored in the same way: at the same instant, with
    the same scale, and with a query vector or without. Else its scores could not be compared with
    this one."""

    score: float
    memory_id: str
    scale: float
    at: datetime
    with_meaning: bool

    def is_followed_by(self, score: float, memory_id: str) -> bool:
        """Whether a hit with this score and id comes after the position."""
        return (score, memory_id) < (self.score, self.memory_id)

    def to_cursor(self, fingerprint: bytes) -> str:
        """Encode the position as an opaque cursor, bound to the search by its fingerprint."""
        instant = (self.at - _EPOCH) // _TICK
        fixed = _FIXED.pack(self.score, self.scale, instant, self.with_meaning, fingerprint)
        return base64.urlsafe_b64encode(fixed + self.memory_id.encode()).decode().rstrip("=")

    @classmethod
    def from_cursor(cls, cursor: str, fingerprint: bytes) -> "MemoryPosition":
        """Decode a cursor. Raises the error for unknown cursors if it is malformed or belongs to
        another search. Every number is checked, because the cursor comes from outside."""
        try:
            raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
            score, scale, instant, with_meaning, made_for = _FIXED.unpack(raw[: _FIXED.size])
            memory_id = raw[_FIXED.size :].decode()
            at = _EPOCH + instant * _TICK
        except (ValueError, struct.error, OverflowError):
            raise unknown_cursor_error() from None
        genuine = made_for == fingerprint and math.isfinite(score) and 0 < scale < math.inf
        if not genuine or not memory_id or text_problem(memory_id):
            raise unknown_cursor_error()
        return cls(score, memory_id, scale, at, with_meaning)
