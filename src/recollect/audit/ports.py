"""Reads of the audit log: in pages, and as a stream that follows it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from recollect.audit.model import Event, EventCursor, EventFilter
from recollect.audit.policy import EventReader
from recollect.db.transaction import Tx
from recollect.idempotency.ports import IdempotencyStores
from recollect.kernel.ids import AgentId
from recollect.kernel.space import Space


@dataclass(frozen=True, slots=True)
class EventBatch:
    """Events with their cursors, oldest first. `reached` is how far the log was read; it may lie
    after the last event, where later ones did not match."""

    events: list[tuple[EventCursor, Event]]
    reached: EventCursor


class MemoryLocation(NamedTuple):
    """The space of a stored memory, and the agent that it belongs to."""

    space: Space
    agent_id: AgentId | None


class EventReads(Protocol):
    """Reads of the log on behalf of a reader, whose rights are part of each query."""

    def page(
        self,
        tx: Tx,
        reader: EventReader,
        filters: EventFilter,
        *,
        after: tuple[datetime, str] | None,
        limit: int,
    ) -> list[Event]:
        """Events ordered by time and id, newest first."""
        ...

    def find_memory(self, tx: Tx, memory_id: str) -> MemoryLocation | None:
        """Where a memory is kept; None if there is none of this id."""
        ...

    def head_cursor(self, tx: Tx) -> EventCursor:
        """The last position up to which the log is final: no running transaction can add an event
        at or before it."""
        ...

    def follow(
        self, tx: Tx, reader: EventReader, filters: EventFilter, *, after: EventCursor, limit: int
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


class EventStore(Protocol):
    """The audit log."""

    def insert(self, tx: Tx, event: Event) -> None:
        """Insert it in the transaction of the change that it records."""
        ...

    def insert_once(self, tx: Tx, event: Event) -> None:
        """Insert it unless its id exists: others may write the same event at this moment."""
        ...

    def fetch(self, tx: Tx, event_id: str) -> Event | None:
        """One event."""
        ...

    def page(self, tx: Tx, filters: EventFilter, *, after: Event | None, limit: int) -> list[Event]:
        """Newest first."""
        ...

    def add_count(self, tx: Tx, event_id: str, count: int) -> None:
        """Add to the count of an event that records work done in several transactions."""
        ...

    def delete_before(self, tx: Tx, cutoff: datetime, *, limit: int) -> int:
        """Delete up to `limit` events older than `cutoff`; returns how many."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditStores(IdempotencyStores):
    """The stores of this package and of those below."""

    events: EventStore
    event_reads: EventReads
