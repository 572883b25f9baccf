"""gRPC methods of conversations and forks.

Each method has a function that parses its message and one that runs the operation."""

from functools import partial

from google.protobuf.empty_pb2 import Empty

from recollect.api.bodies import ConversationPatch, NewConversation, NewFork
from recollect.api.calls import Call
from recollect.api.conversation_calls import conversation_of
from recollect.api.grpc.dispatch import Asked, Method, Told, method
from recollect.api.grpc.generated import memory_service_pb2 as pb
from recollect.api.grpc.messages import (
    size_of_metadata,
    to_conversation,
    to_fork,
    to_page_info,
    to_summaries,
)
from recollect.api.grpc.values import from_struct, needed_id
from recollect.domain.ids import EntryId

_MODES = {
    pb.CONVERSATION_LIST_MODE_UNSPECIFIED: "",
    pb.CONVERSATION_LIST_MODE_ALL: "all",
    pb.CONVERSATION_LIST_MODE_ROOTS: "roots",
    pb.CONVERSATION_LIST_MODE_LATEST_FORK: "latest-fork",
}


def ask_for_conversations(message: pb.ListConversationsRequest) -> Asked:
    """The filters and the page of a list."""
    mode = _MODES.get(message.mode, str(message.mode))
    return Asked.page(message.page, query={"mode": mode, "query": message.query})


def ask_for_new(message: pb.CreateConversationRequest) -> Asked:
    """Title and metadata, both optional."""
    metadata = from_struct(message.metadata) if message.HasField("metadata") else None
    return Asked(body={"title": message.title or None, "metadata": metadata})


def ask_by_id(message: pb.GetConversationRequest | pb.DeleteConversationRequest) -> Asked:
    return Asked(path=in_conversation(message.conversation_id))


def ask_for_rename(message: pb.UpdateConversationRequest) -> Asked:
    """An absent title stays, an empty one clears it."""
    body = {"title": message.title or None} if message.HasField("title") else {}
    return Asked(path=in_conversation(message.conversation_id), body=body)


def ask_for_fork(message: pb.ForkConversationRequest) -> Asked:
    """The entry to fork at, and a title."""
    path = in_conversation(message.conversation_id)
    entry_id = needed_id(message.entry_id, "entry_id")
    return Asked(path=path | {"entryId": entry_id}, body={"title": message.title or None})


def ask_for_forks(message: pb.ListForksRequest) -> Asked:
    return Asked.page(message.page, path=in_conversation(message.conversation_id))


def in_conversation(conversation_id: bytes) -> dict[str, str]:
    """The path parameters of an operation on a conversation."""
    return {"id": needed_id(conversation_id, "conversation_id")}


async def list_conversations(call: Call) -> Told:
    """A page of the caller's conversations."""
    page = await call.services.conversations.list(
        call.principal,
        mode=call.query["mode"],
        query=call.query["query"],
        after=call.page.after,
        limit=call.page.size,
    )
    return Told(partial(to_summaries, page), size_of_metadata(page.items))


async def create_conversation(call: Call) -> pb.Conversation:
    body: NewConversation = call.body
    seen = await call.services.conversations.create(
        call.principal, title=body.title, metadata=body.metadata or {}
    )
    return to_conversation(seen)


async def get_conversation(call: Call) -> pb.Conversation:
    return to_conversation(
        await call.services.conversations.get(call.principal, conversation_of(call))
    )


async def update_conversation(call: Call) -> pb.Conversation:
    """Rename a conversation."""
    body: ConversationPatch = call.body
    seen = await call.services.conversations.rename(
        call.principal, conversation_of(call), body.new_title
    )
    return to_conversation(seen)


async def delete_conversation(call: Call) -> Empty:
    """Soft-delete a tree."""
    await call.services.conversations.delete(call.principal, conversation_of(call))
    return Empty()


async def fork_conversation(call: Call) -> pb.Conversation:
    body: NewFork = call.body
    seen = await call.services.conversations.fork(
        call.principal, conversation_of(call), EntryId(call.path["entryId"]), title=body.title
    )
    return to_conversation(seen)


async def list_forks(call: Call) -> pb.ListForksResponse:
    """The conversations of a tree."""
    page = await call.services.conversations.list_forks(
        call.principal, conversation_of(call), after=call.page.after, limit=call.page.limit
    )
    return pb.ListForksResponse(
        forks=map(to_fork, page.items), page_info=to_page_info(page.next_cursor)
    )


METHODS: dict[str, Method] = {
    "ConversationsService/ListConversations": method(
        "listConversations", ask_for_conversations, list_conversations
    ),
    "ConversationsService/CreateConversation": method(
        "createConversation", ask_for_new, create_conversation
    ),
    "ConversationsService/GetConversation": method("getConversation", ask_by_id, get_conversation),
    "ConversationsService/UpdateConversation": method(
        "updateConversation", ask_for_rename, update_conversation
    ),
    "ConversationsService/DeleteConversation": method(
        "deleteConversation", ask_by_id, delete_conversation
    ),
    "ConversationsService/ForkConversation": method(
        "forkConversation", ask_for_fork, fork_conversation
    ),
    "ConversationsService/ListForks": method("listForks", ask_for_forks, list_forks),
}
