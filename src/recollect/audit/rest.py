"""The operation that lists events of a caller's own spaces."""

from collections.abc import AsyncIterator
from typing import Any

import structlog

from recollect.audit.model import (
    AuditOutcome,
    Event,
    EventFilter,
    EventKind,
    EventLevel,
    decode_event_cursor,
    encode_event_cursor,
)
from recollect.audit.service import EventService, EventStreamItem
from recollect.http.call import Call, Handler, Reply
from recollect.http.examples import EVENT_ID, MEMORY_ID, USER_ID
from recollect.http.operation import (
    ID,
    LIST,
    Operation,
    id_param,
    justification_param,
    memory_operation,
    nullable_field,
    resource,
)
from recollect.http.params import (
    Param,
    Schema,
    instant_param,
    require_storable_text,
)
from recollect.http.render import instant_text
from recollect.http.schemas import INSTANT, OBJECT, TEXT, describe
from recollect.kernel.errors import RecollectError, ValidationFailed
from recollect.kernel.strict_json import dump

_TYPE_CHARS_MAX = 64


def _parse_event_type(value: str) -> tuple[str, str]:
    kind, dot, action = require_storable_text(value).partition(".")
    if not (dot and action and kind in {str(known) for known in EventKind}):
        raise ValueError("must be a kind of event, a dot and an action, such as memory.write")
    return kind, action


RESOURCES: dict[str, Schema] = {
    "MemoryEvent": resource(
        {
            "id": describe(ID, "The id of the event.", EVENT_ID),
            "event_type": describe(TEXT, "What happened: a kind and an action.", "memory.write"),
            "timestamp": describe(INSTANT, "When it happened."),
            "level": describe(
                {"type": "string", "enum": [str(level) for level in EventLevel]},
                "How much it matters to an operator.",
                "info",
            ),
            "message": describe(
                TEXT, "What happened, for people.", f"memory.write, memory {MEMORY_ID}"
            ),
            "run_id": describe(nullable_field(TEXT), "The run that it belongs to."),
            "agent_slug": describe(nullable_field(TEXT), "The agent that it belongs to."),
            "requester_id": describe(nullable_field(TEXT), "Who asked for it.", USER_ID),
            "outcome": describe(
                {"type": "string", "enum": [str(outcome) for outcome in AuditOutcome]},
                "Whether it was allowed.",
            ),
            "payload": describe(
                OBJECT, "Ids and counts, by type; never a text.", {"memory_id": MEMORY_ID}
            ),
        }
    )
}

OPERATIONS: tuple[Operation, ...] = (
    memory_operation(
        "listEvents",
        "GET /v1/events",
        200,
        "List what happened in the caller's own spaces, the newest first; an auditor sees all. "
        "With `Accept: text/event-stream` the answer is a stream instead: from `after` or "
        "`Last-Event-ID` on (else from `from`, else from now), the oldest first, and then as it "
        "happens.",
        response="MemoryEvent",
        query=(
            Param(
                "event_type",
                _parse_event_type,
                {"type": "string", "minLength": 3, "maxLength": _TYPE_CHARS_MAX},
                "Only events of this type, such as `memory.write`.",
            ),
            id_param("memory_id", "Only events of this memory."),
            id_param("agent_id", "Only events of this agent."),
            id_param("run_id", "Only events of this run."),
            instant_param("from", "Only events of this instant or later."),
            instant_param("to", "Only events before this instant."),
            justification_param("Why an auditor looks; it goes to the audit log."),
        ),
        paging=LIST,
        streams=True,
    ),
)


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
    page = await call.services[EventService].list(
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
    steps = await call.services[EventService].follow(
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
    payload = {name: getattr(event, name) for name in _PAYLOAD_COLUMNS}
    payload["memory_id"] = event.memory_id
    return {name: value for name, value in payload.items() if value is not None} | event.params


HANDLERS: dict[str, Handler] = {"listEvents": list_events}
