"""What a history entry may contain.

Clients with an API key must follow strict rules, and their content is stored as sent. Content of
users without a key is normalized by tolerant rules."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from recollect.conversations.model import is_blank
from recollect.kernel.errors import EmptyEntry, InvalidInput

HISTORY_TYPE = "history"
ROLES = ("USER", "AI")
# What people and their libraries call the two roles, in any letter case.
_TOLERANT_ROLES = {
    "user": ROLES[0],
    "human": ROLES[0],
    "assistant": ROLES[1],
    "ai": ROLES[1],
    "model": ROLES[1],
}


@dataclass(frozen=True, slots=True)
class HistoryContent:
    """Valid history content, as it is to be stored.

    `text` is used for title, preview and index. It is None if the entry has no text or a blank one.
    """

    content: list[Any]
    content_type: str
    text: str | None


def is_history_type(content_type: str) -> bool:
    """Is it `history` or a subtype `history/…`? Case-sensitive."""
    return content_type == HISTORY_TYPE or content_type.startswith(HISTORY_TYPE + "/")


def parse_strict(content: object, content_type: str | None) -> HistoryContent:
    """Check the content of a client and keep it as sent. Raises InvalidInput with the field."""
    if content_type is None or not is_history_type(content_type):
        raise _invalid_field("contentType", "must be `history` or start with `history/`")
    if not isinstance(content, list) or len(content) != 1:
        raise _invalid_field("content", "must be a list of exactly one item")
    item = content[0]
    if not isinstance(item, dict):
        raise _invalid_field("content[0]", "must be an object")
    _check_message(item)
    return HistoryContent(content, content_type, _text_or_none(item.get("text")))


def parse_tolerant(
    content: object, content_type: str | None, role: str | None = None
) -> HistoryContent:
    """Normalize the content of a user without an API key into one message object.

    Strings and objects are merged: texts are joined by newlines and lists are concatenated. Roles
    may be written as people write them, with each item or beside the content; without one it is a
    user's message. Nulls count as absent, and unknown fields are dropped. Raises EmptyEntry if
    nothing is left, and InvalidInput for a value of a wrong type, an unknown role or two roles.
    """
    parts = list(_content_parts(content))
    named = _tolerant_role(parts, role)
    texts = [text for part in parts for text in _part_texts(part)]
    events, attachments = _concat_lists(parts, "events"), _concat_lists(parts, "attachments")
    if not (texts or events or attachments):
        raise EmptyEntry("the entry holds no text, event or attachment")
    text = "\n".join(texts) or None
    message = {"role": named, "text": text, "events": events, "attachments": attachments}
    kept = content_type if content_type and is_history_type(content_type) else HISTORY_TYPE
    return HistoryContent([{k: v for k, v in message.items() if v is not None}], kept, text)


def extract_text(content: list[Any]) -> str | None:
    """The text of stored history content, None if there is none, it is blank or unreadable."""
    return _text_or_none(content[0].get("text")) if content else None


def content_of_marker(content: list[Any]) -> list[Any]:
    """What is left of history content when its entry is deleted: whose message it was."""
    return [{"role": content[0].get("role", ROLES[0]) if content else ROLES[0]}]


def is_assistant(content: list[Any]) -> bool:
    """Is it a message of the assistant?"""
    return bool(content[0].get("role") == ROLES[1])


def _check_message(item: dict[str, Any]) -> None:
    if item.get("role") not in ROLES:
        raise _invalid_field("content[0].role", "must be `USER` or `AI`")
    if all(item.get(member) is None for member in ("text", "events", "attachments")):
        raise _invalid_field("content[0]", "must hold `text`, `events` or `attachments`")
    if not isinstance(item.get("text"), str | None):
        raise _invalid_field("content[0].text", "must be a string")
    for member in ("events", "attachments"):
        if not isinstance(item.get(member), list | None):
            raise _invalid_field(f"content[0].{member}", "must be a list")
    for index, attachment in enumerate(item.get("attachments") or ()):
        _check_attachment(attachment, f"content[0].attachments[{index}]")


def _check_attachment(attachment: object, field: str) -> None:
    if not isinstance(attachment, dict):
        raise _invalid_field(field, "must be an object")
    for member in ("href", "attachmentId"):
        if not isinstance(attachment.get(member), str | None):
            raise _invalid_field(f"{field}.{member}", "must be a string")
    if attachment.get("href") is None and attachment.get("attachmentId") is None:
        raise _invalid_field(field, "must hold `href` or `attachmentId`")
    if attachment.get("href") is not None and not isinstance(attachment.get("contentType"), str):
        raise _invalid_field(f"{field}.contentType", "must be a string beside `href`")


def _content_parts(content: object) -> Iterator[dict[str, Any]]:
    """Each item as an object, an empty one for null. Checks that lists are lists."""
    if not isinstance(content, str | list):
        raise _invalid_field("content", "must be a string or a list")
    for index, item in enumerate([content] if isinstance(content, str) else content):
        part = {"text": item} if isinstance(item, str) else {} if item is None else item
        if not isinstance(part, dict):
            raise _invalid_field(f"content[{index}]", "must be a string or an object")
        for member in ("events", "attachments"):
            if not isinstance(part.get(member), list | None):
                raise _invalid_field(f"content[{index}].{member}", "must be a list")
        if not isinstance(part.get("content"), str | list | None):
            raise _invalid_field(f"content[{index}].content", "must be a string or a list")
        yield part


def _concat_lists(parts: list[dict[str, Any]], member: str) -> list[Any] | None:
    lists = [part[member] for part in parts if part.get(member) is not None]
    return [item for items in lists for item in items] if lists else None


def _part_texts(part: dict[str, Any]) -> Iterator[str]:
    """The texts of one item, also where they stand in `content`, as in a chat message."""
    inner = part.get("content")
    items = inner if isinstance(inner, list) else [inner]
    for text in (part.get("text"), *(i.get("text") if isinstance(i, dict) else i for i in items)):
        if (kept := _text_or_none(text)) is not None:
            yield kept


def _tolerant_role(parts: list[dict[str, Any]], body_role: str | None) -> str:
    """The one role that is named, or the user's."""
    words = [("role", body_role)]
    words += [(f"content[{index}].role", part.get("role")) for index, part in enumerate(parts)]
    named = [(field, _read_role(word, field)) for field, word in words if word is not None]
    for field, role in named:
        if role != named[0][1]:
            allowed = ", ".join(_TOLERANT_ROLES)
            raise _invalid_field(field, f"must be that of the whole entry, one of {allowed}")
    return named[0][1] if named else ROLES[0]


def _read_role(word: object, field: str) -> str:
    role = _TOLERANT_ROLES.get(word.lower()) if isinstance(word, str) else None
    if role is None:
        raise _invalid_field(field, f"must be one of {', '.join(_TOLERANT_ROLES)}")
    return role


def _text_or_none(text: object) -> str | None:
    return text if isinstance(text, str) and not is_blank(text) else None


def _invalid_field(field: str, message: str) -> InvalidInput:
    return InvalidInput(f"{field} {message}", field=field)
