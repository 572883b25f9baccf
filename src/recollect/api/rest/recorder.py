"""REST handlers of recordings: an upload that is recorded as it arrives, server-sent events that
replay it, and a cancel.

If another node has the recording, the request is forwarded to it: unlike gRPC clients, browsers
can't follow a redirect to an internal address."""

from collections.abc import AsyncIterator
from functools import partial

import structlog

from recollect.api.calls import Call, Handler, Reply
from recollect.api.conversation_calls import conversation_of
from recollect.domain.jsontext import dump
from recollect.domain.recordings import Piece, Place
from recollect.errors import InvalidInput, RecollectError, Unavailable
from recollect.ports.forwarding import Forwarded
from recollect.services.forwarding import HOPS_HEADER, unless_gone
from recollect.services.replaying import Elsewhere

# The caller's own credentials, so that the other node authenticates the caller itself, and what
# the replay depends on. No other header crosses nodes.
_PASSED_ON = (
    b"authorization",
    b"x-api-key",
    b"x-requester-id",
    b"x-request-id",
    HOPS_HEADER,
    b"last-event-id",
    b"accept",
)
_EVENTS = b"text/event-stream"
_END = b"event: end\ndata: {}\n\n"
_ALIVE = b":\n\n"
# No line ends in server-sent events, but some clients treat them as such.
_LINE_ENDS = {"\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_log = structlog.get_logger("recollect.rest")


async def record_response(call: Call) -> str:
    """Record the body's text as it arrives. Responds at the end."""
    outcome = await call.services.recorder.record(call.principal, conversation_of(call), call.body)
    return dump({"status": outcome})


async def replay_response(call: Call) -> Reply:
    """A stream of events with text, then an `end` event. 204 if there is nothing to follow: this
    is what stops a browser's EventSource from reconnecting.
    """
    place, forwarded = _place(call), HOPS_HEADER in call.headers
    try:
        return await _replayed(call, place, forwarded=forwarded)
    except Unavailable:
        if place is None or forwarded:
            raise
        # The node that keeps the ended recording may be dead, and a browser does not reconnect
        # after an error. `forwarded=True` skips that node, so the reader gets what runs now, or
        # a 204.
        return await _replayed(call, place, forwarded=True)


async def _replayed(call: Call, place: Place | None, *, forwarded: bool) -> Reply:
    found = await call.services.recorder.replay(
        call.principal, conversation_of(call), place, forwarded=forwarded
    )
    if found is None:
        return Reply(204)
    if isinstance(found, Elsewhere):
        answer = await _ask(call, "GET", found)
        return Reply(
            answer.status,
            media=answer.media,
            headers=answer.headers,
            stream=answer.body,
            endless=True,
        )
    return Reply(200, media=_EVENTS, stream=_events(found), endless=True)


async def cancel_response(call: Call) -> Reply:
    """End the recording, on this node or on the one that has it."""
    recorder, id_ = call.services.recorder, conversation_of(call)
    elsewhere = await recorder.cancel(call.principal, id_)
    if elsewhere is not None:
        # The other node may be dead. While waiting for it, watch the locator: once the location is
        # gone there is nothing left to cancel, which is a success.
        asked = _cancel_there(call, elsewhere)
        reply = await unless_gone(asked, partial(recorder.is_gone, id_, elsewhere), recorder.tempo)
        if reply is not None:
            return reply
    return Reply(200, media=b"text/plain")


async def _cancel_there(call: Call, elsewhere: Elsewhere) -> Reply:
    answer = await _ask(call, "DELETE", elsewhere)
    body = b"".join([chunk async for chunk in answer.body])
    return Reply(answer.status, body, media=answer.media, headers=answer.headers)


async def _ask(call: Call, method: str, elsewhere: Elsewhere) -> Forwarded:
    headers = {name: call.headers[name] for name in _PASSED_ON if name in call.headers}
    path = f"/v1/conversations/{conversation_of(call)}/response"
    return await call.services.forwarding.forward(method, elsewhere.address, path, headers)


def _place(call: Call) -> Place | None:
    sent = call.headers.get(b"last-event-id", b"").decode("latin-1")
    if not sent:
        return None
    place = Place.parse(sent)
    if place is None:
        message = "should be the id of an event of this stream"
        raise InvalidInput(f"Last-Event-ID: {message}", field="Last-Event-ID")
    return place


def _event(piece: Piece) -> bytes:
    data: str = dump({"content": piece.text})
    for letter, escaped in _LINE_ENDS.items():
        data = data.replace(letter, escaped)
    return f"id: {piece.place}\ndata: {data}\n\n".encode()


async def _events(pieces: AsyncIterator[Piece]) -> AsyncIterator[bytes]:
    """The event stream. An error, such as lost access, is an event too: the status is already
    sent."""
    try:
        async for piece in pieces:
            yield _event(piece) if piece.text else _ALIVE
    except RecollectError as error:
        _log.info("replay ended with an error", error=type(error).__name__)
        yield f"event: error\ndata: {dump({'code': error.code})}\n\n".encode()
    else:
        yield _END


HANDLERS: dict[str, Handler] = {
    "recordResponse": record_response,
    "replayResponse": replay_response,
    "cancelResponse": cancel_response,
}
