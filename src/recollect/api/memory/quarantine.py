"""Operations of quarantine: list, release, reject."""

from typing import Annotated, ClassVar

from pydantic import Field

from recollect.api.bodies import StrictBody
from recollect.api.memory.filters import FILTER_PARAMS
from recollect.api.memory.reading import MEMORY
from recollect.api.memory.rows import LIST, resource, row
from recollect.api.operation import Operation
from recollect.api.params import Schema
from recollect.api.resources import TEXT
from recollect.domain.events import JUSTIFICATION_CHARS_MAX

# Quarantined rows are visible to no asker and have no past versions to read.
_ELSEWHERE = ("chat_id", "asker_id", "status", "valid_at", "as_of")
FILTERS = tuple(param for param in FILTER_PARAMS if param.name not in _ELSEWHERE)


class DecisionBody(StrictBody):
    """Why; it goes to the audit log."""

    optional: ClassVar[bool] = True

    note: Annotated[str, Field(max_length=JUSTIFICATION_CHARS_MAX)] | None = None


RESOURCES: dict[str, Schema] = {
    "QuarantinedMemory": resource(
        MEMORY
        | {
            "score": {"type": "number", "minimum": 0, "maximum": 1},
            "reasons": {"type": "array", "items": TEXT},
        }
    ),
}

_ONE = "/v1/quarantine/{memory_id}"

OPERATIONS: tuple[Operation, ...] = (
    row(
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
    row(
        "releaseMemory",
        f"POST {_ONE}/release",
        200,
        "Let a quarantined memory in. It is active from now on, with trust `unknown`.",
        response="Memory",
        body=DecisionBody,
        refusals=(409,),
    ),
    row(
        "rejectMemory",
        f"POST {_ONE}/reject",
        204,
        "Remove a quarantined memory for good.",
        body=DecisionBody,
        refusals=(409,),
    ),
)
