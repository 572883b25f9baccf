"""Requests whose bodies or answers come in pieces: exports, imports and evictions."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from recollect.cli.connection import Session

if TYPE_CHECKING:
    from recollect_client import models
    from recollect_client._sync.call import Stream

_LINES = "application/x-ndjson"
_EVENTS = "text/event-stream"


def export_lines(session: Session, query: Mapping[str, Any]) -> Iterator[str]:
    """The lines of an export, as they come."""
    with _stream(session, "exportMemories", query) as answer:
        rest = b""
        for piece in answer.pieces():
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                yield line.decode()


def import_pieces(
    session: Session, pieces: Iterator[bytes], query: Mapping[str, Any]
) -> "models.ImportReport":
    """Send the pieces as the server reads them. Not repeated after a lost connection: the import
    skips what is there, so the command can be given again."""
    from recollect_client import models

    with _stream(session, "importMemories", query, pieces=pieces) as answer:
        return models.ImportReport.model_validate_json(b"".join(answer.pieces()))


def evict(session: Session, members: Mapping[str, Any]) -> Iterator[int]:
    """Start an eviction; its progress in percent, to the end."""
    with _stream(session, "adminEvict", members, accept=_EVENTS) as answer:
        rest = b""
        for piece in answer.pieces():
            *events, rest = (rest + piece).split(b"\n\n")
            for event in events:
                yield from _percent(event.decode())


def _percent(event: str) -> Iterator[int]:
    from recollect_client import Internal

    fields = dict(line.split(": ", 1) for line in event.split("\n") if ": " in line)
    found = json.loads(fields.get("data", "{}"))
    if "error" in found or fields.get("event") == "error":
        raise Internal(str(found.get("error", "the eviction failed")))
    if "progress" in found:
        yield int(found["progress"])


@contextmanager
def _stream(
    session: Session,
    operation_id: str,
    arguments: Mapping[str, Any],
    *,
    pieces: Iterator[bytes] | None = None,
    accept: str | None = None,
) -> Iterator["Stream"]:
    """The answer in pieces. Raises the error of a refusal."""
    from recollect_client.errors import error_from
    from recollect_client.table import OPERATIONS
    from recollect_client.values import Response

    caller = session.client.caller
    request = caller.request(OPERATIONS[operation_id], {}, arguments)
    headers = dict(request.headers)
    if pieces is not None:
        headers["content-type"] = _LINES
    if accept is not None:
        headers["accept"] = accept
    request = replace(request, headers=headers)
    with caller.transport.stream(request, pieces) as answer:
        if not 200 <= answer.status < 300:
            refused = Response(answer.status, answer.headers, b"".join(answer.pieces()))
            raise error_from(refused)
        yield answer
