"""Operations of approvals: requests to let a memory with critical personal data live past its
cap."""

from datetime import datetime
from typing import Annotated

from pydantic import Field, PlainSerializer, WithJsonSchema

from recollect.http.call import Call, Handler
from recollect.http.examples import APPROVAL_ID, INSTANT_EXAMPLE, MEMORY_ID, USER_ID
from recollect.http.operation import LIST, OWNER, Operation, memory_operation
from recollect.http.params import enum_param
from recollect.http.resource import InstantText, Resource, resource_schemas
from recollect.http.schemas import INSTANT, nullable_schema
from recollect.identity.actions import Action
from recollect.kernel.clock import to_text
from recollect.memories.expiry import FOREVER, ApprovalStatus
from recollect.retention.approvals import ApprovalService
from recollect.retention.commands import DecideApproval

_OwnerId = Annotated[str, WithJsonSchema(OWNER)]
_REQUESTED_EXPIRY = nullable_schema(
    INSTANT | {"description": "Null: the memory is to live for ever."}
)


class ApprovalResource(Resource):
    """A request to let a memory live past its cap."""

    id: str = Field(description="The id of the request.", examples=[APPROVAL_ID])
    memory_id: str = Field(description="The memory that is to live longer.", examples=[MEMORY_ID])
    requested_by: _OwnerId = Field(description="Who asked.", examples=[USER_ID])
    requested_expires_at: Annotated[
        datetime,
        PlainSerializer(lambda at: None if at == FOREVER else to_text(at)),
        WithJsonSchema(_REQUESTED_EXPIRY),
    ] = Field(description="The expiry that is asked for. Null: the memory is to live for ever.")
    status: ApprovalStatus = Field(description="Whether it is open, or how it was decided.")
    decided_by: _OwnerId | None = Field(description="Who decided; null while it is open.")
    decided_at: InstantText | None = Field(
        description="When it was decided; null while it is open."
    )
    valid_until: InstantText = Field(description="Until when it can be decided.")


RESOURCES = resource_schemas(ApprovalResource)

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
        answered={"status": "approved", "decided_by": "root", "decided_at": INSTANT_EXAMPLE},
        body=DecideApproval,
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
        answered={"status": "denied", "decided_by": "root", "decided_at": INSTANT_EXAMPLE},
        body=DecideApproval,
        refusals=(409,),
    ),
)


async def list_approvals(call: Call) -> bytes:
    page = await call.services[ApprovalService].list(
        call.required_requester,
        status=call.query["status"],
        after=call.page.after,
        limit=call.page.size,
    )
    return call.render_page(map(ApprovalResource.render, page.items), page.next_cursor)


async def get_approval(call: Call) -> str:
    return ApprovalResource.render(
        await call.services[ApprovalService].get(call.required_requester, call.path["approval_id"])
    )


async def approve(call: Call) -> str:
    return await _decide(call, approve=True)


async def deny(call: Call) -> str:
    return await _decide(call, approve=False)


async def _decide(call: Call, *, approve: bool) -> str:
    decided = await call.services[ApprovalService].decide(
        call.required_requester, call.path["approval_id"], call.justified_body, approve=approve
    )
    return ApprovalResource.render(decided)


HANDLERS: dict[str, Handler] = {
    "listApprovals": list_approvals,
    "getApproval": get_approval,
    "approve": approve,
    "deny": deny,
}
