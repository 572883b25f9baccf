"""Operations of approvals: requests to let a memory with critical personal data live past its
cap."""

from typing import ClassVar

from recollect.api.memory.rows import ID, LIST, OWNER, JustifiedStrict, optional, resource, row
from recollect.api.operation import Operation
from recollect.api.params import Schema, one_of
from recollect.api.resources import INSTANT
from recollect.domain.expiry import ApprovalStatus
from recollect.policy.actions import Action


class ApprovalDecision(JustifiedStrict):
    """Why it was decided so."""

    optional: ClassVar[bool] = True


RESOURCES: dict[str, Schema] = {
    "Approval": resource(
        {
            "id": ID,
            "memory_id": ID,
            "requested_by": OWNER,
            "requested_expires_at": optional(
                INSTANT | {"description": "Null: the memory is to live for ever."}
            ),
            "status": {"type": "string", "enum": [str(status) for status in ApprovalStatus]},
            "decided_by": optional(OWNER),
            "decided_at": optional(INSTANT),
            "valid_until": INSTANT,
        }
    )
}

_ONE = "/v1/approvals/{approval_id}"

OPERATIONS: tuple[Operation, ...] = (
    row(
        "listApprovals",
        "GET /v1/approvals",
        200,
        "List the caller's own requests, the newest first; an admin sees all.",
        response="Approval",
        query=(one_of("status", ApprovalStatus, "Only requests in this state."),),
        paging=LIST,
    ),
    row("getApproval", f"GET {_ONE}", 200, "Get a request.", response="Approval"),
    row(
        "approve",
        f"POST {_ONE}/approve",
        200,
        "Grant a request: the memory's expiry is set as asked. Nobody grants their own.",
        response="Approval",
        action=Action.ADMIN_WRITE,
        audit="approve",
        body=ApprovalDecision,
        refusals=(409,),
    ),
    row(
        "deny",
        f"POST {_ONE}/deny",
        200,
        "Refuse a request: the memory stays as it is. Nobody refuses their own.",
        response="Approval",
        action=Action.ADMIN_WRITE,
        audit="deny",
        body=ApprovalDecision,
        refusals=(409,),
    ),
)
