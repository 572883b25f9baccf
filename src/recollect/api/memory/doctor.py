"""The operation of the doctor: checks of what is stored, and repairs."""

from typing import Annotated

from pydantic import Field

from recollect.api.bodies import exact_word
from recollect.api.memory.rows import JustifiedStrict, memory_operation, resource
from recollect.api.operation import Operation
from recollect.api.params import Schema
from recollect.api.resources import INTEGER, TEXT
from recollect.domain.doctor import SAMPLE_MAX, DoctorCheck, Severity
from recollect.policy.actions import Action


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
