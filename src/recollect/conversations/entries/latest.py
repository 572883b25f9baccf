"""An administrator's entry list with the latest epoch of every client.

Each client has its own latest epoch, so no single query can select them. The list reads the path
in batches and filters in Python. It is called rarely, so it has no index of its own.
"""

from recollect.conversations.entries.entry import Channel, Entry
from recollect.conversations.entries.service import (
    EntryQuery,
    resolve_cursor,
    to_entry_page,
)
from recollect.conversations.forks.visible_path import (
    fetch_latest_epoch,
    load_path,
    page_path,
)
from recollect.conversations.model import Branch
from recollect.conversations.ports import ConversationStores, EntryView
from recollect.db.transaction import Tx
from recollect.kernel.ids import ClientId
from recollect.kernel.pages import Page

_BATCH = 500


def list_latest_epochs(
    tx: Tx,
    stores: ConversationStores,
    branch: Branch,
    query: EntryQuery,
    view: EntryView,
    *,
    after: str | None,
    limit: int,
) -> Page[Entry]:
    """A page of the path: history if the view has it, and of each client's memory its latest
    epoch on the path. Reads on until the page is full, so sparse matches cost several batches."""
    path = load_path(tx, stores, branch.id)
    after_seq = resolve_cursor(tx, stores, branch, query, view, path, after)
    latest: dict[ClientId, int | None] = {}
    found: list[Entry] = []
    while len(found) <= (query.tail or limit):
        batch = page_path(
            tx, stores, path, view, after_seq=after_seq, limit=_BATCH, order=query.walk_order
        )
        for entry in batch:
            if entry.client_id is not None and entry.client_id not in latest:
                latest[entry.client_id] = fetch_latest_epoch(tx, stores, path, entry.client_id)
        found += [entry for entry in batch if _is_latest(entry, latest)]
        if len(batch) < _BATCH:
            break
        after_seq = batch[-1].seq
    return to_entry_page(found, query, limit)


def _is_latest(entry: Entry, latest: dict[ClientId, int | None]) -> bool:
    if entry.channel is Channel.HISTORY or entry.client_id is None:
        return True
    return entry.epoch == latest[entry.client_id]
