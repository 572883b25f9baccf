"""Reads of the audit log: in pages, and as a stream that follows it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from recollect.audit.model import Event, EventCursor, EventFilter
from recollect.audit.policy import EventReader
from recollect.db.transaction import Tx


@dataclass(frozen=True, slots=True)
class EventBatch:
    """Events with their cursors, oldest first. `reached` is how far the log was read; it may lie
    after the last event, where later ones did not match."""

    events: list[tuple[EventCursor, Event]]
    reached: EventCursor


class EventReads(Protocol):
    """Reads of the log on behalf of a reader, whose rights are part of each query."""

    def page(
        self,
        tx: Tx,
        reader: EventReader,
        chosen: EventFilter,
        *,
        after: tuple[datetime, str] | None,
        limit: int,
    ) -> list[Event]:
        """Events ordered by time and id, newest first."""
        ...

    def head_cursor(self, tx: Tx) -> EventCursor:
        """The last position up to which the log is final: no running transaction can add an event
        at or before it."""
        ...

    def follow(
        self, tx: Tx, reader: EventReader, chosen: EventFilter, *, after: EventCursor, limit: int
    ) -> EventBatch:
        """Events after a cursor, up to the final part of the log. So a reader that continues from
        `reached` misses none, and lags behind the longest running transaction."""
        ...

    def count(
        self,
        tx: Tx,
        *,
        kind: str,
        action: str,
        since: datetime,
        limit: int,
        tags: Sequence[str] = (),
    ) -> int:
        """How many events of a type there were since an instant; with `tags` only those that have
        one of them in their payload. Counting stops at `limit`."""
        ...
