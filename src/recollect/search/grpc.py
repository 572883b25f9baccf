"""gRPC methods of the search over entries, and of indexing."""

from functools import partial
from typing import Any

from recollect.conversations.entries.entry import Entry
from recollect.conversations.grpc_messages import encode_entry, encode_optional, estimate_size
from recollect.http.call import Call
from recollect.kernel.pages import Page
from recollect.rpc.encoding import EncodedMessage, join_messages
from recollect.rpc.generated import memory_service_pb2 as pb
from recollect.rpc.method import (
    DeferredReply,
    GrpcMethod,
    GrpcRequest,
    reply_later,
    reply_with,
)
from recollect.rpc.values import id_from_bytes, id_to_bytes
from recollect.search import requests
from recollect.search.model import EntryHit, EntryHitPage


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
    page = await requests.search(call)
    trailers = (("degraded", ",".join(page.degraded)),) if page.degraded else ()
    size = estimate_size(hit.entry for hit in page.items)
    return DeferredReply(partial(to_results, page), size, trailers)


def to_results(page: EntryHitPage) -> EncodedMessage:
    message = pb.SearchEntriesResponse(next_cursor=page.next_cursor or "")
    results = map(_encode_hit, page.items)
    return EncodedMessage(
        join_messages(message, pb.SearchEntriesResponse.RESULTS_FIELD_NUMBER, results)
    )


def to_unindexed(page: Page[Entry]) -> EncodedMessage:
    """Entries that have no text to be found by."""
    message = pb.ListUnindexedEntriesResponse(cursor=page.next_cursor)
    entries = map(_encode_unindexed, page.items)
    return EncodedMessage(
        join_messages(message, pb.ListUnindexedEntriesResponse.ENTRIES_FIELD_NUMBER, entries)
    )


def _encode_hit(hit: EntryHit) -> bytes:
    """One result, with its entry where that was asked for."""
    message = pb.SearchResult(
        conversation_id=id_to_bytes(hit.conversation_id),
        conversation_title=hit.conversation_title or "",
        entry_id=id_to_bytes(hit.entry_id),
        score=hit.score,
        highlights=hit.highlights or "",
        unreadable=hit.unreadable,
    )
    return join_messages(message, pb.SearchResult.ENTRY_FIELD_NUMBER, encode_optional(hit.entry))


def _encode_unindexed(entry: Entry) -> bytes:
    message = pb.UnindexedEntry(conversation_id=id_to_bytes(entry.conversation_id))
    return join_messages(message, pb.UnindexedEntry.ENTRY_FIELD_NUMBER, [encode_entry(entry)])


METHODS: dict[str, GrpcMethod] = {
    "SearchService/SearchConversations": GrpcMethod("searchConversations", parse_search, search),
    "SearchService/IndexConversations": GrpcMethod(
        "indexEntries",
        parse_index,
        reply_with(
            requests.index_entries, lambda count: pb.IndexConversationsResponse(indexed=count)
        ),
    ),
    "SearchService/ListUnindexedEntries": GrpcMethod(
        "listUnindexed",
        parse_list_unindexed,
        reply_later(requests.list_unindexed, to_unindexed, lambda page: estimate_size(page.items)),
    ),
}
