"""Converts objects to protobuf messages."""

from collections.abc import Iterable
from json import JSONDecoder
from typing import Any

from google.protobuf.struct_pb2 import Struct

from recollect.conversations.entries.append import SyncOutcome
from recollect.conversations.entries.entry import Channel, Entry
from recollect.conversations.model import Conversation, ConversationWithLevel
from recollect.conversations.sharing.membership import Membership
from recollect.conversations.sharing.transfer import Transfer
from recollect.kernel.access_level import Level
from recollect.kernel.clock import to_text
from recollect.kernel.pages import Page
from recollect.kernel.strict_json import dump
from recollect.rpc.encoding import EncodedMessage, encode_value, join_messages
from recollect.rpc.generated import memory_service_pb2 as pb
from recollect.rpc.values import fill_struct, id_to_bytes

_LEVELS = {
    Level.OWNER: pb.OWNER,
    Level.MANAGER: pb.MANAGER,
    Level.WRITER: pb.WRITER,
    Level.READER: pb.READER,
}
_CHANNELS = {Channel.HISTORY: pb.HISTORY, Channel.MEMORY: pb.MEMORY}
# `raw_decode` does not look for white space around a value. Stored content has none, and the
# search for it would be more than half of the decoding time.
_decode_json = JSONDecoder().raw_decode


def to_page_info(next_cursor: str | None) -> pb.PageInfo:
    """The cursor of the next page, empty on the last one."""
    return pb.PageInfo(next_page_token=next_cursor or "")


def to_summary(item: ConversationWithLevel) -> pb.ConversationSummary:
    return pb.ConversationSummary(**_conversation_fields(item))


def to_summaries(page: Page[ConversationWithLevel]) -> pb.ListConversationsResponse:
    return pb.ListConversationsResponse(
        conversations=map(to_summary, page.items), page_info=to_page_info(page.next_cursor)
    )


def estimate_metadata_size(page: Page[ConversationWithLevel]) -> int:
    """About how many bytes the metadata takes: it may be megabytes on one page."""
    metadata = (item.conversation.metadata for item in page.items)
    return sum(len(dump(one)) for one in metadata if one)


def estimate_size(entries: Iterable[Entry | None]) -> int:
    """About how many bytes the entries take. Only their content can be large."""
    return sum(len(entry.content) for entry in entries if entry is not None)


def to_conversation(item: ConversationWithLevel) -> pb.Conversation:
    """A conversation alone: the summary with its fork point."""
    return pb.Conversation(**_conversation_fields(item), **_fork_fields(item.conversation))


def to_fork(conversation: Conversation) -> pb.ConversationForkSummary:
    """A conversation in a list of forks."""
    return pb.ConversationForkSummary(
        conversation_id=id_to_bytes(conversation.id),
        title=conversation.title or "",
        created_at=to_text(conversation.created_at),
        unreadable=conversation.unreadable,
        **_fork_fields(conversation),
    )


def to_forks(page: Page[Conversation]) -> pb.ListForksResponse:
    return pb.ListForksResponse(
        forks=map(to_fork, page.items), page_info=to_page_info(page.next_cursor)
    )


def to_entry(entry: Entry) -> EncodedMessage:
    return EncodedMessage(encode_entry(entry))


def to_entries(page: Page[Entry]) -> EncodedMessage:
    message = pb.ListEntriesResponse(page_info=to_page_info(page.next_cursor))
    entries = map(encode_entry, page.items)
    return EncodedMessage(
        join_messages(message, pb.ListEntriesResponse.ENTRIES_FIELD_NUMBER, entries)
    )


def to_sync_outcome(outcome: SyncOutcome) -> EncodedMessage:
    message = pb.SyncEntriesResponse(
        epoch=outcome.epoch, no_op=outcome.no_op, epoch_incremented=outcome.epoch_incremented
    )
    entry = encode_optional(outcome.entry)
    return EncodedMessage(join_messages(message, pb.SyncEntriesResponse.ENTRY_FIELD_NUMBER, entry))


def to_membership(membership: Membership, conversation_id: str) -> pb.ConversationMembership:
    """A membership, under the conversation that the request named."""
    return pb.ConversationMembership(
        conversation_id=id_to_bytes(conversation_id),
        user_id=membership.user_id,
        access_level=_LEVELS[membership.level],
        created_at=to_text(membership.created_at),
    )


def to_transfer(transfer: Transfer) -> pb.OwnershipTransfer:
    """A transfer; its conversation is the root of the tree."""
    return pb.OwnershipTransfer(
        id=id_to_bytes(transfer.id),
        conversation_id=id_to_bytes(transfer.tree_id),
        conversation_title=transfer.conversation_title or "",
        from_user_id=transfer.from_user_id,
        to_user_id=transfer.to_user_id,
        created_at=to_text(transfer.created_at),
        unreadable=transfer.unreadable,
    )


def to_transfers(page: Page[Transfer]) -> pb.ListOwnershipTransfersResponse:
    return pb.ListOwnershipTransfersResponse(
        transfers=map(to_transfer, page.items), page_info=to_page_info(page.next_cursor)
    )


def encode_entry(entry: Entry) -> bytes:
    """An entry's message as bytes. Its content goes from JSON to bytes without message objects."""
    message = pb.Entry(
        id=id_to_bytes(entry.id),
        conversation_id=id_to_bytes(entry.conversation_id),
        user_id=entry.user_id or "",
        channel=_CHANNELS[entry.channel],
        epoch=entry.epoch or 0,
        content_type=entry.content_type,
        created_at=to_text(entry.created_at),
        unreadable=entry.unreadable,
        removed=entry.removed_at is not None,
    )
    content = map(encode_value, _decode_json(entry.content)[0])
    return join_messages(message, pb.Entry.CONTENT_FIELD_NUMBER, content)


def encode_optional(entry: Entry | None) -> list[bytes]:
    """The items of a field that holds the entry, if there is one."""
    return [] if entry is None else [encode_entry(entry)]


def _conversation_fields(item: ConversationWithLevel) -> dict[str, Any]:
    conversation = item.conversation
    fields: dict[str, Any] = {
        "id": id_to_bytes(conversation.id),
        "title": conversation.title or "",
        "owner_user_id": conversation.owner_user_id,
        "created_at": to_text(conversation.created_at),
        "updated_at": to_text(conversation.updated_at),
        "last_message_preview": conversation.last_message_preview or "",
        "access_level": _LEVELS[item.level],
        "unreadable": conversation.unreadable,
    }
    if conversation.metadata:
        metadata = Struct()
        fill_struct(metadata, conversation.metadata)
        fields["metadata"] = metadata
    return fields


def _fork_fields(conversation: Conversation) -> dict[str, Any]:
    return {
        "forked_at_entry_id": id_to_bytes(conversation.forked_at_entry_id),
        "forked_at_conversation_id": id_to_bytes(conversation.forked_at_conversation_id),
    }
