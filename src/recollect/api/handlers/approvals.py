"""Handlers of approvals."""

from recollect.api.calls import Call, Handler
from recollect.api.handlers.shapes import instant_text
from recollect.domain.expiry import FOREVER, Approval
from recollect.domain.jsontext import dump
from recollect.services.approvals import ApprovalVerdict


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
    page = await call.services.approvals.list(
        call.required_requester,
        status=call.query["status"],
        after=call.page.after,
        limit=call.page.size,
    )
    return call.render_page(map(approval_to_json, page.items), page.next_cursor)


async def get_approval(call: Call) -> str:
    return approval_to_json(
        await call.services.approvals.get(call.required_requester, call.path["approval_id"])
    )


async def approve(call: Call) -> str:
    return await _decide(call, approve=True)


async def deny(call: Call) -> str:
    return await _decide(call, approve=False)


async def _decide(call: Call, *, approve: bool) -> str:
    decision = ApprovalVerdict(approve, call.justification)
    decided = await call.services.approvals.decide(
        call.required_requester, call.path["approval_id"], decision
    )
    return approval_to_json(decided)


HANDLERS: dict[str, Handler] = {
    "listApprovals": list_approvals,
    "getApproval": get_approval,
    "approve": approve,
    "deny": deny,
}
