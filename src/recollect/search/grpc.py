"""gRPC methods of the search over entries, and of indexing."""

from functools import partial
from typing import Any

from recollect.conversations.grpc_messages import (
    estimate_size,
    to_results,
    to_unindexed,
)
from recollect.conversations.requests import (
    new_text,
    search_request,
)
from recollect.http.call import Call
from recollect.rpc.generated import memory_service_pb2 as pb
from recollect.rpc.method import DeferredReply, GrpcMethod, GrpcRequest
from recollect.rpc.values import id_from_bytes
from recollect.search.entries.indexing import IndexingService
from recollect.search.entries.service import EntrySearchService


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


def _index_item(item: pb.IndexEntryRequest) -> dict[str, str]:
    members = {
        "conversationId": id_from_bytes(item.conversation_id, "conversation_id"),
        "entryId": id_from_bytes(item.entry_id, "entry_id"),
        "indexedContent": item.indexed_content or None,
    }
    return {name: member for name, member in members.items() if member is not None}


async def search(call: Call) -> DeferredReply:
    """Search the caller's trees. Stages that failed are named in the trailer `degraded`."""
    page = await call.services[EntrySearchService].search(call.principal, search_request(call))
    trailers = (("degraded", ",".join(page.degraded)),) if page.degraded else ()
    size = estimate_size(hit.entry for hit in page.items)
    return DeferredReply(partial(to_results, page), size, trailers)


async def index_entries(call: Call) -> pb.IndexConversationsResponse:
    """Store the texts of an indexer, all or none."""
    texts = [new_text(item) for item in call.body.root]
    return pb.IndexConversationsResponse(
        indexed=await call.services[IndexingService].index(call.principal, texts)
    )


async def list_unindexed(call: Call) -> DeferredReply:
    """Entries that have no text to be found by."""
    page = await call.services[IndexingService].list_unindexed(
        call.principal, cursor=call.page.after, limit=call.page.size
    )
    return DeferredReply(partial(to_unindexed, page), estimate_size(page.items))


METHODS: dict[str, GrpcMethod] = {
    "SearchService/SearchConversations": GrpcMethod("searchConversations", parse_search, search),
    "SearchService/IndexConversations": GrpcMethod("indexEntries", parse_index, index_entries),
    "SearchService/ListUnindexedEntries": GrpcMethod(
        "listUnindexed", parse_list_unindexed, list_unindexed
    ),
}
