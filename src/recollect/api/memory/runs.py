"""Operations, request bodies and resources of runs."""

from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field

from recollect.api.bodies import StrictBody, exactly
from recollect.api.memory.rows import ID, LIST, Id, id_param, optional, resource, row
from recollect.api.operation import Operation
from recollect.api.params import Schema, one_of
from recollect.api.resources import INSTANT, OBJECT, WHOLE, ref
from recollect.domain.runs import ERROR_CHARS_MAX, RunStatus


class Ending(StrEnum):
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

    status: Annotated[Ending, exactly(Ending)]
    error: Annotated[str, Field(min_length=1, max_length=ERROR_CHARS_MAX)] | None = None


RESOURCES: dict[str, Schema] = {
    "Run": resource(
        {
            "id": ID,
            "agent_id": ID,
            "parent_run_id": optional(ID),
            "root_run_id": ID,
            "status": {"type": "string", "enum": [str(status) for status in RunStatus]},
            "started_at": INSTANT,
            "completed_at": optional(INSTANT),
            "metadata": OBJECT,
        }
    ),
    "RunCompletion": resource(
        {
            "run": ref("Run"),
            "removed": resource({"ephemeral": WHOLE, "critical_pii": WHOLE, "session": WHOLE}),
        }
    ),
    "RunLineage": resource(
        {
            "ancestors": {"type": "array", "items": ref("Run")},
            "descendants": {"type": "array", "items": ref("Run")},
        }
    ),
}

_ONE = "/v1/runs/{run_id}"

OPERATIONS: tuple[Operation, ...] = (
    row(
        "startRun",
        "POST /v1/runs",
        201,
        "Start a run. Needs the agent or its owner; a parent must be visible to the caller.",
        response="Run",
        body=NewRunBody,
        refusals=(404, 409),
    ),
    row(
        "completeRun",
        f"POST {_ONE}/complete",
        200,
        "End a run. Its `ephemeral` memories and those with critical personal data go at once, "
        "other session memories with the root of the lineage. A repeat changes nothing.",
        response="RunCompletion",
        body=RunEnd,
        refusals=(409,),
    ),
    row(
        "listRuns",
        "GET /v1/runs",
        200,
        "List the runs that the caller may see, the latest start first.",
        response="Run",
        query=(
            id_param("agent_id", "Only runs of this agent."),
            one_of("status", RunStatus, "Only runs in this state."),
        ),
        paging=LIST,
        refusals=(404,),
    ),
    row("getRun", f"GET {_ONE}", 200, "Get a run.", response="Run"),
    row(
        "getRunLineage",
        f"GET {_ONE}/lineage",
        200,
        "The runs above and below a run, as far as the caller may see them; siblings are neither.",
        response="RunLineage",
    ),
)
