"""What comes and goes in pieces: responses that are recorded and followed while they are made,
exports and imports."""

import json
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Mapping
from dataclasses import replace
from typing import Any

from recollect_client import models
from recollect_client._async.call import AsyncCaller
from recollect_client._async.waiting import asleep
from recollect_client.errors import (
    CLOSED,
    Forbidden,
    Interrupted,
    InvalidInput,
    RecollectError,
    Unavailable,
    error_from,
    read_answer,
)
from recollect_client.table import OPERATIONS
from recollect_client.values import Response, check_encodable, encode_body

RECORD = OPERATIONS["recordResponse"]
REPLAY = OPERATIONS["replayResponse"]
CANCEL = OPERATIONS["cancelResponse"]
EXPORT = OPERATIONS["exportMemories"]
IMPORT = OPERATIONS["importMemories"]
_TEXT = "text/plain; charset=utf-8"
_LINES = "application/x-ndjson"


async def respond(
    caller: AsyncCaller, conversation_id: str, pieces: AsyncIterable[str]
) -> models.RecordOutcome:
    """Record the pieces as they come. It is not tried again: the pieces are gone by then."""
    if not isinstance(pieces, AsyncIterable):
        raise TypeError(f"pieces: must be texts, one after the other, not {type(pieces).__name__}")
    request = caller.request(RECORD, {"id": conversation_id}, {})
    request = replace(request, headers={**request.headers, "content-type": _TEXT})
    async with caller.transport.stream(request, _encoded(pieces)) as answer:
        body = b"".join([piece async for piece in answer.pieces()])
        response = Response(answer.status, answer.headers, body)
    if not response.is_success:
        raise error_from(response)
    outcome: models.RecordOutcome = read_answer(response, models.RecordOutcome)
    return outcome


async def replay(caller: AsyncCaller, conversation_id: str) -> AsyncIterator[str]:
    """The pieces of a recorded response, to its end or until it is cancelled. Interrupted if its
    writer is gone. After a lost connection it goes on behind the last piece, as often as the
    policy for retries allows without one piece in between."""
    place: str | None = None
    pauses = caller.retries.pauses()
    while True:
        try:
            async for event in _events(caller, conversation_id, place):
                if event.get("event") == "end":
                    check_end(json.loads(event["data"]).get("status", "completed"))
                    return
                if event.get("event") == "error":
                    raise _broken(event)
                place = event.get("id", place)
                pauses = caller.retries.pauses()
                yield json.loads(event["data"])["content"]
            return
        except Unavailable as error:
            pause = next(pauses, None)
            if pause is None or error.code == CLOSED:
                raise
            await asleep(pause)


async def stop_recording(caller: AsyncCaller, conversation_id: str) -> None:
    """End the recording of a response."""
    await caller.send_until_answered(CANCEL, caller.request(CANCEL, {"id": conversation_id}, {}))


async def export(caller: AsyncCaller, filters: Mapping[str, Any]) -> AsyncIterator[dict[str, Any]]:
    """The lines of an export. If the connection is lost on the way, the export can't go on."""
    async with caller.transport.stream(caller.request(EXPORT, {}, filters)) as answer:
        if answer.status != 200:
            body = b"".join([piece async for piece in answer.pieces()])
            raise error_from(Response(answer.status, answer.headers, body))
        buffered = b""
        async for piece in answer.pieces():
            *lines, buffered = (buffered + piece).split(b"\n")
            for line in lines:
                yield json.loads(line)


async def import_lines(
    caller: AsyncCaller, lines: Iterable[Mapping[str, Any] | str], options: Mapping[str, Any]
) -> models.ImportReport:
    """Send the lines in one request, which can be repeated."""
    if isinstance(lines, str | bytes | Mapping) or not isinstance(lines, Iterable):
        raise TypeError(f"lines: must be a list of lines, not {type(lines).__name__}")
    texts = [line.encode() if isinstance(line, str) else encode_body(line) for line in lines]
    body = b"".join(text.rstrip(b"\n") + b"\n" for text in texts)
    request = caller.request(IMPORT, {}, options, body=body, media=_LINES)
    response = await caller.send_until_answered(IMPORT, request)
    report: models.ImportReport = read_answer(response, models.ImportReport)
    return report


async def _events(
    caller: AsyncCaller, conversation_id: str, place: str | None
) -> AsyncIterator[dict[str, str]]:
    """The events of one connection, until it ends."""
    request = caller.request(REPLAY, {"id": conversation_id}, {})
    if place is not None:
        request = replace(request, headers={**request.headers, "last-event-id": place})
    async with caller.transport.stream(request) as answer:
        if answer.status != 200:
            body = b"".join([piece async for piece in answer.pieces()])
            if answer.status == 204:
                return
            raise error_from(Response(answer.status, answer.headers, body))
        buffered = b""
        async for piece in answer.pieces():
            *blocks, buffered = (buffered + piece).split(b"\n\n")
            for block in blocks:
                event = _parse_event(block.decode())
                if event:
                    yield event


def check_end(status: str) -> None:
    """Raise the error of a recording that ended before its response did."""
    if status == "interrupted":
        raise Interrupted("the recording ended before the response did", code=status)
    if status == "forbidden":
        raise Forbidden("the right to this recording was lost on the way", code=status)


def _parse_event(block: str) -> dict[str, str]:
    """The fields of an event; none for a comment that keeps the connection alive."""
    lines = [line.partition(":") for line in block.split("\n")]
    return {name: value.removeprefix(" ") for name, _, value in lines if name}


def _broken(event: Mapping[str, str]) -> RecollectError:
    code = str(json.loads(event["data"]).get("code", ""))
    message = "the recording could not be followed to its end"
    if code == "unavailable":
        return Unavailable(message, code=code)
    return InvalidInput(message, code=code)


async def _encoded(pieces: AsyncIterable[str]) -> AsyncIterator[bytes]:
    async for piece in pieces:
        if not isinstance(piece, str):
            raise TypeError(f"pieces: each must be a text, not {type(piece).__name__}")
        yield check_encodable(piece, "pieces").encode()
