"""How the audit log is read by those whom it tells of: a page at a time, or as it grows."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from recollect.domain.events import Event, EventFilter, EventPlace
from recollect.policy.events import EventReader
from recollect.ports.database import Tx


@dataclass(frozen=True, slots=True)
class Followed:
    """Events with their places, oldest first, and how far the log was looked through."""

    events: list[tuple[EventPlace, Event]]
    reached: EventPlace


class EventReads(Protocol):
    """Every read says for whom."""

    def page(
        self,
        tx: Tx,
        reader: EventReader,
        chosen: EventFilter,
        *,
        after: tuple[datetime, str] | None,
        limit: int,
    ) -> list[Event]:
        """By instant and id, newest first."""
        ...

    def head(self, tx: Tx) -> EventPlace:
        """The last place at which nothing can appear any more."""
        ...

    def follow(
        self, tx: Tx, reader: EventReader, chosen: EventFilter, *, after: EventPlace, limit: int
    ) -> Followed:
        """What became visible behind a place. An event is passed over only when no event can
        appear before it any more, so a reader that goes on from `reached` misses none."""
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
        """How many events of a type there were since an instant, with `tags` only those that tell
        of one of them; counting stops at `limit`."""
        ...
