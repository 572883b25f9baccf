"""Operations of approvals: requests to let a memory with critical personal data live past its
cap."""

from typing import ClassVar

from recollect.http.call import Call, Handler
from recollect.http.operation import (
    ID,
    LIST,
    OWNER,
    JustifiedStrict,
    Operation,
    memory_operation,
    nullable_field,
    resource,
)
from recollect.http.params import Schema, enum_param
from recollect.http.render import instant_text
from recollect.http.schemas import INSTANT
from recollect.identity.actions import Action
from recollect.kernel.strict_json import dump
from recollect.memories.expiry import FOREVER, Approval, ApprovalStatus
from recollect.retention.approvals import ApprovalService, ApprovalVerdict


class ApprovalDecision(JustifiedStrict):
    """Why it was decided so."""

    optional: ClassVar[bool] = True


RESOURCES: dict[str, Schema] = {
    "Approval": resource(
        {
            "id": ID,
            "memory_id": ID,
            "requested_by": OWNER,
            "requested_expires_at": nullable_field(
                INSTANT | {"description": "Null: the memory is to live for ever."}
            ),
            "status": {"type": "string", "enum": [str(status) for status in ApprovalStatus]},
            "decided_by": nullable_field(OWNER),
            "decided_at": nullable_field(INSTANT),
            "valid_until": INSTANT,
        }
    )
}

_APPROVAL_PATH = "/v1/approvals/{approval_id}"

OPERATIONS: tuple[Operation, ...] = (
    memory_operation(
        "listApprovals",
        "GET /v1/approvals",
        200,
        "List the caller's own requests, the newest first; an admin sees all.",
        response="Approval",
        query=(enum_param("status", ApprovalStatus, "Only requests in this state."),),
        paging=LIST,
    ),
    memory_operation(
        "getApproval", f"GET {_APPROVAL_PATH}", 200, "Get a request.", response="Approval"
    ),
    memory_operation(
        "approve",
        f"POST {_APPROVAL_PATH}/approve",
        200,
        "Grant a request: the memory's expiry is set as asked. Nobody grants their own.",
        response="Approval",
        action=Action.ADMIN_WRITE,
        audit="approve",
        body=ApprovalDecision,
        refusals=(409,),
    ),
    memory_operation(
        "deny",
        f"POST {_APPROVAL_PATH}/deny",
        200,
        "Refuse a request: the memory stays as it is. Nobody refuses their own.",
        response="Approval",
        action=Action.ADMIN_WRITE,
        audit="deny",
        body=ApprovalDecision,
        refusals=(409,),
    ),
)


def approval_to_json(approval: Approval) -> str:
    """An approval as JSON; a requested expiry of `FOREVER` is null."""
    wish = approval.requested_expires_at
    return dump(
        {
            "id": approval.id,
            "memory_id": approval.memory_id,
            "requested_by": approval.requested_by,
            "requested_expires_at": None if wish == FOREVER else instant_text(wish),
            "status": approval.status,
            "decided_by": approval.decided_by,
            "decided_at": instant_text(approval.decided_at),
            "valid_until": instant_text(approval.valid_until),
        }
    )


async def list_approvals(call: Call) -> bytes:
    page = await call.services[ApprovalService].list(
        call.required_requester,
        status=call.query["status"],
        after=call.page.after,
        limit=call.page.size,
    )
    return call.render_page(map(approval_to_json, page.items), page.next_cursor)


async def get_approval(call: Call) -> str:
    return approval_to_json(
        await call.services[ApprovalService].get(call.required_requester, call.path["approval_id"])
    )


async def approve(call: Call) -> str:
    return await _decide(call, approve=True)


async def deny(call: Call) -> str:
    return await _decide(call, approve=False)


async def _decide(call: Call, *, approve: bool) -> str:
    decision = ApprovalVerdict(approve, call.justification)
    decided = await call.services[ApprovalService].decide(
        call.required_requester, call.path["approval_id"], decision
    )
    return approval_to_json(decided)


HANDLERS: dict[str, Handler] = {
    "listApprovals": list_approvals,
    "getApproval": get_approval,
    "approve": approve,
    "deny": deny,
}
