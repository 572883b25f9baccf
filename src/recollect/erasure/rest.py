"""Operations of erasures: start, report, verify."""

from typing import Annotated, Any

from pydantic import Field, model_validator

from recollect.erasure.model import IDENTIFIERS_MAX, ErasureStatus
from recollect.erasure.service import EraseRequest, EraseService
from recollect.http.bodies import StrictBody
from recollect.http.call import Call, Handler, Reply
from recollect.http.operation import (
    ID,
    Id,
    JustifiedStrict,
    Operation,
    memory_operation,
    nullable_field,
    resource,
)
from recollect.http.params import Schema
from recollect.http.schemas import INSTANT, INTEGER, OBJECT, TEXT
from recollect.kernel.ids import PersonId, UserId
from recollect.kernel.strict_json import dump


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


async def erase(call: Call) -> str | Reply:
    """200 with the report for a dry run, else 202 with id and status."""
    body: EraseBody = call.body
    wish = EraseRequest(
        person_id=None if body.person_id is None else PersonId(body.person_id),
        user_id=None if body.user_id is None else UserId(body.user_id),
        dry_run=body.dry_run,
        block_relearn=body.block_relearn,
        justification=body.justification,
    )
    report = await call.services[EraseService].erase(
        call.required_requester, wish, reserved_id=call.reserved_id
    )
    if body.dry_run:
        return dump(report)
    return Reply(202, dump({"id": report["id"], "status": report["status"]}).encode())


async def get_erasure(call: Call) -> str:
    return dump(
        await call.services[EraseService].get(call.required_requester, call.path["erasure_id"])
    )


async def verify_erasure(call: Call) -> str:
    """The report with new checks, for the identifiers in the body."""
    body: VerifyBody = call.body
    return dump(
        await call.services[EraseService].verify(
            call.required_requester, call.path["erasure_id"], body.identifiers
        )
    )


HANDLERS: dict[str, Handler] = {
    "erase": erase,
    "getErasure": get_erasure,
    "verifyErasure": verify_erasure,
}
