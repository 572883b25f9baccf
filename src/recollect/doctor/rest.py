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
from recollect.http.resource import Resource, ResourcePart, attribute, resource_schemas
from recollect.http.schemas import (
    BOOLEAN,
    INSTANT,
    INTEGER,
    TEXT,
    describe,
    nullable_schema,
    object_schema,
)
from recollect.identity.actions import Action
from recollect.kernel.strict_json import dump


class CheckResultFields(ResourcePart):
    """What one check found."""

    name: DoctorCheck = attribute(
        "check", description="The name of the check.", examples=["near_duplicates"]
    )
    severity: Severity = Field(description="How bad a finding of this check is.", examples=["info"])
    count: int = Field(description="How many rows it found.", examples=[0])
    sample_ids: Annotated[list[str], Field(max_length=SAMPLE_MAX)] = Field(
        description="The ids of some of these rows.", examples=[[]]
    )
    repairable: bool = Field(description="Whether `repair` can mend them.", examples=[False])
    repaired: int = Field(description="How many were mended.", examples=[0])


class DoctorReportResource(Resource):
    """What all checks found."""

    checks: list[CheckResultFields] = attribute("results", description="What each check found.")
    ok: bool = Field(description="Whether no warning and no error is left.", examples=[True])


_QUEUE = object_schema(
    {
        "depth": describe(INTEGER, "How many there are.", 0),
        "stuck": describe(INTEGER, "How many have failed too often.", 0),
        "oldestDueAt": describe(
            nullable_schema(INSTANT), "Since when the oldest one could run; null without any."
        ),
    }
)
RESOURCES = resource_schemas(DoctorReportResource) | {
    "HealthReport": object_schema(
        {
            "status": describe(
                {"type": "string", "enum": ["ok", "degraded"]},
                "`degraded` if searches can't find all that they should.",
            ),
            "version": describe(TEXT, "The version of the server.", "0.1.0"),
            "database": describe(TEXT, "The engine of the database.", "sqlite"),
            "encryption": describe(BOOLEAN, "Whether texts are stored encrypted."),
            "queue": describe(_QUEUE, "The jobs that wait."),
            "warnings": describe(
                {"type": "array", "items": TEXT}, "What is wrong all the same.", []
            ),
            "advice": describe(
                {"type": "array", "items": TEXT}, "What to do about each warning.", []
            ),
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
