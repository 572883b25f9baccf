"""The operation of the doctor: checks of what is stored, and repairs."""

from typing import Annotated

from pydantic import Field

from recollect.doctor.commands import ExamineMemories
from recollect.doctor.health import StatusService
from recollect.doctor.model import SAMPLE_MAX, DoctorCheck, Severity
from recollect.doctor.service import DoctorService
from recollect.http.call import Call, Handler
from recollect.http.operation import (
    Operation,
    memory_operation,
)
from recollect.http.resource import Resource, ResourcePart, attribute, resource_schemas
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


RESOURCES = resource_schemas(DoctorReportResource)

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


# The operation belongs to the administration of conversations.
ADMIN_HANDLERS: dict[str, Handler] = {"adminGetHealth": get_admin_health}
HANDLERS: dict[str, Handler] = {"examineMemories": examine_memories}
