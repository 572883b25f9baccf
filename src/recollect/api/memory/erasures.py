"""Operations of erasures: start, report, verify."""

from typing import Annotated, Any

from pydantic import Field, model_validator

from recollect.api.bodies import StrictBody
from recollect.api.memory.rows import (
    ID,
    Id,
    JustifiedStrict,
    memory_operation,
    nullable_field,
    resource,
)
from recollect.api.operation import Operation
from recollect.api.params import Schema
from recollect.api.resources import INSTANT, INTEGER, OBJECT, TEXT
from recollect.domain.erasure import IDENTIFIERS_MAX, ErasureStatus


class EraseBody(JustifiedStrict):
    """Whom to erase: a person or a user. What would go is seen with `dry_run`."""

    person_id: Id | None = None
    user_id: Id | None = None
    dry_run: bool
    block_relearn: bool = False

    @model_validator(mode="after")
    def _require_one(self) -> "EraseBody":
        if (self.person_id is None) == (self.user_id is None):
            raise ValueError("exactly one of person_id and user_id must be given")
        return self


class VerifyBody(StrictBody):
    """Names, handles, addresses and ids to look for. They are not kept."""

    identifiers: Annotated[list[Id], Field(min_length=1, max_length=IDENTIFIERS_MAX)]


_CHECK = resource({"store": TEXT, "probes": INTEGER, "found": INTEGER})
_STATUS: Schema = {"type": "string", "enum": [str(status) for status in ErasureStatus]}
_ARRAY: dict[str, Any] = {"type": "array"}

RESOURCES: dict[str, Schema] = {
    "EraseReport": resource(
        {
            "id": ID,
            "status": _STATUS,
            "dry_run": {"type": "boolean"},
            "requested_by_role": {"type": "string", "enum": ["person", "admin"]},
            "started_at": INSTANT,
            "finished_at": nullable_field(INSTANT),
            "counts": OBJECT,
            "joint": INTEGER,
            "checks": _ARRAY | {"items": _CHECK},
            "not_covered": _ARRAY | {"items": TEXT},
            "digest": TEXT | {"description": "SHA-256 of the rest in canonical JSON."},
            "signature": nullable_field(TEXT | {"description": "With `erase.signing_key`."}),
        }
    )
}

_ERASURE_PATH = "/v1/erasures/{erasure_id}"

OPERATIONS: tuple[Operation, ...] = (
    memory_operation(
        "erase",
        "POST /v1/erasures",
        200,
        "Erase a person or a user everywhere. The user themself or an admin may ask. A dry run "
        "answers 200 with the report; else the answer is 202 with `id` and `status`, what is "
        "linked to them is out of all reads, and a job removes it.",
        response="EraseReport",
        body=EraseBody,
        refusals=(404, 409),
    ),
    memory_operation(
        "getErasure",
        f"GET {_ERASURE_PATH}",
        200,
        "Get the report of an erasure. It names nobody.",
        response="EraseReport",
        introduces=False,
    ),
    memory_operation(
        "verifyErasure",
        f"POST {_ERASURE_PATH}/verify",
        200,
        "Search everything once more for the given names, within 30 days.",
        response="EraseReport",
        body=VerifyBody,
        refusals=(409,),
        introduces=False,
    ),
)
