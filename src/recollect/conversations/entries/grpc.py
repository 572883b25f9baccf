"""gRPC methods of entries: append, list, sync."""

from typing import Any

from recollect.conversations.entries import requests
from recollect.conversations.grpc import conversation_path
from recollect.conversations.grpc_messages import (
    estimate_size,
    to_entries,
    to_entry,
    to_sync_outcome,
)
from recollect.identity.actions import Action
from recollect.rpc.generated import memory_service_pb2 as pb
from recollect.rpc.method import GrpcMethod, GrpcRequest, reply_empty, reply_later
from recollect.rpc.values import id_from_bytes, required_id, value_to_json

_CHANNELS = {pb.HISTORY: "history", pb.MEMORY: "memory"}


def parse_list_entries(message: pb.ListEntriesRequest) -> GrpcRequest:
    """The filters, the order and the page of a list."""
    query = {
        "channel": _channel_name(message.channel) or "",
        "epoch": message.epoch_filter,
        "forks": message.forks,
        "order": message.order,
        "tail": str(message.tail) if message.tail else "",
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
    sent = {name: value for name, value in body.items() if value is not None}
    return GrpcRequest(path=conversation_path(message.conversation_id), body=sent)


def parse_delete_entry(message: pb.DeleteEntryRequest) -> GrpcRequest:
    """The entry to delete, and a conversation that shows it."""
    path = conversation_path(message.conversation_id)
    return GrpcRequest(path={**path, "entryId": required_id(message.entry_id, "entry_id")})


def _channel_name(channel: pb.Channel) -> str | None:
    return _CHANNELS.get(channel, str(channel)) if channel else None


# Over gRPC every append needs an API key, whatever the channel: hence the action WRITE_MEMORY.
METHODS: dict[str, GrpcMethod] = {
    "EntriesService/ListEntries": GrpcMethod(
        "listEntries",
        parse_list_entries,
        reply_later(requests.list_entries, to_entries, lambda page: estimate_size(page.items)),
    ),
    "EntriesService/AppendEntry": GrpcMethod(
        "appendEntry",
        parse_write,
        reply_later(requests.append_entry, to_entry, lambda entry: estimate_size([entry])),
        Action.WRITE_MEMORY,
    ),
    "EntriesService/DeleteEntry": GrpcMethod(
        "deleteEntry", parse_delete_entry, reply_empty(requests.delete_entry)
    ),
    "EntriesService/SyncEntries": GrpcMethod(
        "syncEntries",
        parse_write,
        reply_later(
            requests.sync_entries, to_sync_outcome, lambda outcome: estimate_size([outcome.entry])
        ),
    ),
}
