"""REST handlers of entry search and of the indexer's operations."""

from functools import partial

from recollect.conversations.bodies import AdminSearchBody
from recollect.conversations.render import to_hit, to_unindexed
from recollect.conversations.requests import new_text, search_request
from recollect.http.call import Call, Handler
from recollect.kernel.strict_json import dump
from recollect.search.entries.indexing import IndexingService
from recollect.search.entries.service import EntrySearchService


async def search(call: Call) -> bytes:
    """Search the trees that the caller may read."""
    page = await call.services[EntrySearchService].search(call.principal, search_request(call))
    return call.render_page(map(to_hit, page.items), page.next_cursor, degraded=page.degraded)


async def search_all(call: Call) -> bytes:
    """Search all trees, for administrators."""
    body: AdminSearchBody = call.body
    page = await call.services[EntrySearchService].search_all(
        call.principal,
        search_request(call),
        user_id=body.user_id,
        include_deleted=body.include_deleted,
        justification=call.justification,
    )
    items = map(partial(to_hit, admin=True), page.items)
    return call.render_page(items, page.next_cursor, degraded=page.degraded)


async def index_entries(call: Call) -> str:
    """Set texts from an indexer, all or none."""
    items = [new_text(item) for item in call.body.root]
    return dump({"indexed": await call.services[IndexingService].index(call.principal, items)})


async def list_unindexed(call: Call) -> bytes:
    """List entries without indexed text."""
    page = await call.services[IndexingService].list_unindexed(
        call.principal, cursor=call.page.after, limit=call.page.size
    )
    return call.render_page(map(to_unindexed, page.items), page.next_cursor)


HANDLERS: dict[str, Handler] = {
    "searchConversations": search,
    "adminSearchConversations": search_all,
    "indexEntries": index_entries,
    "listUnindexed": list_unindexed,
}
