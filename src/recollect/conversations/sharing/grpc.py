"""gRPC methods of memberships and ownership transfers."""

from google.protobuf.empty_pb2 import Empty

from recollect.conversations.bodies import (
    MembershipPatch,
    NewMembership,
    NewTransfer,
)
from recollect.conversations.grpc import conversation_path
from recollect.conversations.grpc_messages import (
    to_membership,
    to_page_info,
    to_transfer,
)
from recollect.conversations.requests import path_conversation_id
from recollect.conversations.sharing.service import SharingService
from recollect.conversations.sharing.transfer_service import TransferService
from recollect.http import paths
from recollect.http.call import Call
from recollect.kernel.errors import ValidationFailed
from recollect.kernel.ids import ConversationId, TransferId, UserId
from recollect.rpc.generated import memory_service_pb2 as pb
from recollect.rpc.method import GrpcMethod, GrpcRequest
from recollect.rpc.values import id_from_bytes, required_id

_LEVELS = {
    pb.ACCESS_LEVEL_OWNER: "owner",
    pb.ACCESS_LEVEL_MANAGER: "manager",
    pb.ACCESS_LEVEL_WRITER: "writer",
    pb.ACCESS_LEVEL_READER: "reader",
}
_ROLES = {pb.TRANSFER_ROLE_SENDER: "sender", pb.TRANSFER_ROLE_RECIPIENT: "recipient"}
_TransferIdRequest = (
    pb.GetOwnershipTransferRequest
    | pb.AcceptOwnershipTransferRequest
    | pb.DeleteOwnershipTransferRequest
)


def parse_list_memberships(message: pb.ListMembershipsRequest) -> GrpcRequest:
    return GrpcRequest.for_page(message.page, path=conversation_path(message.conversation_id))


def parse_share(message: pb.ShareConversationRequest) -> GrpcRequest:
    body = {"userId": message.user_id or None, "accessLevel": _level_name(message.access_level)}
    return GrpcRequest(path=conversation_path(message.conversation_id), body=body)


def parse_update_membership(message: pb.UpdateMembershipRequest) -> GrpcRequest:
    body = {"accessLevel": _level_name(message.access_level)}
    return GrpcRequest(
        path=_membership_path(message.conversation_id, message.member_user_id), body=body
    )


def parse_delete_membership(message: pb.DeleteMembershipRequest) -> GrpcRequest:
    return GrpcRequest(path=_membership_path(message.conversation_id, message.member_user_id))


def parse_list_transfers(message: pb.ListOwnershipTransfersRequest) -> GrpcRequest:
    """The role filter and the page."""
    return GrpcRequest.for_page(message.page, query={"role": _ROLES.get(message.role, "")})


def parse_create_transfer(message: pb.CreateOwnershipTransferRequest) -> GrpcRequest:
    """The conversation and its new owner."""
    return GrpcRequest(
        body={
            "conversationId": id_from_bytes(message.conversation_id, "conversation_id"),
            "newOwnerUserId": message.new_owner_user_id or None,
        }
    )


def parse_transfer_id(message: _TransferIdRequest) -> GrpcRequest:
    return GrpcRequest(path={"transferId": required_id(message.transfer_id, "transfer_id")})


def _level_name(level: pb.AccessLevel) -> str | None:
    return _LEVELS.get(level, str(level)) if level else None


def _membership_path(conversation_id: bytes, user_id: str) -> dict[str, str]:
    if not user_id:
        raise ValidationFailed.for_field("member_user_id", "must not be empty")
    path = conversation_path(conversation_id) | {"userId": user_id}
    paths.check_user(path)
    return path


async def list_memberships(call: Call) -> pb.ListMembershipsResponse:
    """The members, under the conversation that was named."""
    conversation_id = path_conversation_id(call)
    page = await call.services[SharingService].list(
        call.principal, conversation_id, after=call.page.after, limit=call.page.limit
    )
    return pb.ListMembershipsResponse(
        memberships=[to_membership(member, conversation_id) for member in page.items],
        page_info=to_page_info(page.next_cursor),
    )


async def share_conversation(call: Call) -> pb.ConversationMembership:
    """Add a member, or replace a member's level."""
    body: NewMembership = call.body
    conversation_id = path_conversation_id(call)
    membership = await call.services[SharingService].share(
        call.principal, conversation_id, UserId(body.user_id), body.access_level
    )
    return to_membership(membership, conversation_id)


async def update_membership(call: Call) -> pb.ConversationMembership:
    body: MembershipPatch = call.body
    conversation_id = path_conversation_id(call)
    membership = await call.services[SharingService].change(
        call.principal, conversation_id, UserId(call.path["userId"]), body.access_level
    )
    return to_membership(membership, conversation_id)


async def delete_membership(call: Call) -> Empty:
    """Remove a member, or leave."""
    await call.services[SharingService].remove(
        call.principal, path_conversation_id(call), UserId(call.path["userId"])
    )
    return Empty()


async def list_transfers(call: Call) -> pb.ListOwnershipTransfersResponse:
    page = await call.services[TransferService].list(
        call.principal, role=call.query["role"], after=call.page.after, limit=call.page.limit
    )
    return pb.ListOwnershipTransfersResponse(
        transfers=map(to_transfer, page.items), page_info=to_page_info(page.next_cursor)
    )


async def create_transfer(call: Call) -> pb.OwnershipTransfer:
    """Offer a tree to a member."""
    body: NewTransfer = call.body
    transfer = await call.services[TransferService].create(
        call.principal, ConversationId(body.conversation_id), UserId(body.new_owner_user_id)
    )
    return to_transfer(transfer)


async def get_transfer(call: Call) -> pb.OwnershipTransfer:
    return to_transfer(
        await call.services[TransferService].get(call.principal, _path_transfer_id(call))
    )


async def accept_transfer(call: Call) -> Empty:
    """Become the owner."""
    await call.services[TransferService].accept(call.principal, _path_transfer_id(call))
    return Empty()


async def delete_transfer(call: Call) -> Empty:
    """Cancel or reject."""
    await call.services[TransferService].delete(call.principal, _path_transfer_id(call))
    return Empty()


def _path_transfer_id(call: Call) -> TransferId:
    return TransferId(call.path["transferId"])


METHODS: dict[str, GrpcMethod] = {
    "ConversationMembershipsService/ListMemberships": GrpcMethod(
        "listMemberships", parse_list_memberships, list_memberships
    ),
    "ConversationMembershipsService/ShareConversation": GrpcMethod(
        "shareConversation", parse_share, share_conversation
    ),
    "ConversationMembershipsService/UpdateMembership": GrpcMethod(
        "updateMembership", parse_update_membership, update_membership
    ),
    "ConversationMembershipsService/DeleteMembership": GrpcMethod(
        "deleteMembership", parse_delete_membership, delete_membership
    ),
    "OwnershipTransfersService/ListOwnershipTransfers": GrpcMethod(
        "listOwnershipTransfers", parse_list_transfers, list_transfers
    ),
    "OwnershipTransfersService/CreateOwnershipTransfer": GrpcMethod(
        "createOwnershipTransfer", parse_create_transfer, create_transfer
    ),
    "OwnershipTransfersService/GetOwnershipTransfer": GrpcMethod(
        "getOwnershipTransfer", parse_transfer_id, get_transfer
    ),
    "OwnershipTransfersService/AcceptOwnershipTransfer": GrpcMethod(
        "acceptOwnershipTransfer", parse_transfer_id, accept_transfer
    ),
    "OwnershipTransfersService/DeleteOwnershipTransfer": GrpcMethod(
        "deleteOwnershipTransfer", parse_transfer_id, delete_transfer
    ),
}
