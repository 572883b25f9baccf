"""REST handlers of entries: append, list, sync."""

from recollect.conversations.entries.service import EntryService
from recollect.conversations.render import to_entry, to_sync_outcome
from recollect.conversations.requests import (
    entry_query,
    new_entry,
    path_conversation_id,
)
from recollect.http.call import Call, Handler


async def append_entry(call: Call) -> str:
    new = new_entry(call.body)
    entry = await call.services[EntryService].append(
        call.principal, path_conversation_id(call), new
    )
    return to_entry(entry)


async def list_entries(call: Call) -> bytes:
    """A page of the visible path, or of the whole tree."""
    page = await call.services[EntryService].list(
        call.principal,
        path_conversation_id(call),
        entry_query(call),
        after=call.page.after,
        limit=call.page.size,
    )
    return call.render_page(map(to_entry, page.items), page.next_cursor)


async def sync_entries(call: Call) -> str:
    """Make the client's memory equal to the list."""
    new = new_entry(call.body)
    outcome = await call.services[EntryService].sync(
        call.principal, path_conversation_id(call), new
    )
    return to_sync_outcome(outcome)


HANDLERS: dict[str, Handler] = {
    "appendEntry": append_entry,
    "listEntries": list_entries,
    "syncEntries": sync_entries,
}
