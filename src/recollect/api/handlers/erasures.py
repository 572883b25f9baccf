"""Handlers of erasures."""

from recollect.api.calls import Call, Handler, Reply
from recollect.api.memory.erasures import EraseBody, VerifyBody
from recollect.domain.disclosure import PersonId
from recollect.domain.ids import UserId
from recollect.domain.jsontext import dump
from recollect.services.erase import EraseRequest


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
    report = await call.services.erasing.erase(
        call.required_requester, wish, reserved_id=call.reserved_id
    )
    if body.dry_run:
        return dump(report)
    return Reply(202, dump({"id": report["id"], "status": report["status"]}).encode())


async def get_erasure(call: Call) -> str:
    return dump(await call.services.erasing.get(call.required_requester, call.path["erasure_id"]))


async def verify_erasure(call: Call) -> str:
    """The report with new checks, for the identifiers in the body."""
    body: VerifyBody = call.body
    return dump(
        await call.services.erasing.verify(
            call.required_requester, call.path["erasure_id"], body.identifiers
        )
    )


HANDLERS: dict[str, Handler] = {
    "erase": erase,
    "getErasure": get_erasure,
    "verifyErasure": verify_erasure,
}
