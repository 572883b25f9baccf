"""The operations export and import, in NDJSON."""

from recollect.api.memory.filters import FILTER_PARAMS
from recollect.api.memory.reading import IncludedField
from recollect.api.memory.rows import ID, memory_operation, nullable_field, resource
from recollect.api.operation import Operation
from recollect.api.params import Param, Schema, enum_param, text_param, word_reader
from recollect.api.resources import INTEGER, TEXT
from recollect.domain.events import JUSTIFICATION_CHARS_MAX
from recollect.domain.memories import MemoryStatus
from recollect.services.import_orders import ImportMode

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
_JUSTIFICATION = text_param(
    "justification", "Why; it goes to the audit log.", chars_max=JUSTIFICATION_CHARS_MAX
)
_DRY_RUN = Param(
    "dry_run",
    word_reader({"true": True, "false": False}),
    {"type": "boolean"},
    "Whether to tell only what would be done. Must be said.",
)

RESOURCES: dict[str, Schema] = {
    "ImportReport": resource(
        {
            "import_id": nullable_field(ID),
            "read": INTEGER,
            "created": INTEGER,
            "updated": INTEGER,
            "skipped": INTEGER,
            "refused": {"type": "array", "items": resource({"line": INTEGER, "code": TEXT})},
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
        query=(
            enum_param("mode", ImportMode, "What happens to ids that are taken.", ImportMode.FAIL),
            _DRY_RUN,
            _JUSTIFICATION,
        ),
        refusals=(413, 415),
    ),
)
