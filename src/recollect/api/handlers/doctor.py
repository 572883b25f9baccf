"""The handler of `POST /v1/admin/doctor`."""

from typing import Any

from recollect.api.calls import Call, Handler
from recollect.api.memory.doctor import DoctorBody
from recollect.domain.doctor import CheckResult
from recollect.domain.jsontext import dump
from recollect.services.doctor import DoctorRequest


async def examine_memories(call: Call) -> str:
    """Run the checks, repair if that is asked for, and return the report."""
    body: DoctorBody = call.body
    asked = DoctorRequest(body.checks, body.repair, call.justification, with_model=body.with_model)
    diagnosis = await call.services.doctor.examine(call.required_requester, asked)
    return dump({"checks": [_result_to_json(one) for one in diagnosis.results], "ok": diagnosis.ok})


def _result_to_json(result: CheckResult) -> dict[str, Any]:
    return {
        "name": str(result.check),
        "severity": str(result.severity),
        "count": result.count,
        "sample_ids": list(result.sample_ids),
        "repairable": result.repairable,
        "repaired": result.repaired,
    }


HANDLERS: dict[str, Handler] = {"examineMemories": examine_memories}
