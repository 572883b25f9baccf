"""gRPC methods of entries (append, list, sync), of search and of indexing."""

from functools import partial
from typing import Any

from recollect.conversations.grpc import conversation_path
from recollect.conversations.grpc_messages import (
    estimate_size,
    to_entries,
    to_entry,
    to_results,
    to_sync_outcome,
    to_unindexed,
)
from recollect.conversations.requests import (
    entry_query,
    new_entry,
    new_text,
    path_conversation_id,
    search_request,
)
from recollect.http.call import Call
from recollect.identity.actions import Action
from recollect.rpc.generated import memory_service_pb2 as pb
from recollect.rpc.method import DeferredReply, GrpcMethod, GrpcRequest
from recollect.rpc.values import id_from_bytes, value_to_json

_CHANNELS = {pb.CHANNEL_HISTORY: "history", pb.CHANNEL_MEMORY: "memory"}


def parse_list_entries(message: pb.ListEntriesRequest) -> GrpcRequest:
    """The filters and the page of a list."""
    query = {
        "channel": _channel_name(message.channel) or "",
        "epoch": message.epoch_filter,
        "forks": message.forks,
    }
    return GrpcRequest.for_page(
        message.page, path=conversation_path(message.conversation_id), query=query
    )


def parse_write(message: pb.AppendEntryRequest | pb.SyncEntriesRequest) -> GrpcRequest:
    """The entry of an append or a sync. Empty protobuf fields count as absent."""
    entry = message.entry
    body: dict[str, Any] = {
        "userId": entry.user_id or None,
        "channel": _channel_name(entry.channel),
        "contentType": entry.content_type or None,
        "content": [value_to_json(item) for item in entry.content],
        "indexedContent": entry.indexed_content or None,
        "forkedAtConversationId": id_from_bytes(
            entry.forked_at_conversation_id, "entry.forked_at_conversation_id"
        ),
        "forkedAtEntryId": id_from_bytes(entry.forked_at_entry_id, "entry.forked_at_entry_id"),
    }
    return GrpcRequest(path=conversation_path(message.conversation_id), body=body)


def parse_search(message: pb.SearchEntriesRequest) -> GrpcRequest:
    """The query and its options. Optional flags are passed on only if they are set."""
    body: dict[str, Any] = {
        "query": message.query or None,
        "searchType": message.search_type or None,
        "after": message.after or None,
        "limit": message.limit or None,
    }
    if message.HasField("include_entry"):
        body["includeEntry"] = message.include_entry
    if message.HasField("group_by_conversation"):
        body["groupByConversation"] = message.group_by_conversation
    return GrpcRequest(body=body)


def parse_index(message: pb.IndexConversationsRequest) -> GrpcRequest:
    """The texts of an index call."""
    return GrpcRequest(body=[_index_item(item) for item in message.entries])


def parse_list_unindexed(message: pb.ListUnindexedEntriesRequest) -> GrpcRequest:
    """The page of entries without a text."""
    return GrpcRequest(after=message.cursor, limit=message.limit or None)


def _channel_name(channel: pb.Channel) -> str | None:
    return _CHANNELS.get(channel, str(channel)) if channel else None


def _index_item(item: pb.IndexEntryRequest) -> dict[str, str]:
    members = {
        "conversationId": id_from_bytes(item.conversation_id, "conversation_id"),
        "entryId": id_from_bytes(item.entry_id, "entry_id"),
        "indexedContent": item.indexed_content or None,
    }
    return {name: member for name, member in members.items() if member is not None}


async def append_entry(call: Call) -> DeferredReply:
    entry = await call.services.entries.append(
        call.principal, path_conversation_id(call), new_entry(call.body)
    )
    return DeferredReply(partial(to_entry, entry), estimate_size([entry]))


async def list_entries(call: Call) -> DeferredReply:
    """A page of the visible path, or of the whole tree."""
    page = await call.services.entries.list(
        call.principal,
        path_conversation_id(call),
        entry_query(call),
        after=call.page.after,
        limit=call.page.size,
    )
    return DeferredReply(partial(to_entries, page), estimate_size(page.items))


async def sync_entries(call: Call) -> DeferredReply:
    """Make the client's memory equal to the list."""
    outcome = await call.services.entries.sync(
        call.principal, path_conversation_id(call), new_entry(call.body)
    )
    return DeferredReply(partial(to_sync_outcome, outcome), estimate_size([outcome.entry]))


async def search(call: Call) -> DeferredReply:
    """Search the caller's trees. Stages that failed are named in the trailer `degraded`."""
    page = await call.services.search.search(call.principal, search_request(call))
    trailers = (("degraded", ",".join(page.degraded)),) if page.degraded else ()
    size = estimate_size(hit.entry for hit in page.items)
    return DeferredReply(partial(to_results, page), size, trailers)


async def index_entries(call: Call) -> pb.IndexConversationsResponse:
    """Store the texts of an indexer, all or none."""
    texts = [new_text(item) for item in call.body.root]
    return pb.IndexConversationsResponse(
        indexed=await call.services.indexing.index(call.principal, texts)
    )


async def list_unindexed(call: Call) -> DeferredReply:
    """Entries that have no text to be found by."""
    page = await call.services.indexing.list_unindexed(
        call.principal, cursor=call.page.after, limit=call.page.size
    )
    return DeferredReply(partial(to_unindexed, page), estimate_size(page.items))


# Over gRPC every append needs an API key, whatever the channel: hence the action WRITE_MEMORY.
METHODS: dict[str, GrpcMethod] = {
    "EntriesService/ListEntries": GrpcMethod("listEntries", parse_list_entries, list_entries),
    "EntriesService/AppendEntry": GrpcMethod(
        "appendEntry", parse_write, append_entry, Action.WRITE_MEMORY
    ),
    "EntriesService/SyncEntries": GrpcMethod("syncEntries", parse_write, sync_entries),
    "SearchService/SearchConversations": GrpcMethod("searchConversations", parse_search, search),
    "SearchService/IndexConversations": GrpcMethod("indexEntries", parse_index, index_entries),
    "SearchService/ListUnindexedEntries": GrpcMethod(
        "listUnindexed", parse_list_unindexed, list_unindexed
    ),
}
