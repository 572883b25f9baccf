"""Operations of approvals: requests to let a memory with critical personal data live past its
cap."""

from typing import ClassVar

from recollect.api.memory.rows import (
    ID,
    LIST,
    OWNER,
    JustifiedStrict,
    memory_operation,
    nullable_field,
    resource,
)
from recollect.api.operation import Operation
from recollect.api.params import Schema, enum_param
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
