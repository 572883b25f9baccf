"""Rows with defaults, put straight through the stores."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from recollect.conversations.entries.entry import Channel, Entry
from recollect.conversations.model import Conversation
from recollect.conversations.sharing.membership import Membership
from recollect.db.transaction import Tx
from recollect.kernel.access_level import Level
from recollect.kernel.ids import ClientId, ConversationId, EntryId, TreeId, UserId
from recollect.kernel.strict_json import JsonText
from tests.support.storage import Storage

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def a_conversation(storage: Storage, **fields: Any) -> Conversation:
    """A root; give `tree_id` and fork fields to make it a fork."""
    id_ = fields.pop("id", None) or storage.new_id()
    chosen: dict[str, Any] = {
        "tree_id": TreeId(id_),
        "owner_user_id": UserId("ann"),
        "title": None,
        "metadata": {},
        "created_at": NOON,
        "updated_at": NOON,
    }
    return Conversation(id=ConversationId(id_), **(chosen | fields))


def plant(
    storage: Storage, members: Mapping[str, Level] | None = None, **fields: Any
) -> Conversation:
    """A tree of one conversation with these members; `ann` owns it unless members say more."""
    root = a_conversation(storage, **fields)
    chosen = {root.owner_user_id: Level.OWNER} if members is None else members

    def work(tx: Tx) -> None:
        storage.stores.conversations.insert_tree(tx, root.tree_id, NOON)
        storage.stores.conversations.insert(tx, root)
        for user_id, level in chosen.items():
            membership = Membership(root.tree_id, UserId(user_id), level, NOON)
            storage.stores.memberships.insert(tx, membership, confirmed=level is Level.OWNER)

    storage.write(work)
    return root


def an_entry(storage: Storage, conversation: Conversation, seq: int, **fields: Any) -> Entry:
    """A history entry; with `client_id` and `epoch` a memory entry. Not stored yet."""
    memory = "epoch" in fields
    if memory:
        fields["client_id"] = ClientId(fields["client_id"])
    return Entry(
        id=EntryId(storage.new_id()),
        conversation_id=conversation.id,
        tree_id=conversation.tree_id,
        seq=seq,
        channel=Channel.MEMORY if memory else Channel.HISTORY,
        content_type="history",
        content=fields.pop("content", JsonText("[]")),
        created_at=NOON,
        **fields,
    )


def put(storage: Storage, *entries: Entry) -> None:
    """Store entries in one transaction."""

    def work(tx: Tx) -> None:
        for entry in entries:
            storage.stores.entries.insert(tx, entry)

    storage.write(work)
