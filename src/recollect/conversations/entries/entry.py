"""An entry: one item of a conversation, in channel `history` or `memory`."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal

from recollect.kernel.ids import ClientId, ConversationId, EntryId, TreeId, UserId
from recollect.kernel.strict_json import JsonText

CONTENT_TYPE_CHARS_MAX = 127
CONTENT_ITEMS_MAX = 1_000
SYNC_ITEMS_MAX = 10_000
INDEXED_CHARS_MAX = 100_000


class Channel(StrEnum):
    """Every member of a tree sees `history`. `memory` is state that only its client sees."""

    HISTORY = "history"
    MEMORY = "memory"


class ForkFilter(StrEnum):
    """Whether a list shows one branch or the whole tree."""

    NONE = "none"
    ALL = "all"


class EntryOrder(StrEnum):
    """The order of a list of entries, by position: the oldest or the newest first."""

    ASC = "asc"
    DESC = "desc"


EpochFilter = int | Literal["latest", "all"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry. `content` is the JSON text of a list; it is returned as stored, without parsing.

    `seq` is the position in the tree. `text_seq` is the position of the last history entry with
    text at or before this one on its path, so a fork finds its preview with one look-up. `epoch`
    is set on memory entries only. An entry with `removed_at` was deleted: it is a marker at its
    position, without any content but the role. `unreadable`: the content could not be decrypted,
    and is an empty list.
    """

    id: EntryId
    conversation_id: ConversationId
    tree_id: TreeId
    seq: int
    channel: Channel
    content_type: str
    content: JsonText
    created_at: datetime
    user_id: UserId | None = None
    client_id: ClientId | None = None
    epoch: int | None = None
    indexed_content: str | None = None
    indexed_at: datetime | None = None
    text_seq: int | None = None
    removed_at: datetime | None = None
    unreadable: bool = False
