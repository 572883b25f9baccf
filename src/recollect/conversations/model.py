"""Conversations, and the rules for their titles and previews.

A tree is a root conversation and all its forks. Each conversation is one branch of its tree. Access
and deletion belong to the tree, titles and entries to the branch."""

import re
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, StrEnum
from typing import Any

from recollect.kernel.access_level import Level
from recollect.kernel.ids import ConversationId, EntryId, TreeId, UserId

TITLE_CHARS_MAX = 500
AUTO_TITLE_CHARS = 40
PREVIEW_CHARS = 100

_CONTROL_CHARS = re.compile(r"(?!\s)[\x00-\x1f\x7f-\x9f]")
_VISIBLE_CHAR = re.compile(r"[^\s\x00-\x1f\x7f-\x9f]")


class Keep(Enum):
    """Marks a field that a PATCH did not send, where None means that it is cleared."""

    KEEP = "keep"


class ListMode(StrEnum):
    """Which conversations of each tree are listed."""

    LATEST_FORK = "latest-fork"
    ALL = "all"
    ROOTS = "roots"


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation as it is stored, with its text decrypted.

    `forked_at_seq` is the position of the fork point (0 for a blank fork, None for a root).
    `last_text_seq` is the position of the last history entry with text on the visible path.
    `title_pending` means that the first history entry with text will set the title. `unreadable`:
    title or preview could not be decrypted, and is None.
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
    unreadable: bool = False


@dataclass(frozen=True, slots=True)
class Branch:
    """The part of a conversation that access checks and appends need, in one cheap row.

    `level` is the caller's level in the tree, None for a non-member. `last_seq` and `last_at` are
    the position and time of the newest entry of the whole tree. `confirmed`: a member who has
    confirmed to take part.
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
    confirmed: bool


@dataclass(frozen=True, slots=True)
class ConversationWithLevel:
    """A conversation together with the level the caller has in its tree."""

    conversation: Conversation
    level: Level


def clean_text(text: str) -> str:
    """Remove control characters, and turn each run of white space into one space."""
    kept = text if text.isprintable() else _CONTROL_CHARS.sub("", text)
    return " ".join(kept.split())


def is_blank(text: str) -> bool:
    """True if `clean_text` would leave nothing."""
    return _VISIBLE_CHAR.search(text) is None


@dataclass(frozen=True, slots=True)
class Headline:
    """The title and the preview that a conversation gets from the text of a history entry."""

    title: str | None
    preview: str | None


def headline(text: str) -> Headline:
    """Take both from the beginning of the text. A preview that was cut ends in an ellipsis."""
    cleaned = clean_text(text)
    cut = len(cleaned) > PREVIEW_CHARS
    preview = cleaned[:PREVIEW_CHARS] + "…" if cut else cleaned
    return Headline(cleaned[:AUTO_TITLE_CHARS] or None, preview or None)


def matches_query(conversation: Conversation, query: str) -> bool:
    """Is `query` part of the title or of a metadata string? Letter case is ignored."""
    needle = query.casefold()
    return any(needle in text.casefold() for text in _searchable_texts(conversation))


def _searchable_texts(conversation: Conversation) -> list[str]:
    return [conversation.title or "", *collect_strings(conversation.metadata)]


def collect_strings(value: object) -> list[str]:
    """Every string value inside a JSON value, without the field names."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for member in value.values() for text in collect_strings(member)]
    if isinstance(value, list):
        return [text for item in value for text in collect_strings(item)]
    return []
