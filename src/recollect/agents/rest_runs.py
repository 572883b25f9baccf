"""Operations, request bodies and resources of runs."""

from pydantic import Field

from recollect.agents.commands import CompleteRun, StartRun
from recollect.agents.run import RunStatus
from recollect.agents.runs_service import RunService
from recollect.http.call import Call, Handler
from recollect.http.examples import AGENT_ID, INSTANT_EXAMPLE, RUN_ID
from recollect.http.operation import (
    LIST,
    Operation,
    id_param,
    memory_operation,
)
from recollect.http.params import enum_param
from recollect.http.resource import (
    InstantText,
    JsonObject,
    Resource,
    ResourcePart,
    resource_schemas,
)
from recollect.kernel.ids import AgentId, RunId


class RunResource(Resource):
    """A run of an agent."""

    id: str = Field(description="The id of the run.", examples=[RUN_ID])
    agent_id: str = Field(description="The agent that runs.", examples=[AGENT_ID])
    parent_run_id: str | None = Field(description="The run that started this one; null for a root.")
    root_run_id: str = Field(description="The run at the top of the lineage.", examples=[RUN_ID])
    status: RunStatus = Field(description="Whether it runs, or how it ended.")
    started_at: InstantText = Field(description="When it was started.")
    completed_at: InstantText | None = Field(description="When it ended; null while it runs.")
    metadata: JsonObject = Field(description="Your own data.", examples=[{}])


class RemovedWithRun(ResourcePart):
    """How many memories a completed run took with it."""

    ephemeral: int = Field(description="How many with the policy `ephemeral`.", examples=[0])
    critical_pii: int = Field(description="How many with critical personal data.", examples=[0])
    session: int = Field(description="How many others of the session.", examples=[0])


class RunCompletionResource(Resource):
    """A run that has ended, and what went with it."""

    run: RunResource = Field(description="The run, as it is now.")
    removed: RemovedWithRun = Field(description="How many memories went with it.")


class RunLineageResource(Resource):
    """The runs above and below a run."""

    ancestors: list[RunResource] = Field(description="The runs above it.", examples=[[]])
    descendants: list[RunResource] = Field(description="The runs below it.", examples=[[]])


RESOURCES = resource_schemas(RunResource, RunCompletionResource, RunLineageResource)

_RUN_PATH = "/v1/runs/{run_id}"

OPERATIONS: tuple[Operation, ...] = (
    memory_operation(
        "startRun",
        "POST /v1/runs",
        201,
        "Start a run. Needs the agent or its owner; a parent must be visible to the caller.",
        response="Run",
        body=StartRun,
        refusals=(404, 409),
    ),
    memory_operation(
        "completeRun",
        f"POST {_RUN_PATH}/complete",
        200,
        "End a run. Its `ephemeral` memories and those with critical personal data go at once, "
        "other session memories with the root of the lineage. A repeat changes nothing.",
        response="RunCompletion",
        body=CompleteRun,
        answered={"run": {"status": "succeeded", "completed_at": INSTANT_EXAMPLE}},
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


async def start_run(call: Call) -> str:
    return RunResource.render(
        await call.services[RunService].start(call.required_requester, call.body)
    )


async def complete_run(call: Call) -> str:
    completion = await call.services[RunService].complete(
        call.required_requester, _run_id(call), call.body
    )
    return RunCompletionResource.render(completion)


async def list_runs(call: Call) -> bytes:
    agent_id = call.query["agent_id"]
    page = await call.services[RunService].list(
        call.required_requester,
        agent_id=None if agent_id is None else AgentId(agent_id),
        status=call.query["status"],
        after=call.page.after,
        limit=call.page.size,
    )
    return call.render_page(map(RunResource.render, page.items), page.next_cursor)


async def get_run(call: Call) -> str:
    return RunResource.render(
        await call.services[RunService].get(call.required_requester, _run_id(call))
    )


async def get_run_lineage(call: Call) -> str:
    lineage = await call.services[RunService].lineage(call.required_requester, _run_id(call))
    return RunLineageResource.render(lineage)


def _run_id(call: Call) -> RunId:
    return RunId(call.path["run_id"])


HANDLERS: dict[str, Handler] = {
    "startRun": start_run,
    "completeRun": complete_run,
    "listRuns": list_runs,
    "getRun": get_run,
    "getRunLineage": get_run_lineage,
}
