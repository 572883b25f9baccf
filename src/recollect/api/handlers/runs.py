"""Handlers of runs, shared by REST and gRPC."""

from dataclasses import asdict
from typing import Any

from recollect.api.calls import Call, Handler
from recollect.api.handlers.shapes import instant_text
from recollect.api.memory.runs import NewRunBody, RunEnd
from recollect.domain.agents import AgentId
from recollect.domain.jsontext import dump
from recollect.domain.runs import Run, RunStatus
from recollect.domain.spaces import RunId
from recollect.services.runs import NewRun


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
    return dump(run_fields(await call.services.runs.start(call.required_requester, new)))


async def complete_run(call: Call) -> str:
    body: RunEnd = call.body
    done = await call.services.runs.complete(
        call.required_requester, _run_id(call), status=RunStatus(body.status), error=body.error
    )
    return dump({"run": run_fields(done.run), "removed": asdict(done.removed)})


async def list_runs(call: Call) -> bytes:
    agent_id = call.query["agent_id"]
    page = await call.services.runs.list(
        call.required_requester,
        agent_id=None if agent_id is None else AgentId(agent_id),
        status=call.query["status"],
        after=call.page.after,
        limit=call.page.size,
    )
    return call.render_page((dump(run_fields(run)) for run in page.items), page.next_cursor)


async def get_run(call: Call) -> str:
    return dump(run_fields(await call.services.runs.get(call.required_requester, _run_id(call))))


async def get_run_lineage(call: Call) -> str:
    lineage = await call.services.runs.lineage(call.required_requester, _run_id(call))
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
