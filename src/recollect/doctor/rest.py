"""The operations of the doctor: checks of what is stored, repairs, and the server's health."""

from typing import Annotated

from pydantic import Field

from recollect.doctor.commands import ExamineMemories
from recollect.doctor.health import StatusService
from recollect.doctor.model import SAMPLE_MAX, DoctorCheck, Severity
from recollect.doctor.service import DoctorService
from recollect.http.call import Call, Handler
from recollect.http.operation import (
    Operation,
    admin_operation,
    memory_operation,
)
from recollect.http.params import Schema
from recollect.http.resource import Resource, ResourcePart, attribute, resource_schemas
from recollect.http.schemas import INSTANT, INTEGER, TEXT, nullable_schema, object_schema
from recollect.identity.actions import Action
from recollect.kernel.strict_json import dump


class CheckResultFields(ResourcePart):
    """What one check found."""

    name: DoctorCheck = attribute("check")
    severity: Severity
    count: int
    sample_ids: Annotated[list[str], Field(max_length=SAMPLE_MAX)]
    repairable: bool
    repaired: int


class DoctorReportResource(Resource):
    """What all checks found."""

    checks: list[CheckResultFields] = attribute("results")
    ok: bool


_BOOLEAN: Schema = {"type": "boolean"}
RESOURCES = resource_schemas(DoctorReportResource) | {
    "HealthReport": object_schema(
        {
            "status": {"type": "string", "const": "ok"},
            "version": TEXT,
            "database": TEXT,
            "encryption": _BOOLEAN,
            "queue": object_schema(
                {"depth": INTEGER, "stuck": INTEGER, "oldestDueAt": nullable_schema(INSTANT)}
            ),
            "warnings": {"type": "array", "items": TEXT},
        }
    ),
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
        body=ExamineMemories,
    ),
    admin_operation(
        "adminGetHealth",
        "GET /v1/admin/health",
        200,
        "Get the state of the server in detail.",
        response="HealthReport",
    ),
)


async def examine_memories(call: Call) -> str:
    """Run the checks, repair if that is asked for, and return the report."""
    diagnosis = await call.services[DoctorService].examine(
        call.required_requester, call.justified_body
    )
    return DoctorReportResource.render(diagnosis)


async def get_admin_health(call: Call) -> str:
    """The state of the server in detail."""
    return dump(await call.services[StatusService].report())


HANDLERS: dict[str, Handler] = {
    "examineMemories": examine_memories,
    "adminGetHealth": get_admin_health,
}
