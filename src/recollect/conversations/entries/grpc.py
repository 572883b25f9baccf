"""gRPC methods of entries: append, list, sync."""

from functools import partial
from typing import Any

from recollect.conversations.entries.service import EntryService
from recollect.conversations.grpc import conversation_path
from recollect.conversations.grpc_messages import (
    estimate_size,
    to_entries,
    to_entry,
    to_sync_outcome,
)
from recollect.conversations.requests import (
    entry_query,
    new_entry,
    path_conversation_id,
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


def _channel_name(channel: pb.Channel) -> str | None:
    return _CHANNELS.get(channel, str(channel)) if channel else None


async def append_entry(call: Call) -> DeferredReply:
    entry = await call.services[EntryService].append(
        call.principal, path_conversation_id(call), new_entry(call.body)
    )
    return DeferredReply(partial(to_entry, entry), estimate_size([entry]))


async def list_entries(call: Call) -> DeferredReply:
    """A page of the visible path, or of the whole tree."""
    page = await call.services[EntryService].list(
        call.principal,
        path_conversation_id(call),
        entry_query(call),
        after=call.page.after,
        limit=call.page.size,
    )
    return DeferredReply(partial(to_entries, page), estimate_size(page.items))


async def sync_entries(call: Call) -> DeferredReply:
    """Make the client's memory equal to the list."""
    outcome = await call.services[EntryService].sync(
        call.principal, path_conversation_id(call), new_entry(call.body)
    )
    return DeferredReply(partial(to_sync_outcome, outcome), estimate_size([outcome.entry]))


# Over gRPC every append needs an API key, whatever the channel: hence the action WRITE_MEMORY.
METHODS: dict[str, GrpcMethod] = {
    "EntriesService/ListEntries": GrpcMethod("listEntries", parse_list_entries, list_entries),
    "EntriesService/AppendEntry": GrpcMethod(
        "appendEntry", parse_write, append_entry, Action.WRITE_MEMORY
    ),
    "EntriesService/SyncEntries": GrpcMethod("syncEntries", parse_write, sync_entries),
}
