"""The operations export and import, in NDJSON."""

from recollect.api.memory.filters import FILTER_PARAMS
from recollect.api.memory.reading import Included
from recollect.api.memory.rows import ID, optional, resource, row
from recollect.api.operation import Operation
from recollect.api.params import Param, Schema, one_of, text, word_reader
from recollect.api.resources import TEXT, WHOLE
from recollect.domain.events import JUSTIFICATION_CHARS_MAX
from recollect.domain.memories import Status
from recollect.services.import_orders import ImportMode

NDJSON = "application/x-ndjson"

ALL = "all"

_WORDS: dict[str, Status | None] = {ALL: None} | {str(status): status for status in Status}
# As in a list the default is `active`; an export alone also knows `all`.
_STATUS = Param(
    "status",
    word_reader(_WORDS),
    {"type": "string", "enum": list(_WORDS), "default": str(Status.ACTIVE)},
    "Only memories of this status, or `all`.",
    Status.ACTIVE,
)
_REASON = text("justification", "Why; it goes to the audit log.", chars_max=JUSTIFICATION_CHARS_MAX)
_DRY_RUN = Param(
    "dry_run",
    word_reader({"true": True, "false": False}),
    {"type": "boolean"},
    "Whether to tell only what would be done. Must be said.",
)

RESOURCES: dict[str, Schema] = {
    "ImportReport": resource(
        {
            "import_id": optional(ID),
            "read": WHOLE,
            "created": WHOLE,
            "updated": WHOLE,
            "skipped": WHOLE,
            "refused": {"type": "array", "items": resource({"line": WHOLE, "code": TEXT})},
        }
    ),
}

OPERATIONS: tuple[Operation, ...] = (
    row(
        "exportMemories",
        "GET /v1/export",
        200,
        "Export memories with what they refer to, one JSON object a line, in an order that never "
        "changes. Of spaces that the caller may write; for an admin all. `status` may be `all`.",
        media=NDJSON,
        query=(
            *(_STATUS if param.name == "status" else param for param in FILTER_PARAMS),
            one_of("include", Included, "Also the vectors, which an import makes anew."),
            _REASON,
        ),
        refusals=(404,),
    ),
    row(
        "importMemories",
        "POST /v1/import",
        200,
        "Import lines of an export. Ids and times are kept, every text is screened; a line that is "
        "refused does not stop the others. Versions, relations and approvals stand behind their "
        "memory; approvals count in an admin's import. A dry run has no id.",
        response="ImportReport",
        takes=NDJSON,
        query=(
            one_of("mode", ImportMode, "What happens to ids that are taken.", ImportMode.FAIL),
            _DRY_RUN,
            _REASON,
        ),
        refusals=(413, 415),
    ),
)
