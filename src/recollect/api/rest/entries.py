"""Entries: append, list, sync."""

from recollect.api.bodies import AppendBody, SyncBody
from recollect.api.rest.dispatch import Call, Handler
from recollect.api.rest.render import to_entry, to_sync_outcome
from recollect.domain.ids import ConversationId, EntryId, UserId
from recollect.services.entries import EntryQuery, NewEntry


async def append_entry(call: Call) -> str:
    """Append one entry."""
    new = new_entry(call.body)
    entry = await call.services.entries.append(call.principal, conversation_of(call), new)
    return to_entry(entry)


async def list_entries(call: Call) -> bytes:
    """A page of the visible path, or of the whole tree."""
    page = await call.services.entries.list(
        call.principal,
        conversation_of(call),
        entry_query(call),
        after=call.page.after,
        limit=call.page.size,
    )
    return call.to_page(map(to_entry, page.items), page.next_cursor)


async def sync_entries(call: Call) -> str:
    """Make the client's memory equal to the list."""
    new = new_entry(call.body)
    outcome = await call.services.entries.sync(call.principal, conversation_of(call), new)
    return to_sync_outcome(outcome)


def conversation_of(call: Call) -> ConversationId:
    """The conversation that the path names."""
    return ConversationId(call.path["id"])


def entry_query(call: Call) -> EntryQuery:
    """The filters of an entry list."""
    query = call.query
    return EntryQuery(channel=query["channel"], epoch=query["epoch"], forks=query["forks"])


def new_entry(body: AppendBody | SyncBody) -> NewEntry:
    """What a body asks to store."""
    return NewEntry(
        content=body.content,
        content_type=body.content_type,
        channel=body.channel,
        user_id=UserId(body.user_id) if body.user_id else None,
        indexed_content=body.indexed_content,
        forked_at_conversation_id=_conversation_id(body.forked_at_conversation_id),
        forked_at_entry_id=EntryId(body.forked_at_entry_id) if body.forked_at_entry_id else None,
    )


def _conversation_id(text: str | None) -> ConversationId | None:
    return ConversationId(text) if text else None


HANDLERS: dict[str, Handler] = {
    "appendEntry": append_entry,
    "listEntries": list_entries,
    "syncEntries": sync_entries,
}
