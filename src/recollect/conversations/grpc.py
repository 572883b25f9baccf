"""gRPC methods of conversations and forks: how each message is parsed, and the reply rendered."""

from typing import Any

from recollect.conversations import requests
from recollect.conversations.grpc_messages import (
    estimate_metadata_size,
    to_conversation,
    to_forks,
    to_summaries,
)
from recollect.rpc.generated import memory_service_pb2 as pb
from recollect.rpc.method import (
    GrpcMethod,
    GrpcRequest,
    reply_empty,
    reply_later,
    reply_with,
)
from recollect.rpc.values import required_id, struct_to_json

_MODES = {
    pb.CONVERSATION_LIST_MODE_UNSPECIFIED: "",
    pb.ALL: "all",
    pb.ROOTS: "roots",
    pb.LATEST_FORK: "latest-fork",
}


def parse_list_conversations(message: pb.ListConversationsRequest) -> GrpcRequest:
    """The filters and the page of a list."""
    mode = _MODES.get(message.mode, str(message.mode))
    return GrpcRequest.for_page(message.page, query={"mode": mode, "query": message.query})


def parse_create(message: pb.CreateConversationRequest) -> GrpcRequest:
    """Title and metadata, both optional."""
    metadata = struct_to_json(message.metadata) if message.HasField("metadata") else None
    return GrpcRequest(body={"title": message.title or None, "metadata": metadata})


def parse_by_id(message: pb.GetConversationRequest | pb.DeleteConversationRequest) -> GrpcRequest:
    return GrpcRequest(path=conversation_path(message.conversation_id))


def parse_update(message: pb.UpdateConversationRequest) -> GrpcRequest:
    """An absent title or metadata stay, empty ones clear it."""
    body: dict[str, Any] = {}
    if message.HasField("title"):
        body["title"] = message.title or None
    if message.HasField("metadata"):
        body["metadata"] = struct_to_json(message.metadata)
    return GrpcRequest(path=conversation_path(message.conversation_id), body=body)


def parse_fork(message: pb.ForkConversationRequest) -> GrpcRequest:
    """The entry to fork at, and a title."""
    path = conversation_path(message.conversation_id)
    entry_id = required_id(message.entry_id, "entry_id")
    return GrpcRequest(path=path | {"entryId": entry_id}, body={"title": message.title or None})


def parse_list_forks(message: pb.ListForksRequest) -> GrpcRequest:
    return GrpcRequest.for_page(message.page, path=conversation_path(message.conversation_id))


def conversation_path(conversation_id: bytes) -> dict[str, str]:
    """The path parameters of an operation on a conversation."""
    return {"id": required_id(conversation_id, "conversation_id")}


METHODS: dict[str, GrpcMethod] = {
    "ConversationsService/ListConversations": GrpcMethod(
        "listConversations",
        parse_list_conversations,
        reply_later(requests.list_conversations, to_summaries, estimate_metadata_size),
    ),
    "ConversationsService/CreateConversation": GrpcMethod(
        "createConversation",
        parse_create,
        reply_with(requests.create_conversation, to_conversation),
    ),
    "ConversationsService/GetConversation": GrpcMethod(
        "getConversation", parse_by_id, reply_with(requests.get_conversation, to_conversation)
    ),
    "ConversationsService/UpdateConversation": GrpcMethod(
        "updateConversation",
        parse_update,
        reply_with(requests.update_conversation, to_conversation),
    ),
    "ConversationsService/DeleteConversation": GrpcMethod(
        "deleteConversation", parse_by_id, reply_empty(requests.delete_conversation)
    ),
    "ConversationsService/ForkConversation": GrpcMethod(
        "forkConversation", parse_fork, reply_with(requests.fork_conversation, to_conversation)
    ),
    "ConversationsService/ListForks": GrpcMethod(
        "listForks", parse_list_forks, reply_with(requests.list_forks, to_forks)
    ),
}
