"""The handler of `GET /v1/events`: a page as JSON, or a stream of server-sent events."""

from collections.abc import AsyncIterator
from typing import Any

import structlog

from recollect.api.calls import Call, Handler, Reply
from recollect.api.handlers.shapes import instant_text
from recollect.domain.events import Event, EventFilter, decode_event_cursor, encode_event_cursor
from recollect.domain.jsontext import dump
from recollect.errors import RecollectError, ValidationFailed
from recollect.services.events import EventStreamItem

_log = structlog.get_logger("recollect.rest")
# Fields of Event that have no field of their own in the JSON and go into its payload.
_PAYLOAD_COLUMNS = (
    "conversation_id",
    "target_user_id",
    "from_level",
    "to_level",
    "transfer_id",
    "count",
)


def event_to_json(event: Event) -> str:
    """The event as JSON."""
    return dump(
        {
            "id": event.id,
            "event_type": event.event_type,
            "timestamp": instant_text(event.at),
            "level": event.level,
            "message": event.message,
            "run_id": event.run_id,
            "agent_slug": event.agent_id,
            "requester_id": event.actor_user_id,
            "outcome": event.outcome,
            "payload": _event_payload(event),
        }
    )


async def list_events(call: Call) -> bytes | Reply:
    """A page of events, or with `Accept: text/event-stream` a stream of them."""
    if b"text/event-stream" in call.headers.get(b"accept", b"").lower():
        return await _open_stream(call)
    page = await call.services.events.list(
        call.required_requester,
        _event_filter(call),
        after=call.page.after,
        limit=call.page.size,
        justification=call.query["justification"],
    )
    return call.render_page(map(event_to_json, page.items), page.next_cursor)


async def _open_stream(call: Call) -> Reply:
    sent = call.headers.get(b"last-event-id", b"").decode("latin-1")
    if sent and call.page.after and sent != call.page.after:
        raise ValidationFailed.for_field("after", "must not differ from the header `Last-Event-ID`")
    cursor = sent or call.page.after
    steps = await call.services.events.follow(
        call.required_requester,
        _event_filter(call),
        after=decode_event_cursor(cursor) if cursor else None,
        justification=call.query["justification"],
    )
    return Reply(200, media=b"text/event-stream", stream=_stream_blocks(steps), endless=True)


async def _stream_blocks(steps: AsyncIterator[EventStreamItem]) -> AsyncIterator[bytes]:
    """The items as blocks of server-sent events. The status has been sent by then, so if the log
    can't be read the stream just ends; the client reconnects with the last id."""
    try:
        async for step in steps:
            yield _to_sse_block(step)
    except RecollectError as error:
        _log.warning("a stream of events ended", error=type(error).__name__)


def _to_sse_block(step: EventStreamItem) -> bytes:
    """An item as a block. Without an event it is a comment with an id, from which the client can
    continue."""
    id_ = f"id: {encode_event_cursor(step.place)}\n"
    if step.event is None:
        return f": no more events up to here\n{id_}\n".encode()
    return f"{id_}event: {step.event.event_type}\ndata: {event_to_json(step.event)}\n\n".encode()


def _event_filter(call: Call) -> EventFilter:
    query = call.query
    kind, action = query["event_type"] or (None, None)
    return EventFilter(
        kind=kind,
        action=action,
        memory_id=query["memory_id"],
        agent_id=query["agent_id"],
        run_id=query["run_id"],
        since=query["from"],
        until=query["to"],
    )


def _event_payload(event: Event) -> dict[str, Any]:
    beside = {name: getattr(event, name) for name in _PAYLOAD_COLUMNS}
    beside["memory_id"] = event.memory_id
    return {name: value for name, value in beside.items() if value is not None} | event.params


HANDLERS: dict[str, Handler] = {"listEvents": list_events}
