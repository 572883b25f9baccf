"""Operations, request bodies and resources of runs."""

from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field

from recollect.api.bodies import StrictBody, exact_word
from recollect.api.memory.rows import (
    ID,
    LIST,
    Id,
    id_param,
    memory_operation,
    nullable_field,
    resource,
)
from recollect.api.operation import Operation
from recollect.api.params import Schema, enum_param
from recollect.api.resources import INSTANT, INTEGER, OBJECT, schema_ref
from recollect.domain.runs import ERROR_CHARS_MAX, RunStatus


class RunEnding(StrEnum):
    """The ways in which a run ends."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


class NewRunBody(StrictBody):
    """A run to start; without `parent_run_id` it is a root."""

    id: Id | None = None
    agent_id: Id
    parent_run_id: Id | None = None
    metadata: dict[str, Any] | None = None


class RunEnd(StrictBody):
    """How a run ended."""

    status: Annotated[RunEnding, exact_word(RunEnding)]
    error: Annotated[str, Field(min_length=1, max_length=ERROR_CHARS_MAX)] | None = None


RESOURCES: dict[str, Schema] = {
    "Run": resource(
        {
            "id": ID,
            "agent_id": ID,
            "parent_run_id": nullable_field(ID),
            "root_run_id": ID,
            "status": {"type": "string", "enum": [str(status) for status in RunStatus]},
            "started_at": INSTANT,
            "completed_at": nullable_field(INSTANT),
            "metadata": OBJECT,
        }
    ),
    "RunCompletion": resource(
        {
            "run": schema_ref("Run"),
            "removed": resource(
                {"ephemeral": INTEGER, "critical_pii": INTEGER, "session": INTEGER}
            ),
        }
    ),
    "RunLineage": resource(
        {
            "ancestors": {"type": "array", "items": schema_ref("Run")},
            "descendants": {"type": "array", "items": schema_ref("Run")},
        }
    ),
}

_RUN_PATH = "/v1/runs/{run_id}"

OPERATIONS: tuple[Operation, ...] = (
    memory_operation(
        "startRun",
        "POST /v1/runs",
        201,
        "Start a run. Needs the agent or its owner; a parent must be visible to the caller.",
        response="Run",
        body=NewRunBody,
        refusals=(404, 409),
    ),
    memory_operation(
        "completeRun",
        f"POST {_RUN_PATH}/complete",
        200,
        "End a run. Its `ephemeral` memories and those with critical personal data go at once, "
        "other session memories with the root of the lineage. A repeat changes nothing.",
        response="RunCompletion",
        body=RunEnd,
        refusals=(409,),
    ),
    memory_operation(
        "listRuns",
        "GET /v1/runs",
        200,
        "List the runs that the caller may see, the latest start first.",
        response="Run",
        query=(
            id_param("agent_id", "Only runs of this agent."),
            enum_param("status", RunStatus, "Only runs in this state."),
        ),
        paging=LIST,
        refusals=(404,),
    ),
    memory_operation("getRun", f"GET {_RUN_PATH}", 200, "Get a run.", response="Run"),
    memory_operation(
        "getRunLineage",
        f"GET {_RUN_PATH}/lineage",
        200,
        "The runs above and below a run, as far as the caller may see them; siblings are neither.",
        response="RunLineage",
    ),
)
