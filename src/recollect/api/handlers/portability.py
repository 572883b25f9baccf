"""Handlers of `GET /v1/export` and `POST /v1/import`."""

from collections.abc import AsyncIterator

import structlog

from recollect.api.calls import Call, Handler, Reply
from recollect.api.memory.filters import filters_from_query
from recollect.api.memory.portability import NDJSON
from recollect.api.memory.reading import IncludedField
from recollect.domain.jsontext import dump
from recollect.domain.memories import MemoryStatus
from recollect.errors import RecollectError, ValidationFailed
from recollect.services.export import ExportRequest
from recollect.services.import_orders import ImportOutcome

_log = structlog.get_logger("recollect.rest")


async def export_memories(call: Call) -> Reply:
    """Stream the export as NDJSON."""
    query = dict(call.query)
    wish = ExportRequest(
        filters_from_query(query | {"status": query["status"] or MemoryStatus.ACTIVE}),
        every_status=query["status"] is None,
        embedding=query["include"] is IncludedField.EMBEDDING,
        justification=query["justification"],
    )
    lines = await call.services.export.export(call.required_requester, wish)
    return Reply(200, media=NDJSON.encode(), stream=_log_broken_stream(lines))


async def import_memories(call: Call) -> str:
    """Import the lines of the body, which is read as it arrives, and return the report."""
    dry_run = call.query["dry_run"]
    if dry_run is None:
        raise ValidationFailed.for_field("dry_run", "must be true or false: there is no default")
    done = await call.services.imports.load(
        call.required_requester,
        call.body,
        mode=call.query["mode"],
        dry_run=dry_run,
        justification=call.query["justification"],
    )
    tally = done.tally
    return dump(
        {
            "import_id": done.import_id,
            "read": tally.read,
            **{str(outcome): tally.outcomes[outcome] for outcome in ImportOutcome},
            "refused": [{"line": one.line, "code": one.code} for one in tally.refused],
        }
    )


async def _log_broken_stream(lines: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The stream, with a log line if it fails. The status has been sent by then, so the error is
    raised on: the connection breaks, and an incomplete export does not look complete."""
    try:
        async for chunk in lines:
            yield chunk
    except RecollectError as error:
        _log.warning("an export failed after it had begun", error=type(error).__name__)
        raise


HANDLERS: dict[str, Handler] = {
    "exportMemories": export_memories,
    "importMemories": import_memories,
}
