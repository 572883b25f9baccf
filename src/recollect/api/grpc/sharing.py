"""gRPC methods of memberships and ownership transfers."""

from google.protobuf.empty_pb2 import Empty

from recollect.api import paths
from recollect.api.bodies import MembershipPatch, NewMembership, NewTransfer
from recollect.api.calls import Call
from recollect.api.conversation_calls import conversation_of
from recollect.api.grpc.conversations import in_conversation
from recollect.api.grpc.dispatch import Asked, Method, method
from recollect.api.grpc.generated import memory_service_pb2 as pb
from recollect.api.grpc.messages import to_membership, to_page_info, to_transfer
from recollect.api.grpc.values import from_id, needed_id
from recollect.domain.ids import ConversationId, TransferId, UserId
from recollect.errors import ValidationFailed

_LEVELS = {
    pb.ACCESS_LEVEL_OWNER: "owner",
    pb.ACCESS_LEVEL_MANAGER: "manager",
    pb.ACCESS_LEVEL_WRITER: "writer",
    pb.ACCESS_LEVEL_READER: "reader",
}
_ROLES = {pb.TRANSFER_ROLE_SENDER: "sender", pb.TRANSFER_ROLE_RECIPIENT: "recipient"}
_ById = (
    pb.GetOwnershipTransferRequest
    | pb.AcceptOwnershipTransferRequest
    | pb.DeleteOwnershipTransferRequest
)


def ask_for_memberships(message: pb.ListMembershipsRequest) -> Asked:
    return Asked.page(message.page, path=in_conversation(message.conversation_id))


def ask_to_share(message: pb.ShareConversationRequest) -> Asked:
    body = {"userId": message.user_id or None, "accessLevel": _level(message.access_level)}
    return Asked(path=in_conversation(message.conversation_id), body=body)


def ask_for_change(message: pb.UpdateMembershipRequest) -> Asked:
    body = {"accessLevel": _level(message.access_level)}
    return Asked(path=_member(message.conversation_id, message.member_user_id), body=body)


def ask_for_removal(message: pb.DeleteMembershipRequest) -> Asked:
    return Asked(path=_member(message.conversation_id, message.member_user_id))


def ask_for_transfers(message: pb.ListOwnershipTransfersRequest) -> Asked:
    """The role filter and the page."""
    return Asked.page(message.page, query={"role": _ROLES.get(message.role, "")})


def ask_for_transfer(message: pb.CreateOwnershipTransferRequest) -> Asked:
    """The conversation and its new owner."""
    return Asked(
        body={
            "conversationId": from_id(message.conversation_id, "conversation_id"),
            "newOwnerUserId": message.new_owner_user_id or None,
        }
    )


def ask_by_id(message: _ById) -> Asked:
    return Asked(path={"transferId": needed_id(message.transfer_id, "transfer_id")})


def _level(level: pb.AccessLevel) -> str | None:
    return _LEVELS.get(level, str(level)) if level else None


def _member(conversation_id: bytes, user_id: str) -> dict[str, str]:
    if not user_id:
        raise ValidationFailed.of("member_user_id", "must not be empty")
    path = in_conversation(conversation_id) | {"userId": user_id}
    paths.check_user(path)
    return path


async def list_memberships(call: Call) -> pb.ListMembershipsResponse:
    """The members, under the conversation that was named."""
    conversation_id = conversation_of(call)
    page = await call.services.sharing.list(
        call.principal, conversation_id, after=call.page.after, limit=call.page.limit
    )
    return pb.ListMembershipsResponse(
        memberships=[to_membership(member, conversation_id) for member in page.items],
        page_info=to_page_info(page.next_cursor),
    )


async def share_conversation(call: Call) -> pb.ConversationMembership:
    """Add a member, or replace a member's level."""
    body: NewMembership = call.body
    conversation_id = conversation_of(call)
    membership = await call.services.sharing.share(
        call.principal, conversation_id, UserId(body.user_id), body.access_level
    )
    return to_membership(membership, conversation_id)


async def update_membership(call: Call) -> pb.ConversationMembership:
    body: MembershipPatch = call.body
    conversation_id = conversation_of(call)
    membership = await call.services.sharing.change(
        call.principal, conversation_id, UserId(call.path["userId"]), body.access_level
    )
    return to_membership(membership, conversation_id)


async def delete_membership(call: Call) -> Empty:
    """Remove a member, or leave."""
    await call.services.sharing.remove(
        call.principal, conversation_of(call), UserId(call.path["userId"])
    )
    return Empty()


async def list_transfers(call: Call) -> pb.ListOwnershipTransfersResponse:
    page = await call.services.transfers.list(
        call.principal, role=call.query["role"], after=call.page.after, limit=call.page.limit
    )
    return pb.ListOwnershipTransfersResponse(
        transfers=map(to_transfer, page.items), page_info=to_page_info(page.next_cursor)
    )


async def create_transfer(call: Call) -> pb.OwnershipTransfer:
    """Offer a tree to a member."""
    body: NewTransfer = call.body
    transfer = await call.services.transfers.create(
        call.principal, ConversationId(body.conversation_id), UserId(body.new_owner_user_id)
    )
    return to_transfer(transfer)


async def get_transfer(call: Call) -> pb.OwnershipTransfer:
    return to_transfer(await call.services.transfers.get(call.principal, _transfer_of(call)))


async def accept_transfer(call: Call) -> Empty:
    """Become the owner."""
    await call.services.transfers.accept(call.principal, _transfer_of(call))
    return Empty()


async def delete_transfer(call: Call) -> Empty:
    """Cancel or reject."""
    await call.services.transfers.delete(call.principal, _transfer_of(call))
    return Empty()


def _transfer_of(call: Call) -> TransferId:
    return TransferId(call.path["transferId"])


METHODS: dict[str, Method] = {
    "ConversationMembershipsService/ListMemberships": method(
        "listMemberships", ask_for_memberships, list_memberships
    ),
    "ConversationMembershipsService/ShareConversation": method(
        "shareConversation", ask_to_share, share_conversation
    ),
    "ConversationMembershipsService/UpdateMembership": method(
        "updateMembership", ask_for_change, update_membership
    ),
    "ConversationMembershipsService/DeleteMembership": method(
        "deleteMembership", ask_for_removal, delete_membership
    ),
    "OwnershipTransfersService/ListOwnershipTransfers": method(
        "listOwnershipTransfers", ask_for_transfers, list_transfers
    ),
    "OwnershipTransfersService/CreateOwnershipTransfer": method(
        "createOwnershipTransfer", ask_for_transfer, create_transfer
    ),
    "OwnershipTransfersService/GetOwnershipTransfer": method(
        "getOwnershipTransfer", ask_by_id, get_transfer
    ),
    "OwnershipTransfersService/AcceptOwnershipTransfer": method(
        "acceptOwnershipTransfer", ask_by_id, accept_transfer
    ),
    "OwnershipTransfersService/DeleteOwnershipTransfer": method(
        "deleteOwnershipTransfer", ask_by_id, delete_transfer
    ),
}
