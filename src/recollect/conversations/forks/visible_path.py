"""Reads along the visible path of a conversation, one segment after the other.

The segments are in order of position (see `rules.py`). So a page needs no merge of sorted
lists, and it stops reading as soon as it is full.
"""

from collections.abc import Sequence

from recollect.conversations.entries.entry import Entry, EntryOrder
from recollect.conversations.forks.rules import Segment, visible_path
from recollect.conversations.ports import ConversationStores, EntryView, ForkPoint
from recollect.db.transaction import Tx
from recollect.kernel.ids import ClientId, ConversationId, TreeId


def load_path(tx: Tx, stores: ConversationStores, conversation_id: ConversationId) -> list[Segment]:
    """The visible path, from the root down to the conversation itself."""
    return visible_path(stores.conversations.fetch_chain(tx, conversation_id))


def page_path(
    tx: Tx,
    stores: ConversationStores,
    path: Sequence[Segment],
    view: EntryView,
    *,
    after_seq: int,
    limit: int,
    order: EntryOrder = EntryOrder.ASC,
) -> list[Entry]:
    """Up to `limit` entries of the path behind the position `after_seq`, in that order."""
    found: list[Entry] = []
    if view.is_empty:
        return found
    for segment in _segments_behind(path, after_seq, order):
        found += stores.entries.page_segment(
            tx, segment, view, after_seq=after_seq, limit=limit - len(found), order=order
        )
        if len(found) == limit:
            break
    return found


def _segments_behind(
    path: Sequence[Segment], after_seq: int, order: EntryOrder
) -> Sequence[Segment]:
    """The segments that may have entries behind the position, in the order of the walk. All entries
    of a segment come after the cut of the one above it."""
    if order is EntryOrder.ASC:
        return [segment for segment in path if segment.cut > after_seq]
    above = (0, *(segment.cut for segment in path))
    found = [one for one, cut in zip(path, above, strict=False) if cut + 1 < after_seq]
    return found[::-1]


def fetch_latest_epoch(
    tx: Tx, stores: ConversationStores, path: Sequence[Segment], client_id: ClientId
) -> int | None:
    """The client's highest epoch on the path, None if it has no memory there.

    Each memory entry takes the latest epoch of its own path or the one after it, under the tree's
    lock. So epochs never decrease along a path, and the client's last entry has the highest.
    """
    for segment in reversed(path):
        epoch = stores.entries.fetch_last_epoch(tx, segment, client_id)
        if epoch is not None:
            return epoch
    return None


def find_point_before(
    tx: Tx, stores: ConversationStores, path: Sequence[Segment], entry: Entry
) -> ForkPoint | None:
    """The entry just before this one on the path, in any channel and of any client.

    `entry` must be on the path. The search goes from the end towards the root. Segments below the
    entry's own hold only greater positions, so their queries find nothing. The first hit is in
    the entry's segment, or the newest visible entry of the next segment above.
    """
    for segment in reversed(path):
        before = min(entry.seq, segment.cut + 1)
        point = stores.entries.fetch_before(tx, segment.conversation_id, before)
        if point is not None:
            return point
    return None


def fetch_text_entry(
    tx: Tx, stores: ConversationStores, tree_id: TreeId, seq: int | None
) -> Entry | None:
    """The entry at a `text_seq` position; None if no entry with text came before."""
    return None if seq is None else stores.entries.fetch_at(tx, tree_id, seq)
