"""Renders objects as JSON. Null fields of a resource are left out, those of an envelope are not.

The content of an entry is stored as JSON text and is copied into the response without parsing.
"""

from datetime import datetime
from json.encoder import encode_basestring
from typing import Any

from recollect.audit.model import Event
from recollect.conversations.entries.entry import Entry
from recollect.conversations.entries.service import SyncOutcome
from recollect.conversations.model import Conversation, ConversationWithLevel
from recollect.conversations.sharing.membership import Membership
from recollect.conversations.sharing.transfer import Transfer
from recollect.kernel.clock import to_text
from recollect.kernel.strict_json import dump
from recollect.search.model import EntryHit


def to_summary(seen: ConversationWithLevel, *, admin: bool = False) -> str:
    """A conversation in a list; admins see when it was deleted."""
    return _to_object(_summary_fields(seen, admin=admin))


def to_conversation(seen: ConversationWithLevel, *, admin: bool = False) -> str:
    """A single conversation: the summary and its fork point."""
    conversation = seen.conversation
    return _to_object(_summary_fields(seen, admin=admin) | _fork_fields(conversation))


def to_fork(conversation: Conversation) -> str:
    """A conversation in a list of forks."""
    return _to_object(
        {
            "conversationId": conversation.id,
            **_fork_fields(conversation),
            "title": conversation.title,
            "createdAt": to_text(conversation.created_at),
        }
    )


def to_entry(entry: Entry, *, admin: bool = False) -> str:
    """An entry; admins see which client wrote it."""
    # Built by hand, because this is the hottest renderer. Ids, enums and times need no escaping;
    # `encode_basestring` escapes the rest.
    parts = [f'{{"id":"{entry.id}","conversationId":"{entry.conversation_id}"']
    if entry.user_id is not None:
        parts.append(f'"userId":{encode_basestring(entry.user_id)}')
    if admin and entry.client_id is not None:
        parts.append(f'"clientId":{encode_basestring(entry.client_id)}')
    parts.append(f'"channel":"{entry.channel}"')
    if entry.epoch is not None:
        parts.append(f'"epoch":{entry.epoch}')
    parts.append(f'"contentType":{encode_basestring(entry.content_type)}')
    parts.append(f'"content":{entry.content},"createdAt":"{to_text(entry.created_at)}"}}')
    return ",".join(parts)


def to_sync_outcome(outcome: SyncOutcome) -> str:
    """What a sync did, always with all four fields."""
    entry = "null" if outcome.entry is None else to_entry(outcome.entry)
    return (
        f'{{"epoch":{dump(outcome.epoch)},"noOp":{dump(outcome.no_op)},'
        f'"epochIncremented":{dump(outcome.epoch_incremented)},"entry":{entry}}}'
    )


def to_membership(membership: Membership, conversation_id: str) -> str:
    """A membership, with the conversation id of the path."""
    return _to_object(
        {
            "conversationId": conversation_id,
            "userId": membership.user_id,
            "accessLevel": membership.level.word,
            "createdAt": to_text(membership.created_at),
        }
    )


def to_transfer(transfer: Transfer) -> str:
    """A transfer; its conversation is the root of the tree."""
    return _to_object(
        {
            "id": transfer.id,
            "conversationId": transfer.tree_id,
            "conversationTitle": transfer.conversation_title,
            "fromUserId": transfer.from_user_id,
            "toUserId": transfer.to_user_id,
            "createdAt": to_text(transfer.created_at),
        }
    )


def to_event(event: Event) -> str:
    """An event of the audit log."""
    return _to_object(
        {
            "id": event.id,
            "at": to_text(event.at),
            "kind": event.kind,
            "action": event.action,
            "outcome": event.outcome,
            "actorUserId": event.actor_user_id,
            "actorClientId": event.actor_client_id,
            "role": event.role,
            "conversationId": event.conversation_id,
            "targetUserId": event.target_user_id,
            "fromLevel": event.from_level,
            "toLevel": event.to_level,
            "transferId": event.transfer_id,
            "params": (event.related_ids | event.params) or None,
            "count": event.count,
            "justification": event.justification,
        }
    )


def to_hit(hit: EntryHit, *, admin: bool = False) -> str:
    """One result of a search, with its entry if the caller asked for it."""
    result = _to_object(
        {
            "conversationId": hit.conversation_id,
            "conversationTitle": hit.conversation_title,
            "entryId": hit.entry_id,
            "score": hit.score,
            "highlights": hit.highlights,
        }
    )
    if hit.entry is None:
        return result
    # The entry is JSON text already, so it is inserted before the closing brace.
    return f'{result[:-1]},"entry":{to_entry(hit.entry, admin=admin)}}}'


def to_unindexed(entry: Entry) -> str:
    """An entry that has no text to be found by."""
    return f'{{"conversationId":"{entry.conversation_id}","entry":{to_entry(entry)}}}'


def _summary_fields(seen: ConversationWithLevel, *, admin: bool) -> dict[str, Any]:
    conversation = seen.conversation
    return {
        "id": conversation.id,
        "title": conversation.title,
        "ownerUserId": conversation.owner_user_id,
        "createdAt": to_text(conversation.created_at),
        "updatedAt": to_text(conversation.updated_at),
        "lastMessagePreview": conversation.last_message_preview,
        "accessLevel": seen.level.word,
        "metadata": conversation.metadata or None,
        "deletedAt": _instant_or_none(conversation.deleted_at) if admin else None,
    }


def _fork_fields(conversation: Conversation) -> dict[str, Any]:
    return {
        "forkedAtEntryId": conversation.forked_at_entry_id,
        "forkedAtConversationId": conversation.forked_at_conversation_id,
    }


def _instant_or_none(at: datetime | None) -> str | None:
    return None if at is None else to_text(at)


def _to_object(members: dict[str, Any]) -> str:
    return dump({name: value for name, value in members.items() if value is not None})
