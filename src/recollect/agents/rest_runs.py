"""Operations, request bodies and resources of runs."""

from dataclasses import asdict
from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field

from recollect.agents.run import ERROR_CHARS_MAX, Run, RunStatus
from recollect.agents.runs_service import NewRun, RunService
from recollect.http.bodies import StrictBody, exact_word
from recollect.http.call import Call, Handler
from recollect.http.operation import (
    ID,
    LIST,
    Id,
    Operation,
    id_param,
    memory_operation,
    nullable_field,
    resource,
)
from recollect.http.params import Schema, enum_param
from recollect.http.render import instant_text
from recollect.http.schemas import INSTANT, INTEGER, OBJECT, schema_ref
from recollect.kernel.ids import AgentId, RunId
from recollect.kernel.strict_json import dump


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


def run_fields(run: Run) -> dict[str, Any]:
    return {
        "id": run.id,
        "agent_id": run.agent_id,
        "parent_run_id": run.parent_run_id,
        "root_run_id": run.root_run_id,
        "status": run.status,
        "started_at": instant_text(run.started_at),
        "completed_at": instant_text(run.completed_at),
        "metadata": run.metadata,
    }


async def start_run(call: Call) -> str:
    body: NewRunBody = call.body
    new = NewRun(
        agent_id=AgentId(body.agent_id),
        id=None if body.id is None else RunId(body.id),
        parent_run_id=None if body.parent_run_id is None else RunId(body.parent_run_id),
        metadata=body.metadata or {},
    )
    return dump(run_fields(await call.services[RunService].start(call.required_requester, new)))


async def complete_run(call: Call) -> str:
    body: RunEnd = call.body
    done = await call.services[RunService].complete(
        call.required_requester, _run_id(call), status=RunStatus(body.status), error=body.error
    )
    return dump({"run": run_fields(done.run), "removed": asdict(done.removed)})


async def list_runs(call: Call) -> bytes:
    agent_id = call.query["agent_id"]
    page = await call.services[RunService].list(
        call.required_requester,
        agent_id=None if agent_id is None else AgentId(agent_id),
        status=call.query["status"],
        after=call.page.after,
        limit=call.page.size,
    )
    return call.render_page((dump(run_fields(run)) for run in page.items), page.next_cursor)


async def get_run(call: Call) -> str:
    return dump(
        run_fields(await call.services[RunService].get(call.required_requester, _run_id(call)))
    )


async def get_run_lineage(call: Call) -> str:
    lineage = await call.services[RunService].lineage(call.required_requester, _run_id(call))
    return dump(
        {
            "ancestors": [run_fields(run) for run in lineage.ancestors],
            "descendants": [run_fields(run) for run in lineage.descendants],
        }
    )


def _run_id(call: Call) -> RunId:
    return RunId(call.path["run_id"])


HANDLERS: dict[str, Handler] = {
    "startRun": start_run,
    "completeRun": complete_run,
    "listRuns": list_runs,
    "getRun": get_run,
    "getRunLineage": get_run_lineage,
}
