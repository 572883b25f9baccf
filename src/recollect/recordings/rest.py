"""The REST operations of recordings: an upload that is recorded as it arrives, server-sent events
that replay it, and a cancel.

If another node has the recording, the request is forwarded to it: unlike gRPC clients, browsers
can't follow a redirect to an internal address."""

from collections.abc import AsyncIterator
from functools import partial

import structlog

from recollect.conversations.requests import path_conversation_id
from recollect.http.call import Call, Handler, Reply
from recollect.http.operation import PLAIN_TEXT, Operation, conversation_operation
from recollect.http.params import Schema
from recollect.http.schemas import TEXT, describe, object_schema
from recollect.kernel.errors import AccessLost, InvalidInput, RecollectError, Unavailable
from recollect.kernel.strict_json import dump
from recollect.recordings.forwarder import ForwardedResponse
from recollect.recordings.forwarding import HOPS_HEADER, ForwardingService, wait_for_node
from recollect.recordings.model import (
    RecordingChunk,
    RecordingEnd,
    RecordingStatus,
    ReplayCursor,
    ReplayItem,
)
from recollect.recordings.replay import RemoteNode
from recollect.recordings.service import RecorderService

# The caller's own credentials, so that the other node authenticates the caller itself, and what
# the replay depends on. No other header crosses nodes.
_FORWARDED_HEADERS = (
    b"authorization",
    b"x-api-key",
    b"x-requester-id",
    b"x-request-id",
    HOPS_HEADER,
    b"last-event-id",
    b"accept",
)
_EVENT_STREAM = b"text/event-stream"
_KEEP_ALIVE = b":\n\n"
# No line ends in server-sent events, but some clients treat them as such.
_LINE_ENDS = {"\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_log = structlog.get_logger("recollect.rest")

_REPLAYED = 'id: 15\ndata: You need your pa\n\nevent: end\ndata: {"status":"success"}\n\n'
RESOURCES: dict[str, Schema] = {
    "RecordOutcome": object_schema(
        {"status": describe(TEXT | {"enum": ["success", "cancelled"]}, "How it ended.")}
    ),
}
_PATH = "/v1/conversations/{id}/response"
OPERATIONS: tuple[Operation, ...] = (
    conversation_operation(
        "recordResponse",
        f"POST {_PATH}",
        200,
        "Record a response while it is being made: the body is its text, sent as it comes. Answers "
        "at the end, with how it ended. Needs level writer.",
        response="RecordOutcome",
        takes=PLAIN_TEXT,
        sent_text="You need your passport and the rental contract.",
        refusals=(400, 409, 413, 415),
    ),
    conversation_operation(
        "replayResponse",
        f"GET {_PATH}",
        200,
        "Follow a response that is being recorded, from its beginning or from behind the place "
        "that `Last-Event-ID` names, as server-sent events; `status` of the event `end` says how "
        "the recording ended. 204 if there is nothing to follow.",
        media="text/event-stream",
        answered_text=_REPLAYED,
        refusals=(400, 502),
    ),
    conversation_operation(
        "cancelResponse",
        f"DELETE {_PATH}",
        200,
        "End the recording of a response. Answers once it is closed, also if there was none. Needs "
        "level writer.",
        media=PLAIN_TEXT,
        answered_text="\n",
        refusals=(409, 502),
    ),
)


async def record_response(call: Call) -> str:
    """Record the body's text as it arrives. Responds at the end."""
    outcome = await call.services[RecorderService].record(
        call.principal, path_conversation_id(call), call.body
    )
    done = outcome is RecordingStatus.COMPLETED
    return dump({"status": "success" if done else "cancelled"})


async def replay_response(call: Call) -> Reply:
    """A stream of events with text, then an `end` event that says how it ended. 204 if there is
    nothing to follow: this is what stops a browser's EventSource from reconnecting.
    """
    place, forwarded = _parse_cursor(call), HOPS_HEADER in call.headers
    try:
        return await _try_replay(call, place, forwarded=forwarded)
    except Unavailable:
        if place is None or forwarded:
            raise
        # The node that keeps the ended recording may be dead, and a browser does not reconnect
        # after an error. `forwarded=True` skips that node, so the reader gets what runs now, or
        # a 204.
        return await _try_replay(call, place, forwarded=True)


async def _try_replay(call: Call, place: ReplayCursor | None, *, forwarded: bool) -> Reply:
    found = await call.services[RecorderService].replay(
        call.principal, path_conversation_id(call), place, forwarded=forwarded
    )
    if found is None:
        return Reply(204)
    if isinstance(found, RemoteNode):
        answer = await _forward(call, "GET", found)
        return Reply(
            answer.status,
            media=answer.media,
            headers=answer.headers,
            stream=answer.body,
            endless=True,
        )
    return Reply(200, media=_EVENT_STREAM, stream=_replay_events(found), endless=True)


async def cancel_response(call: Call) -> Reply:
    """End the recording, on this node or on the one that has it."""
    recorder, id_ = call.services[RecorderService], path_conversation_id(call)
    elsewhere = await recorder.cancel(call.principal, id_)
    if elsewhere is not None:
        # The other node may be dead. While waiting for it, watch the locator: once the location is
        # gone there is nothing left to cancel, which is a success.
        request = _cancel_remote(call, elsewhere)
        reply = await wait_for_node(
            request, partial(recorder.has_left_node, id_, elsewhere), recorder.timing
        )
        if reply is not None:
            return reply
    return Reply(200, media=b"text/plain")


async def _cancel_remote(call: Call, elsewhere: RemoteNode) -> Reply:
    answer = await _forward(call, "DELETE", elsewhere)
    body = b"".join([chunk async for chunk in answer.body])
    return Reply(answer.status, body, media=answer.media, headers=answer.headers)


async def _forward(call: Call, method: str, elsewhere: RemoteNode) -> ForwardedResponse:
    headers = {name: call.headers[name] for name in _FORWARDED_HEADERS if name in call.headers}
    path = _PATH.format(id=path_conversation_id(call))
    return await call.services[ForwardingService].forward(method, elsewhere.address, path, headers)


def _parse_cursor(call: Call) -> ReplayCursor | None:
    sent = call.headers.get(b"last-event-id", b"").decode("latin-1")
    if not sent:
        return None
    place = ReplayCursor.parse(sent)
    if place is None:
        message = "should be the id of an event of this stream"
        raise InvalidInput(f"Last-Event-ID: {message}", field="Last-Event-ID")
    return place


def _chunk_event(piece: RecordingChunk) -> bytes:
    data: str = dump({"content": piece.text})
    for letter, escaped in _LINE_ENDS.items():
        data = data.replace(letter, escaped)
    return f"id: {piece.place}\ndata: {data}\n\n".encode()


def _end_event(status: RecordingStatus) -> bytes:
    return f"event: end\ndata: {dump({'status': status})}\n\n".encode()


async def _replay_events(pieces: AsyncIterator[ReplayItem]) -> AsyncIterator[bytes]:
    """The event stream. An error, such as an expired token, is an event too: the HTTP status is
    already sent."""
    try:
        async for piece in pieces:
            if isinstance(piece, RecordingEnd):
                yield _end_event(piece.status)
            else:
                yield _chunk_event(piece) if piece.text else _KEEP_ALIVE
    except AccessLost:
        yield _end_event(RecordingStatus.FORBIDDEN)
    except RecollectError as error:
        _log.info("replay ended with an error", error=type(error).__name__)
        yield f"event: error\ndata: {dump({'code': error.code})}\n\n".encode()


HANDLERS: dict[str, Handler] = {
    "recordResponse": record_response,
    "replayResponse": replay_response,
    "cancelResponse": cancel_response,
}
