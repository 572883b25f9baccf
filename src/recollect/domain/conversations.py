"""A conversation: one branch of a tree. Rules for titles and previews."""

import re
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, StrEnum
from typing import Any

from recollect.domain.ids import ConversationId, EntryId, TreeId, UserId
from recollect.domain.memberships import Level

TITLE_CHARS_MAX = 500
AUTO_TITLE_CHARS = 40
PREVIEW_CHARS = 100
METADATA_BYTES_MAX = 16 * 1024

_DROPPED = re.compile(r"(?!\s)[\x00-\x1f\x7f-\x9f]")
_SHOWN = re.compile(r"[^\s\x00-\x1f\x7f-\x9f]")


class Keep(Enum):
    """Marks a member that a PATCH did not name."""

    KEEP = "keep"


class ListMode(StrEnum):
    """Which conversations of each tree a list shows."""

    LATEST_FORK = "latest-fork"
    ALL = "all"
    ROOTS = "roots"


@dataclass(frozen=True, slots=True)
class Conversation:
    """A branch as it is stored, with its text already decrypted.

    `forked_at_seq` is the position of the fork point (0 for a blank fork, None for a root).
    `last_text_seq` is the position of the last history entry with text on the visible path.
    `title_pending` says that the first history entry with text will set the title.
    """

    id: ConversationId
    tree_id: TreeId
    owner_user_id: UserId
    title: str | None
    metadata: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    last_message_preview: str | None = None
    forked_at_conversation_id: ConversationId | None = None
    forked_at_entry_id: EntryId | None = None
    forked_at_seq: int | None = None
    last_text_seq: int | None = None
    title_pending: bool = False
    deleted_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Branch:
    """A conversation as a transaction needs it: its place in the tree, and the caller's level.

    `last_seq` and `last_at` belong to the tree: the position and time of its newest entry.
    """

    id: ConversationId
    tree_id: TreeId
    owner_user_id: UserId
    deleted: bool
    level: Level | None
    last_seq: int
    last_at: datetime
    updated_at: datetime
    last_text_seq: int | None
    title_pending: bool


@dataclass(frozen=True, slots=True)
class SeenConversation:
    """A conversation together with the level the caller has in its tree."""

    conversation: Conversation
    level: Level


def clean_text(text: str) -> str:
    """Control characters other than white space dropped, white space runs made one space."""
    kept = text if text.isprintable() else _DROPPED.sub("", text)
    return " ".join(kept.split())


def is_blank(text: str) -> bool:
    """Nothing but white space and control characters, so that `clean_text` leaves nothing."""
    return _SHOWN.search(text) is None


@dataclass(frozen=True, slots=True)
class Headline:
    """What a history text gives its conversation: a title, if it is the first, and the preview."""

    title: str | None
    preview: str | None


def headline(text: str) -> Headline:
    """The title is the beginning, nothing added; a preview that was cut says so."""
    cleaned = clean_text(text)
    cut = len(cleaned) > PREVIEW_CHARS
    shown = cleaned[:PREVIEW_CHARS] + "…" if cut else cleaned
    return Headline(cleaned[:AUTO_TITLE_CHARS] or None, shown or None)


def matches_query(conversation: Conversation, query: str) -> bool:
    """`query` is a part of the title or of a string value of the metadata, whatever the case."""
    needle = query.casefold()
    return any(needle in text.casefold() for text in _searchable(conversation))


def _searchable(conversation: Conversation) -> list[str]:
    return [conversation.title or "", *strings_in(conversation.metadata)]


def strings_in(value: object) -> list[str]:
    """Every string value inside a JSON value; member names don't count."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for member in value.values() for text in strings_in(member)]
    if isinstance(value, list):
        return [text for item in value for text in strings_in(item)]
    return []
