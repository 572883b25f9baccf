"""The REST operations of ownership transfers."""

from pydantic import Field

from recollect.conversations.sharing import requests
from recollect.conversations.sharing.transfer import TransferRole
from recollect.http.call import Handler, respond_with, respond_with_page
from recollect.http.examples import CONVERSATION_ID, OTHER_USER_ID, TRANSFER_ID, USER_ID
from recollect.http.operation import Envelope, Operation, Paging, conversation_operation
from recollect.http.params import lenient_enum_param
from recollect.http.resource import (
    IdText,
    InstantText,
    SparseResource,
    UnreadableFlag,
    attribute,
    resource_schemas,
)


class OwnershipTransferResource(SparseResource):
    """A pending transfer; its conversation is the root of the tree."""

    id: IdText = Field(description="The id of the transfer.", examples=[TRANSFER_ID])
    conversation_id: IdText = attribute(
        "tree_id", description="The root conversation of the tree.", examples=[CONVERSATION_ID]
    )
    conversation_title: str | None = Field(
        default=None, description="What that conversation is called.", examples=["Move to Bern"]
    )
    from_user_id: str = Field(description="The owner who offers it.", examples=[USER_ID])
    to_user_id: str = Field(description="The member who may accept.", examples=[OTHER_USER_ID])
    created_at: InstantText = Field(description="When it was offered.")
    unreadable: UnreadableFlag | None = None


RESOURCES = resource_schemas(OwnershipTransferResource)

_PATH = "/v1/ownership-transfers/{transferId}"
OPERATIONS: tuple[Operation, ...] = (
    conversation_operation(
        "listOwnershipTransfers",
        "GET /v1/ownership-transfers",
        200,
        "List the pending transfers that the caller takes part in, the newest first.",
        response="OwnershipTransfer",
        query=(
            lenient_enum_param(
                "role",
                TransferRole,
                "The caller's side: all, sender or recipient. Any other word means all.",
                TransferRole.ALL,
            ),
        ),
        paging=Paging(Envelope.B),
    ),
    conversation_operation(
        "createOwnershipTransfer",
        "POST /v1/ownership-transfers",
        201,
        "Offer the ownership of a tree to one of its members.",
        response="OwnershipTransfer",
        body=requests.NewTransfer,
        refusals=(404, 409),
    ),
    conversation_operation(
        "getOwnershipTransfer",
        f"GET {_PATH}",
        200,
        "Get a pending transfer. Only its two sides see it.",
        response="OwnershipTransfer",
    ),
    conversation_operation(
        "acceptOwnershipTransfer",
        f"POST {_PATH}/accept",
        204,
        "Accept a transfer. The recipient becomes owner, the former owner manager.",
    ),
    conversation_operation(
        "deleteOwnershipTransfer",
        f"DELETE {_PATH}",
        204,
        "Cancel or reject a transfer.",
    ),
)

HANDLERS: dict[str, Handler] = {
    "listOwnershipTransfers": respond_with_page(
        requests.list_transfers, OwnershipTransferResource.render
    ),
    "createOwnershipTransfer": respond_with(
        requests.create_transfer, OwnershipTransferResource.render
    ),
    "getOwnershipTransfer": respond_with(requests.get_transfer, OwnershipTransferResource.render),
    "acceptOwnershipTransfer": requests.accept_transfer,
    "deleteOwnershipTransfer": requests.delete_transfer,
}
