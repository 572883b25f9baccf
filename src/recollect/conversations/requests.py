"""Converts parsed requests of the conversation operations into arguments of the services.

REST and gRPC share it."""

from recollect.conversations.bodies import (
    AppendBody,
    IndexItem,
    SearchBody,
    SyncBody,
)
from recollect.conversations.entries.service import EntryQuery, NewEntry
from recollect.http.call import Call
from recollect.kernel.ids import ConversationId, EntryId, UserId
from recollect.search.model import NewIndexText, SearchRequest


def path_conversation_id(call: Call) -> ConversationId:
    """The conversation id from the path."""
    return ConversationId(call.path["id"])


def entry_query(call: Call) -> EntryQuery:
    """The filters of an entry list."""
    query = call.query
    return EntryQuery(channel=query["channel"], epoch=query["epoch"], forks=query["forks"])


def new_entry(body: AppendBody | SyncBody) -> NewEntry:
    """The entry that a body describes."""
    return NewEntry(
        content=body.content,
        content_type=body.content_type,
        channel=body.channel,
        user_id=UserId(body.user_id) if body.user_id else None,
        indexed_content=body.indexed_content,
        forked_at_conversation_id=_conversation_id(body.forked_at_conversation_id),
        forked_at_entry_id=EntryId(body.forked_at_entry_id) if body.forked_at_entry_id else None,
    )


def search_request(call: Call) -> SearchRequest:
    """The search that a body describes."""
    body: SearchBody = call.body
    return SearchRequest(
        query=body.query,
        type=body.search_type,
        after=call.page.after,
        limit=call.page.size,
        include_entry=body.include_entry,
        group_by_conversation=body.group_by_conversation,
    )


def new_text(item: IndexItem) -> NewIndexText:
    """One text of an index call."""
    return NewIndexText(
        ConversationId(item.conversation_id), EntryId(item.entry_id), item.indexed_content
    )


def _conversation_id(text: str | None) -> ConversationId | None:
    return ConversationId(text) if text else None
