"""The operations export and import, in NDJSON."""

from collections.abc import AsyncIterator

import structlog

from recollect.http.call import Call, Handler, Reply
from recollect.http.examples import IMPORT_ID, OTHER_MEMORY_ID, USER_ID
from recollect.http.operation import (
    ID,
    Operation,
    justification_param,
    memory_operation,
    nullable_field,
    resource,
)
from recollect.http.params import (
    Param,
    Schema,
    enum_param,
    word_reader,
)
from recollect.http.schemas import INTEGER, TEXT, describe
from recollect.kernel.errors import RecollectError, ValidationFailed
from recollect.kernel.strict_json import dump
from recollect.memories.filters import FILTER_PARAMS, filters_from_query
from recollect.memories.model import MemoryStatus
from recollect.memories.rest_read import IncludedField
from recollect.portability.export_service import ExportRequest, ExportService
from recollect.portability.import_model import ImportMode, ImportOutcome
from recollect.portability.import_service import ImportService

NDJSON = "application/x-ndjson"

ALL = "all"

_STATUS_WORDS: dict[str, MemoryStatus | None] = {ALL: None} | {
    str(status): status for status in MemoryStatus
}
# As in a list the default is `active`; an export alone also knows `all`.
_STATUS = Param(
    "status",
    word_reader(_STATUS_WORDS),
    {"type": "string", "enum": list(_STATUS_WORDS), "default": str(MemoryStatus.ACTIVE)},
    "Only memories of this status, or `all`.",
    MemoryStatus.ACTIVE,
)
_JUSTIFICATION = justification_param("Why; it goes to the audit log.")
_DRY_RUN = Param(
    "dry_run",
    word_reader({"true": True, "false": False}),
    {"type": "boolean"},
    "Whether to tell only what would be done. Must be said.",
    required=True,
    example=False,
)

_REFUSED_LINE = resource(
    {
        "line": describe(INTEGER, "The number of the line, from 1."),
        "code": describe(TEXT, "Why, for programs: the code of a refused write."),
        "field": describe(nullable_field(TEXT), "The field that was wrong, if it is one."),
        "message": describe(TEXT, "Why, for people."),
    }
)

_LINES = (
    dump(
        {
            "type": "memory",
            "id": OTHER_MEMORY_ID,
            "content": "Ann's bike is in the cellar.",
            "space": {"kind": "user", "id": USER_ID},
        }
    )
    + "\n"
)
RESOURCES: dict[str, Schema] = {
    "ImportReport": resource(
        {
            "import_id": describe(
                nullable_field(ID),
                "The id by which it can be rolled back; null in a dry run.",
                IMPORT_ID,
            ),
            "read": describe(INTEGER, "How many lines were read.", 1),
            "created": describe(INTEGER, "How many made something new.", 1),
            "updated": describe(INTEGER, "How many changed something.", 0),
            "skipped": describe(INTEGER, "How many had nothing new.", 0),
            "refused": describe(
                {"type": "array", "items": _REFUSED_LINE}, "The lines that are not stored.", []
            ),
        }
    ),
}

OPERATIONS: tuple[Operation, ...] = (
    memory_operation(
        "exportMemories",
        "GET /v1/export",
        200,
        "Export memories with what they refer to, one JSON object a line, in an order that never "
        "changes. Of spaces that the caller may write; for an admin all. `status` may be `all`.",
        media=NDJSON,
        answered_text=_LINES,
        query=(
            *(_STATUS if param.name == "status" else param for param in FILTER_PARAMS),
            enum_param("include", IncludedField, "Also the vectors, which an import makes anew."),
            _JUSTIFICATION,
        ),
        refusals=(404,),
    ),
    memory_operation(
        "importMemories",
        "POST /v1/import",
        200,
        "Import lines of an export. Ids and times are kept, every text is screened; a line that is "
        "refused does not stop the others. Versions, relations and approvals stand behind their "
        "memory; approvals count in an admin's import. A dry run has no id.",
        response="ImportReport",
        takes=NDJSON,
        sent_text=_LINES,
        query=(
            enum_param("mode", ImportMode, "What happens to ids that are taken.", ImportMode.FAIL),
            _DRY_RUN,
            _JUSTIFICATION,
        ),
        refusals=(413, 415),
    ),
)


_log = structlog.get_logger("recollect.rest")


async def export_memories(call: Call) -> Reply:
    """Stream the export as NDJSON."""
    query = dict(call.query)
    request = ExportRequest(
        filters_from_query(query | {"status": query["status"] or MemoryStatus.ACTIVE}),
        every_status=query["status"] is None,
        embedding=query["include"] is IncludedField.EMBEDDING,
        justification=query["justification"],
    )
    lines = await call.services[ExportService].export(call.required_requester, request)
    return Reply(200, media=NDJSON.encode(), stream=_log_broken_stream(lines))


async def import_memories(call: Call) -> str:
    """Import the lines of the body, which is read as it arrives, and return the report."""
    dry_run = call.query["dry_run"]
    if dry_run is None:
        raise ValidationFailed.for_field("dry_run", "must be true or false: there is no default")
    done = await call.services[ImportService].load(
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
            "refused": [
                {name: getattr(one, name) for name in _REFUSED_LINE["required"]}
                for one in tally.refused
            ],
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
