"""From values to messages."""

from typing import Any

from google.protobuf.struct_pb2 import Struct

from recollect.api.grpc.generated import memory_service_pb2 as pb
from recollect.api.grpc.values import fill_struct, fill_value, to_id
from recollect.domain.clock import to_text
from recollect.domain.conversations import Conversation, SeenConversation
from recollect.domain.entries import Channel, Entry
from recollect.domain.jsontext import load
from recollect.domain.memberships import Level, Membership
from recollect.domain.search import Hit
from recollect.domain.transfers import Transfer
from recollect.services.entries import SyncOutcome

_LEVELS = {
    Level.OWNER: pb.ACCESS_LEVEL_OWNER,
    Level.MANAGER: pb.ACCESS_LEVEL_MANAGER,
    Level.WRITER: pb.ACCESS_LEVEL_WRITER,
    Level.READER: pb.ACCESS_LEVEL_READER,
}
_CHANNELS = {Channel.HISTORY: pb.CHANNEL_HISTORY, Channel.MEMORY: pb.CHANNEL_MEMORY}


def to_page_info(next_cursor: str | None) -> pb.PageInfo:
    """Where the next page begins, if there is one."""
    return pb.PageInfo(next_page_token=next_cursor or "")


def to_summary(seen: SeenConversation) -> pb.ConversationSummary:
    """A conversation in a list."""
    return pb.ConversationSummary(**_seen(seen))


def to_conversation(seen: SeenConversation) -> pb.Conversation:
    """A conversation alone: the summary with its fork point."""
    return pb.Conversation(**_seen(seen), **_fork_point(seen.conversation))


def to_fork(conversation: Conversation) -> pb.ConversationForkSummary:
    """A conversation in a list of forks."""
    return pb.ConversationForkSummary(
        conversation_id=to_id(conversation.id),
        title=conversation.title or "",
        created_at=to_text(conversation.created_at),
        **_fork_point(conversation),
    )


def to_entry(entry: Entry) -> pb.Entry:
    """An entry."""
    message = pb.Entry(
        id=to_id(entry.id),
        conversation_id=to_id(entry.conversation_id),
        user_id=entry.user_id or "",
        channel=_CHANNELS[entry.channel],
        epoch=entry.epoch or 0,
        content_type=entry.content_type,
        created_at=to_text(entry.created_at),
    )
    for item in load(entry.content):
        fill_value(message.content.add(), item)
    return message


def to_sync_outcome(outcome: SyncOutcome) -> pb.SyncEntriesResponse:
    """What a sync did."""
    return pb.SyncEntriesResponse(
        epoch=outcome.epoch,
        no_op=outcome.no_op,
        epoch_incremented=outcome.epoch_incremented,
        entry=None if outcome.entry is None else to_entry(outcome.entry),
    )


def to_membership(membership: Membership, conversation_id: str) -> pb.ConversationMembership:
    """A membership, under the conversation that the request named."""
    return pb.ConversationMembership(
        conversation_id=to_id(conversation_id),
        user_id=membership.user_id,
        access_level=_LEVELS[membership.level],
        created_at=to_text(membership.created_at),
    )


def to_transfer(transfer: Transfer) -> pb.OwnershipTransfer:
    """A transfer; its conversation is the root of the tree."""
    return pb.OwnershipTransfer(
        id=to_id(transfer.id),
        conversation_id=to_id(transfer.tree_id),
        conversation_title=transfer.conversation_title or "",
        from_user_id=transfer.from_user_id,
        to_user_id=transfer.to_user_id,
        created_at=to_text(transfer.created_at),
    )


def to_result(hit: Hit) -> pb.SearchResult:
    """One result of a search, with its entry where that was asked for."""
    return pb.SearchResult(
        conversation_id=to_id(hit.conversation_id),
        conversation_title=hit.conversation_title or "",
        entry_id=to_id(hit.entry_id),
        score=hit.score,
        highlights=hit.highlights or "",
        entry=None if hit.entry is None else to_entry(hit.entry),
    )


def to_unindexed(entry: Entry) -> pb.UnindexedEntry:
    """An entry that waits for its text."""
    return pb.UnindexedEntry(conversation_id=to_id(entry.conversation_id), entry=to_entry(entry))


def _seen(seen: SeenConversation) -> dict[str, Any]:
    conversation = seen.conversation
    members: dict[str, Any] = {
        "id": to_id(conversation.id),
        "title": conversation.title or "",
        "owner_user_id": conversation.owner_user_id,
        "created_at": to_text(conversation.created_at),
        "updated_at": to_text(conversation.updated_at),
        "last_message_preview": conversation.last_message_preview or "",
        "access_level": _LEVELS[seen.level],
    }
    if conversation.metadata:
        metadata = Struct()
        fill_struct(metadata, conversation.metadata)
        members["metadata"] = metadata
    return members


def _fork_point(conversation: Conversation) -> dict[str, Any]:
    return {
        "forked_at_entry_id": to_id(conversation.forked_at_entry_id),
        "forked_at_conversation_id": to_id(conversation.forked_at_conversation_id),
    }
