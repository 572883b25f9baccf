"""gRPC methods of memberships and ownership transfers."""

from recollect.conversations.grpc import conversation_path
from recollect.conversations.grpc_messages import (
    to_membership,
    to_page_info,
    to_transfer,
    to_transfers,
)
from recollect.conversations.requests import path_conversation_id
from recollect.conversations.sharing import requests
from recollect.http import paths
from recollect.http.call import Call
from recollect.kernel.errors import ValidationFailed
from recollect.rpc.generated import memory_service_pb2 as pb
from recollect.rpc.method import GrpcMethod, GrpcRequest, reply_empty, reply_with
from recollect.rpc.values import id_from_bytes, required_id

_LEVELS = {
    pb.OWNER: "owner",
    pb.MANAGER: "manager",
    pb.WRITER: "writer",
    pb.READER: "reader",
}
_ROLES = {pb.SENDER: "sender", pb.RECIPIENT: "recipient"}
_TransferIdRequest = (
    pb.GetOwnershipTransferRequest
    | pb.AcceptOwnershipTransferRequest
    | pb.DeleteOwnershipTransferRequest
)


def parse_list_memberships(message: pb.ListMembershipsRequest) -> GrpcRequest:
    return GrpcRequest.for_page(message.page, path=conversation_path(message.conversation_id))


def parse_share(message: pb.ShareConversationRequest) -> GrpcRequest:
    body = {
        "userId": message.user_id or None,
        "accessLevel": _level_name(message.access_level),
        "confirmed": message.confirmed,
    }
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
    page = await requests.list_memberships(call)
    conversation_id = path_conversation_id(call)
    return pb.ListMembershipsResponse(
        memberships=[to_membership(member, conversation_id) for member in page.items],
        page_info=to_page_info(page.next_cursor),
    )


async def share_conversation(call: Call) -> pb.ConversationMembership:
    membership = await requests.share_conversation(call)
    return to_membership(membership, path_conversation_id(call))


async def update_membership(call: Call) -> pb.ConversationMembership:
    membership = await requests.update_membership(call)
    return to_membership(membership, path_conversation_id(call))


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
        "deleteMembership", parse_delete_membership, reply_empty(requests.delete_membership)
    ),
    "OwnershipTransfersService/ListOwnershipTransfers": GrpcMethod(
        "listOwnershipTransfers",
        parse_list_transfers,
        reply_with(requests.list_transfers, to_transfers),
    ),
    "OwnershipTransfersService/CreateOwnershipTransfer": GrpcMethod(
        "createOwnershipTransfer",
        parse_create_transfer,
        reply_with(requests.create_transfer, to_transfer),
    ),
    "OwnershipTransfersService/GetOwnershipTransfer": GrpcMethod(
        "getOwnershipTransfer", parse_transfer_id, reply_with(requests.get_transfer, to_transfer)
    ),
    "OwnershipTransfersService/AcceptOwnershipTransfer": GrpcMethod(
        "acceptOwnershipTransfer", parse_transfer_id, reply_empty(requests.accept_transfer)
    ),
    "OwnershipTransfersService/DeleteOwnershipTransfer": GrpcMethod(
        "deleteOwnershipTransfer", parse_transfer_id, reply_empty(requests.delete_transfer)
    ),
}
