"""gRPC methods of entries (append, list, sync), of search and of indexing."""

from functools import partial
from typing import Any

from recollect.api.calls import Call
from recollect.api.conversation_calls import (
    conversation_of,
    entry_query,
    new_entry,
    new_text,
    search_request,
)
from recollect.api.grpc.conversations import in_conversation
from recollect.api.grpc.dispatch import Asked, Method, Told, method
from recollect.api.grpc.generated import memory_service_pb2 as pb
from recollect.api.grpc.messages import (
    size_of,
    to_entries,
    to_entry,
    to_results,
    to_sync_outcome,
    to_unindexed,
)
from recollect.api.grpc.values import from_id, from_value
from recollect.policy.actions import Action

_CHANNELS = {pb.CHANNEL_HISTORY: "history", pb.CHANNEL_MEMORY: "memory"}


def ask_for_entries(message: pb.ListEntriesRequest) -> Asked:
    """The filters and the page of a list."""
    query = {
        "channel": _channel(message.channel) or "",
        "epoch": message.epoch_filter,
        "forks": message.forks,
    }
    return Asked.page(message.page, path=in_conversation(message.conversation_id), query=query)


def ask_to_write(message: pb.AppendEntryRequest | pb.SyncEntriesRequest) -> Asked:
    """The entry of an append or a sync. Empty protobuf fields count as absent."""
    entry = message.entry
    body: dict[str, Any] = {
        "userId": entry.user_id or None,
        "channel": _channel(entry.channel),
        "contentType": entry.content_type or None,
        "content": [from_value(item) for item in entry.content],
        "indexedContent": entry.indexed_content or None,
        "forkedAtConversationId": from_id(
            entry.forked_at_conversation_id, "entry.forked_at_conversation_id"
        ),
        "forkedAtEntryId": from_id(entry.forked_at_entry_id, "entry.forked_at_entry_id"),
    }
    return Asked(path=in_conversation(message.conversation_id), body=body)


def ask_to_search(message: pb.SearchEntriesRequest) -> Asked:
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
    return Asked(body=body)


def ask_to_index(message: pb.IndexConversationsRequest) -> Asked:
    """The texts of an index call."""
    return Asked(body=[_index_item(item) for item in message.entries])


def ask_for_unindexed(message: pb.ListUnindexedEntriesRequest) -> Asked:
    """The page of entries without a text."""
    return Asked(after=message.cursor, limit=message.limit or None)


def _channel(channel: pb.Channel) -> str | None:
    return _CHANNELS.get(channel, str(channel)) if channel else None


def _index_item(item: pb.IndexEntryRequest) -> dict[str, str]:
    members = {
        "conversationId": from_id(item.conversation_id, "conversation_id"),
        "entryId": from_id(item.entry_id, "entry_id"),
        "indexedContent": item.indexed_content or None,
    }
    return {name: member for name, member in members.items() if member is not None}


async def append_entry(call: Call) -> Told:
    entry = await call.services.entries.append(
        call.principal, conversation_of(call), new_entry(call.body)
    )
    return Told(partial(to_entry, entry), size_of([entry]))


async def list_entries(call: Call) -> Told:
    """A page of the visible path, or of the whole tree."""
    page = await call.services.entries.list(
        call.principal,
        conversation_of(call),
        entry_query(call),
        after=call.page.after,
        limit=call.page.size,
    )
    return Told(partial(to_entries, page), size_of(page.items))


async def sync_entries(call: Call) -> Told:
    """Make the client's memory equal to the list."""
    outcome = await call.services.entries.sync(
        call.principal, conversation_of(call), new_entry(call.body)
    )
    return Told(partial(to_sync_outcome, outcome), size_of([outcome.entry]))


async def search(call: Call) -> Told:
    """Search the caller's trees. Stages that failed are named in the trailer `degraded`."""
    page = await call.services.search.search(call.principal, search_request(call))
    trailers = (("degraded", ",".join(page.degraded)),) if page.degraded else ()
    size = size_of(hit.entry for hit in page.items)
    return Told(partial(to_results, page), size, trailers)


async def index_entries(call: Call) -> pb.IndexConversationsResponse:
    """Store the texts of an indexer, all or none."""
    texts = [new_text(item) for item in call.body.root]
    return pb.IndexConversationsResponse(
        indexed=await call.services.indexing.index(call.principal, texts)
    )


async def list_unindexed(call: Call) -> Told:
    """Entries that have no text to be found by."""
    page = await call.services.indexing.list_unindexed(
        call.principal, cursor=call.page.after, limit=call.page.size
    )
    return Told(partial(to_unindexed, page), size_of(page.items))


# Over gRPC every append needs an API key, whatever the channel: hence the action WRITE_MEMORY.
METHODS: dict[str, Method] = {
    "EntriesService/ListEntries": method("listEntries", ask_for_entries, list_entries),
    "EntriesService/AppendEntry": method(
        "appendEntry", ask_to_write, append_entry, Action.WRITE_MEMORY
    ),
    "EntriesService/SyncEntries": method("syncEntries", ask_to_write, sync_entries),
    "SearchService/SearchConversations": method("searchConversations", ask_to_search, search),
    "SearchService/IndexConversations": method("indexEntries", ask_to_index, index_entries),
    "SearchService/ListUnindexedEntries": method(
        "listUnindexed", ask_for_unindexed, list_unindexed
    ),
}
