"""The audit log for its readers: pages of past events, and a stream that follows the log."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from recollect.audit.event_recorder import AuditName, EventRecorder
from recollect.audit.gate import GateService
from recollect.audit.model import Event, EventCursor, EventFilter, EventKind
from recollect.audit.policy import EventReader
from recollect.audit.ports import AuditStores, EventBatch
from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.identity.actions import Action
from recollect.identity.requester import Requester
from recollect.kernel.errors import Unavailable
from recollect.kernel.pages import Page, decode_key, encode_key

_CURSOR_NAME = "events"
LIFETIME_SECONDS = 3_600
RETRY_SECONDS = 10
_BATCH_ROWS = 100
_LOG_START = EventCursor(0, "00000000-0000-0000-0000-000000000000")
_AUDIT_NAME = AuditName(EventKind.ADMIN_READ, "listEvents")


@dataclass(frozen=True, slots=True)
class EventStreamPacing:
    """How often a stream polls the database, after how much silence it sends its cursor, and how
    many streams may be open: each costs a query per poll."""

    poll_seconds: float
    silence_seconds: float
    streams_max: int


@dataclass(frozen=True, slots=True)
class EventStreamItem:
    """One item of a stream: an event, or without one only the cursor that it has reached."""

    place: EventCursor
    event: Event | None = None


class EventService:
    """Owners read events of their own spaces. An auditor reads all, and each read is audited."""

    def __init__(
        self, context: ServiceContext[AuditStores], gate: GateService, *, pace: EventStreamPacing
    ) -> None:
        self._database = context.database
        self._stores = context.stores
        self._auditor = EventRecorder(context.stores, context.runtime)
        self._clock = context.runtime.clock
        self._gate = gate
        self._pace = pace
        self._open = 0

    async def list(
        self,
        requester: Requester,
        filters: EventFilter,
        *,
        after: str | None,
        limit: int,
        justification: str | None = None,
    ) -> Page[Event]:
        """A page of events, newest first."""
        place = decode_key(_CURSOR_NAME, after) if after else None
        reader = await self._admit_reader(requester, justification)
        found = await self._database.read(
            lambda tx: self._stores.event_reads.page(
                tx, reader, filters, after=place, limit=limit + 1
            )
        )
        page = found[:limit]
        more = len(found) > limit
        return Page(page, encode_key(_CURSOR_NAME, page[-1].at, page[-1].id) if more else None)

    async def follow(
        self,
        requester: Requester,
        filters: EventFilter,
        *,
        after: EventCursor | None,
        justification: str | None = None,
    ) -> AsyncIterator[EventStreamItem]:
        """A stream of events after the cursor, oldest first, that goes on with new ones. Without a
        cursor it starts with `chosen.since`, or now.

        Refusals are raised before the first item; Unavailable if too many streams are open. The
        stream ends after an hour, or when the token or the API key ends, so that a reader has to
        present a credential again to continue.
        """
        reader = await self._admit_reader(requester, justification)
        start = after
        if start is None:
            start = await self._database.read(lambda tx: self._start_cursor(tx, filters))
        if self._open >= self._pace.streams_max:
            raise Unavailable("too many streams are open", retry_after_seconds=RETRY_SECONDS)
        return self._track_stream(requester, self._stream_items(reader, filters, start))

    async def _track_stream(
        self, requester: Requester, steps: AsyncIterator[EventStreamItem]
    ) -> AsyncIterator[EventStreamItem]:
        # Counted inside the generator and not in `follow`: a stream that is never iterated must not
        # take a place for ever, as its `finally` would never run.
        self._open += 1
        try:
            async for step in steps:
                if await requester.principal.has_ended(self._clock.now()):
                    return
                yield step
        finally:
            self._open -= 1

    async def _stream_items(
        self, reader: EventReader, filters: EventFilter, place: EventCursor
    ) -> AsyncIterator[EventStreamItem]:
        """The items of a stream.

        The first item is only a cursor: a reader who loses the connection before the first event
        can continue from there. The cursor advances to `reached` even if nothing matched, and is
        sent again after a silence, so that a reconnect does not read the same part of the log
        again. A full batch means that there is more, so the next one is read without a pause.
        """
        yield EventStreamItem(place)
        now = asyncio.get_running_loop().time
        told_at, end = now(), now() + LIFETIME_SECONDS
        while now() < end:
            found = await self._database.read(self._batch_reader(reader, filters, place))
            for where, event in found.events:
                yield EventStreamItem(where, event)
                told_at = now()
            place = found.reached
            if len(found.events) == _BATCH_ROWS:
                continue
            if now() - told_at >= self._pace.silence_seconds:
                yield EventStreamItem(place)
                told_at = now()
            await asyncio.sleep(self._pace.poll_seconds)

    def _batch_reader(
        self, reader: EventReader, filters: EventFilter, place: EventCursor
    ) -> Callable[[Tx], EventBatch]:
        return lambda tx: self._stores.event_reads.follow(
            tx, reader, filters, after=place, limit=_BATCH_ROWS
        )

    def _start_cursor(self, tx: Tx, filters: EventFilter) -> EventCursor:
        return self._stores.event_reads.head_cursor(tx) if filters.since is None else _LOG_START

    async def _admit_reader(self, requester: Requester, justification: str | None) -> EventReader:
        reader = EventReader.from_requester(requester)
        if reader.everything:
            await self._gate.admit(
                requester.principal,
                Action.ADMIN_READ,
                audit=_AUDIT_NAME,
                conversation_id=None,
                justification=justification,
            )
            # Written before anything is read: an auditor's read that fails later is recorded too.
            await self._database.write(
                lambda tx: self._auditor.record_admin(
                    tx, requester.principal, _AUDIT_NAME, justification=justification
                )
            )
        return reader
