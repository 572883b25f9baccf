"""Builds forks, for the fork call and for appends that create one. A fork is one row, whatever
the length of its parent."""

from datetime import datetime

from recollect.conversations.entries.content import extract_text
from recollect.conversations.entries.entry import Channel, Entry
from recollect.conversations.forks.rules import is_on_path
from recollect.conversations.forks.visible_path import (
    fetch_text_entry,
    find_point_before,
    load_path,
)
from recollect.conversations.model import Branch, Conversation, headline
from recollect.conversations.ports import ConversationStores, ForkPoint
from recollect.db.transaction import Tx
from recollect.identity.model import Principal
from recollect.kernel import strict_json
from recollect.kernel.errors import Forbidden, NotFound
from recollect.kernel.ids import ConversationId, EntryId


def find_fork_point(
    tx: Tx, stores: ConversationStores, principal: Principal, parent: Branch, entry_id: EntryId
) -> ForkPoint | None:
    """The fork point for a fork at this entry: the entry just before it on the path, None if the
    entry is the first.

    Raises NotFound unless the caller can see the entry on the parent's path, and Forbidden for a
    memory entry of the caller's own client: a fork can start at history only.
    """
    entry = stores.entries.fetch(tx, entry_id)
    path = load_path(tx, stores, parent.id)
    if entry is None or not is_on_path(path, entry.conversation_id, entry.seq):
        raise NotFound("entry", entry_id)
    if entry.channel is Channel.MEMORY:
        # Another client's memory is hidden from the caller, so it must look like no entry at all.
        if principal.client_id is None or entry.client_id != principal.client_id:
            raise NotFound("entry", entry_id)
        raise Forbidden("a conversation can't be forked at a memory entry")
    return find_point_before(tx, stores, path, entry)


def build_fork(
    tx: Tx,
    stores: ConversationStores,
    parent: Conversation,
    point: ForkPoint | None,
    *,
    fork_id: ConversationId,
    title: str | None,
    at: datetime,
) -> Conversation:
    """Build the fork's row; the caller inserts it. Tree, owner and metadata are the parent's.

    Without a point the fork shows nothing of its parent. The preview is that of the last text
    before the fork point. `text_seq` tells where that text is, so no path has to be read.
    """
    text_seq = point.text_seq if point else None
    return Conversation(
        id=fork_id,
        tree_id=parent.tree_id,
        owner_user_id=parent.owner_user_id,
        title=parent.title if title is None else title,
        metadata=parent.metadata,
        created_at=at,
        updated_at=at,
        last_message_preview=_entry_preview(fetch_text_entry(tx, stores, parent.tree_id, text_seq)),
        forked_at_conversation_id=parent.id,
        forked_at_entry_id=point.entry_id if point else None,
        forked_at_seq=point.seq if point else 0,
        last_text_seq=text_seq,
    )


def _entry_preview(entry: Entry | None) -> str | None:
    text = extract_text(strict_json.load(entry.content)) if entry else None
    return headline(text).preview if text else None
