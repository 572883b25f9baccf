"""Operations of quarantine: list, release, reject."""

from typing import Annotated, ClassVar

from pydantic import Field

from recollect.api.bodies import StrictBody
from recollect.api.memory.filters import FILTER_PARAMS
from recollect.api.memory.reading import MEMORY_PROPERTIES
from recollect.api.memory.rows import LIST, memory_operation, resource
from recollect.api.operation import Operation
from recollect.api.params import Schema
from recollect.api.resources import TEXT
from recollect.domain.events import JUSTIFICATION_CHARS_MAX

# Quarantined rows are visible to no asker and have no past versions to read.
_UNSUPPORTED_FILTERS = ("chat_id", "asker_id", "status", "valid_at", "as_of")
FILTERS = tuple(param for param in FILTER_PARAMS if param.name not in _UNSUPPORTED_FILTERS)


class DecisionBody(StrictBody):
    """Why; it goes to the audit log."""

    optional: ClassVar[bool] = True

    note: Annotated[str, Field(max_length=JUSTIFICATION_CHARS_MAX)] | None = None


RESOURCES: dict[str, Schema] = {
    "QuarantinedMemory": resource(
        MEMORY_PROPERTIES
        | {
            "score": {"type": "number", "minimum": 0, "maximum": 1},
            "reasons": {"type": "array", "items": TEXT},
        }
    ),
}

_QUARANTINE_PATH = "/v1/quarantine/{memory_id}"

OPERATIONS: tuple[Operation, ...] = (
    memory_operation(
        "listQuarantine",
        "GET /v1/quarantine",
        200,
        "List memories that were set aside because their text looks like orders to the assistant, "
        "the newest first. Of spaces that the caller may write; for an admin all.",
        response="QuarantinedMemory",
        query=FILTERS,
        paging=LIST,
        refusals=(404,),
    ),
    memory_operation(
        "releaseMemory",
        f"POST {_QUARANTINE_PATH}/release",
        200,
        "Let a quarantined memory in. It is active from now on, with trust `unknown`.",
        response="Memory",
        body=DecisionBody,
        refusals=(409,),
    ),
    memory_operation(
        "rejectMemory",
        f"POST {_QUARANTINE_PATH}/reject",
        204,
        "Remove a quarantined memory for good.",
        body=DecisionBody,
        refusals=(409,),
    ),
)
