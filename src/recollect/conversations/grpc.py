"""gRPC methods of conversations and forks.

Each method has a function that parses its message and one that runs the operation."""

from functools import partial

from google.protobuf.empty_pb2 import Empty

from recollect.conversations.bodies import (
    ConversationPatch,
    NewConversation,
    NewFork,
)
from recollect.conversations.grpc_messages import (
    estimate_metadata_size,
    to_conversation,
    to_fork,
    to_page_info,
    to_summaries,
)
from recollect.conversations.requests import path_conversation_id
from recollect.conversations.service import ConversationService
from recollect.http.call import Call
from recollect.kernel.ids import EntryId
from recollect.rpc.generated import memory_service_pb2 as pb
from recollect.rpc.method import DeferredReply, GrpcMethod, GrpcRequest
from recollect.rpc.values import required_id, struct_to_json

_MODES = {
    pb.CONVERSATION_LIST_MODE_UNSPECIFIED: "",
    pb.CONVERSATION_LIST_MODE_ALL: "all",
    pb.CONVERSATION_LIST_MODE_ROOTS: "roots",
    pb.CONVERSATION_LIST_MODE_LATEST_FORK: "latest-fork",
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
    """An absent title stays, an empty one clears it."""
    body = {"title": message.title or None} if message.HasField("title") else {}
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


async def list_conversations(call: Call) -> DeferredReply:
    """A page of the caller's conversations."""
    page = await call.services[ConversationService].list(
        call.principal,
        mode=call.query["mode"],
        query=call.query["query"],
        after=call.page.after,
        limit=call.page.size,
    )
    return DeferredReply(partial(to_summaries, page), estimate_metadata_size(page.items))


async def create_conversation(call: Call) -> pb.Conversation:
    body: NewConversation = call.body
    seen = await call.services[ConversationService].create(
        call.principal, title=body.title, metadata=body.metadata or {}
    )
    return to_conversation(seen)


async def get_conversation(call: Call) -> pb.Conversation:
    return to_conversation(
        await call.services[ConversationService].get(call.principal, path_conversation_id(call))
    )


async def update_conversation(call: Call) -> pb.Conversation:
    """Rename a conversation."""
    body: ConversationPatch = call.body
    seen = await call.services[ConversationService].rename(
        call.principal, path_conversation_id(call), body.new_title
    )
    return to_conversation(seen)


async def delete_conversation(call: Call) -> Empty:
    """Soft-delete a tree."""
    await call.services[ConversationService].delete(call.principal, path_conversation_id(call))
    return Empty()


async def fork_conversation(call: Call) -> pb.Conversation:
    body: NewFork = call.body
    seen = await call.services[ConversationService].fork(
        call.principal, path_conversation_id(call), EntryId(call.path["entryId"]), title=body.title
    )
    return to_conversation(seen)


async def list_forks(call: Call) -> pb.ListForksResponse:
    """The conversations of a tree."""
    page = await call.services[ConversationService].list_forks(
        call.principal, path_conversation_id(call), after=call.page.after, limit=call.page.limit
    )
    return pb.ListForksResponse(
        forks=map(to_fork, page.items), page_info=to_page_info(page.next_cursor)
    )


METHODS: dict[str, GrpcMethod] = {
    "ConversationsService/ListConversations": GrpcMethod(
        "listConversations", parse_list_conversations, list_conversations
    ),
    "ConversationsService/CreateConversation": GrpcMethod(
        "createConversation", parse_create, create_conversation
    ),
    "ConversationsService/GetConversation": GrpcMethod(
        "getConversation", parse_by_id, get_conversation
    ),
    "ConversationsService/UpdateConversation": GrpcMethod(
        "updateConversation", parse_update, update_conversation
    ),
    "ConversationsService/DeleteConversation": GrpcMethod(
        "deleteConversation", parse_by_id, delete_conversation
    ),
    "ConversationsService/ForkConversation": GrpcMethod(
        "forkConversation", parse_fork, fork_conversation
    ),
    "ConversationsService/ListForks": GrpcMethod("listForks", parse_list_forks, list_forks),
}
