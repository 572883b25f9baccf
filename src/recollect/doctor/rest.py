"""The operation of the doctor: checks of what is stored, and repairs."""

from typing import Annotated, Any

from pydantic import Field

from recollect.doctor.health import StatusService
from recollect.doctor.model import SAMPLE_MAX, CheckResult, DoctorCheck, Severity
from recollect.doctor.service import DoctorRequest, DoctorService
from recollect.http.bodies import exact_word
from recollect.http.call import Call, Handler
from recollect.http.operation import (
    JustifiedStrict,
    Operation,
    memory_operation,
    resource,
)
from recollect.http.params import Schema
from recollect.http.schemas import INTEGER, TEXT
from recollect.identity.actions import Action
from recollect.kernel.strict_json import dump


class DoctorBody(JustifiedStrict):
    """Which checks, all if none is named; whether to mend. `with_model` lets checks ask a model;
    it is refused where no model is set up."""

    checks: (
        Annotated[
            list[Annotated[DoctorCheck, exact_word(DoctorCheck)]],
            Field(min_length=1, max_length=len(DoctorCheck)),
        ]
        | None
    ) = None
    repair: bool = False
    with_model: bool = False


_BOOLEAN: Schema = {"type": "boolean"}
_CHECK_RESULT = resource(
    {
        "name": {"type": "string", "enum": [str(check) for check in DoctorCheck]},
        "severity": {"type": "string", "enum": [str(severity) for severity in Severity]},
        "count": INTEGER,
        "sample_ids": {"type": "array", "items": TEXT, "maxItems": SAMPLE_MAX},
        "repairable": _BOOLEAN,
        "repaired": INTEGER,
    }
)

RESOURCES: dict[str, Schema] = {
    "DoctorReport": resource({"checks": {"type": "array", "items": _CHECK_RESULT}, "ok": _BOOLEAN}),
}

OPERATIONS: tuple[Operation, ...] = (
    memory_operation(
        "examineMemories",
        "POST /v1/admin/doctor",
        200,
        "Look for what is wrong in what is stored: ids of the rows, by check. Nothing is changed "
        "unless `repair` says so, which takes the role admin; `repaired` counts what was mended. "
        "`ok` is false while a warning or an error is left.",
        response="DoctorReport",
        action=Action.ADMIN_READ,
        audit="doctor",
        body=DoctorBody,
    ),
)


async def examine_memories(call: Call) -> str:
    """Run the checks, repair if that is asked for, and return the report."""
    body: DoctorBody = call.body
    asked = DoctorRequest(body.checks, body.repair, call.justification, with_model=body.with_model)
    diagnosis = await call.services[DoctorService].examine(call.required_requester, asked)
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


async def get_admin_health(call: Call) -> str:
    """The state of the server in detail."""
    return dump(await call.services[StatusService].report())


# The operation belongs to the administration of conversations.
ADMIN_HANDLERS: dict[str, Handler] = {"adminGetHealth": get_admin_health}
HANDLERS: dict[str, Handler] = {"examineMemories": examine_memories}
