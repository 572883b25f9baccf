"""Converts rows of conversations and entries to objects and back.

Text that may be encrypted is decrypted and encrypted here, so no other store sees ciphertext."""

from typing import Any

from sqlalchemy import Column

from recollect.conversations.entries.entry import Channel, Entry
from recollect.conversations.model import Branch, Conversation
from recollect.db.columns import EncryptedColumn
from recollect.db.statements import Row
from recollect.db.tables import conversations
from recollect.kernel import strict_json
from recollect.kernel.access_level import Level
from recollect.kernel.ids import ClientId, ConversationId, EntryId, TreeId, UserId
from recollect.kernel.runtime import Cipher
from recollect.kernel.strict_json import JsonText

_c = conversations.conversations.c
_e = conversations.entries.c

# Rows are read by position, which is faster than by name. `from_row` follows this order.
CONVERSATION_COLUMNS: tuple[Column[Any], ...] = (
    _c.id,
    _c.conversation_group_id,
    _c.owner_user_id,
    _c.title,
    _c.metadata,
    _c.created_at,
    _c.updated_at,
    _c.last_message_preview,
    _c.forked_at_conversation_id,
    _c.forked_at_entry_id,
    _c.forked_at_seq,
    _c.last_text_seq,
    _c.title_pending,
    _c.deleted_at,
)

ENTRY_COLUMNS: tuple[Column[Any], ...] = (
    _e.id,
    _e.conversation_id,
    _e.conversation_group_id,
    _e.seq,
    _e.channel,
    _e.content_type,
    _e.content,
    _e.created_at,
    _e.user_id,
    _e.client_id,
    _e.epoch,
    _e.text_seq,
    _e.removed_at,
)


class ConversationRows:
    """Converts conversations. Title and preview are encrypted."""

    def __init__(self, cipher: Cipher) -> None:
        self.title = EncryptedColumn(cipher, _c.title)
        self.preview = EncryptedColumn(cipher, _c.last_message_preview)

    def from_row(self, row: Row) -> Conversation:
        """Expects the columns of CONVERSATION_COLUMNS, in that order."""
        title = self.title.open_to_show(row[3], row[0])
        preview = self.preview.open_to_show(row[7], row[0])
        return Conversation(
            id=ConversationId(row[0]),
            tree_id=TreeId(row[1]),
            owner_user_id=UserId(row[2]),
            title=title.text,
            metadata=strict_json.load(row[4]),
            created_at=row[5],
            updated_at=row[6],
            last_message_preview=preview.text,
            forked_at_conversation_id=row[8],
            forked_at_entry_id=row[9],
            forked_at_seq=row[10],
            last_text_seq=row[11],
            title_pending=row[12],
            deleted_at=row[13],
            unreadable=title.unreadable or preview.unreadable,
        )

    def to_params(self, conversation: Conversation) -> dict[str, Any]:
        """One value for each column of CONVERSATION_COLUMNS."""
        return {
            "id": conversation.id,
            "conversation_group_id": conversation.tree_id,
            "owner_user_id": conversation.owner_user_id,
            "title": self.title.seal(conversation.title, conversation.id),
            "metadata": strict_json.dump(conversation.metadata),
            "created_at": conversation.created_at,
            "updated_at": conversation.updated_at,
            "last_message_preview": self.preview.seal(
                conversation.last_message_preview, conversation.id
            ),
            "forked_at_conversation_id": conversation.forked_at_conversation_id,
            "forked_at_entry_id": conversation.forked_at_entry_id,
            "forked_at_seq": conversation.forked_at_seq,
            "last_text_seq": conversation.last_text_seq,
            "title_pending": conversation.title_pending,
            "deleted_at": conversation.deleted_at,
        }


class EntryRows:
    """Converts entries. The content is encrypted, and the indexed text if the index is sealed."""

    def __init__(self, cipher: Cipher) -> None:
        self.content = EncryptedColumn(cipher, _e.content)
        self.indexed = EncryptedColumn(cipher, _e.indexed_content)
        self._seals_index = cipher.seals_index

    def seal_indexed(self, text: str | None, entry_id: str) -> str | None:
        """The indexed text as it is stored."""
        return self.indexed.seal(text, entry_id) if self._seals_index else text

    def from_row(self, row: Row) -> Entry:
        """Expects the columns of ENTRY_COLUMNS, in that order."""
        content = self.content.open_to_show(row[6], row[0])
        return Entry(
            id=EntryId(row[0]),
            conversation_id=ConversationId(row[1]),
            tree_id=TreeId(row[2]),
            seq=row[3],
            channel=Channel(row[4]),
            content_type=row[5],
            content=JsonText(content.text or "[]"),
            created_at=row[7],
            user_id=UserId(row[8]) if row[8] is not None else None,
            client_id=ClientId(row[9]) if row[9] is not None else None,
            epoch=row[10],
            text_seq=row[11],
            removed_at=row[12],
            unreadable=content.unreadable,
        )

    def to_params(self, entry: Entry) -> dict[str, Any]:
        """One value for each column of ENTRY_COLUMNS, and for those of the indexed text."""
        return {
            "id": entry.id,
            "conversation_id": entry.conversation_id,
            "conversation_group_id": entry.tree_id,
            "seq": entry.seq,
            "channel": entry.channel.value,
            "content_type": entry.content_type,
            "content": self.content.seal(entry.content, entry.id),
            "created_at": entry.created_at,
            "user_id": entry.user_id,
            "client_id": entry.client_id,
            "epoch": entry.epoch,
            "text_seq": entry.text_seq,
            "indexed_content": self.seal_indexed(entry.indexed_content, entry.id),
            "indexed_at": entry.indexed_at,
            "removed_at": entry.removed_at,
        }


def branch_from_row(row: Row) -> Branch:
    """Expects the columns of the `locate` query."""
    return Branch(
        id=ConversationId(row[0]),
        tree_id=TreeId(row[1]),
        owner_user_id=UserId(row[2]),
        deleted=row[3] is not None,
        level=Level.from_word(row[4]) if row[4] is not None else None,
        last_seq=row[5],
        last_at=row[6],
        updated_at=row[7],
        last_text_seq=row[8],
        title_pending=row[9],
        confirmed=row[10] is not None,
    )
