"""Validates the fields of a memory. Errors are ValidationFailed with the name of the field, and
never repeat its text: it may hold personal data or secrets."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from recollect.conversations.model import is_blank
from recollect.http.suggestions import unknown_name
from recollect.kernel import strict_json
from recollect.kernel.errors import Forbidden, ValidationFailed
from recollect.kernel.retention_rules import MemoryScope
from recollect.kernel.validation import (
    NAME_CHARS_MAX,
    check_name,
    check_object,
    check_path_id,
    to_utc,
)
from recollect.memories.model import (
    CONTENT_CHARS_MAX,
    ID_CHARS_MAX,
    IMMUTABLE_FIELDS,
    KEY_CHARS_MAX,
    MESSAGES_BYTES_MAX,
    MESSAGES_MAX,
    OBSERVED_AHEAD_MAX,
    PATCH_FIELDS,
    SOURCES_MAX,
    SUBJECTS_MAX,
    TAG_CHARS_MAX,
    TAGS_MAX,
    VALUE_BYTES_MAX,
    VALUE_DEPTH_MAX,
    Memory,
    MemoryKind,
    MemoryMessage,
    MessageRole,
    Sensitivity,
)

_ID = re.compile("[A-Za-z0-9._:-]+")


def infer_kind(
    *, messages: object = None, content: object = None, key: object = None, value: object = None
) -> MemoryKind:
    """Statement or record, by the fields that were sent (None is absent). Raises unless exactly one
    of `messages`, `content`, and `key` with `value` was sent."""
    if (key is None) != (value is None):
        missing = "key" if key is None else "value"
        raise ValidationFailed.for_field(
            missing, "`key` and `value` are sent together or not at all"
        )
    if sum(payload is not None for payload in (messages, content, key)) != 1:
        message = "send exactly one of `messages`, `content`, or `key` with `value`"
        raise ValidationFailed.for_field("content", message)
    return MemoryKind.STATEMENT if key is None else MemoryKind.RECORD


def check_id(text: str, name: str = "id") -> None:
    """Check an id that a caller chose."""
    if not (len(text) <= ID_CHARS_MAX and _ID.fullmatch(text)):
        message = f"must be 1 to {ID_CHARS_MAX} characters of A-Z a-z 0-9 . _ : -"
        raise ValidationFailed.for_field(name, message)
    check_path_id(text, name)


def check_content(text: str, name: str = "content") -> None:
    """Check the text of a statement."""
    check_name(text, name, chars_max=CONTENT_CHARS_MAX)
    if is_blank(text):
        raise ValidationFailed.for_field(name, "must not be blank")


def check_record(key: str, value: object) -> None:
    """Check the key and the value of a record."""
    check_name(key, "key", chars_max=KEY_CHARS_MAX)
    check_object(value, "value", bytes_max=VALUE_BYTES_MAX, depth_max=VALUE_DEPTH_MAX)


def clean_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """The tags as sent, each once."""
    return _clean_texts(tags, "tags", most=TAGS_MAX, chars_max=TAG_CHARS_MAX)


def clean_subjects(subjects: Sequence[str]) -> tuple[str, ...]:
    """The person ids or names as sent, each once."""
    for index, subject in enumerate(subjects[:SUBJECTS_MAX]):
        if is_blank(subject):
            raise ValidationFailed.for_field(f"subjects[{index}]", "must not be blank")
    return _clean_texts(subjects, "subjects", most=SUBJECTS_MAX, chars_max=NAME_CHARS_MAX)


def clean_source_entries(ids: Sequence[str]) -> tuple[str, ...]:
    """The ids of the entries that a memory came from, each once."""
    return _clean_texts(ids, "source_entries", most=SOURCES_MAX, chars_max=NAME_CHARS_MAX)


def _clean_texts(texts: Sequence[str], name: str, *, most: int, chars_max: int) -> tuple[str, ...]:
    if len(texts) > most:
        raise ValidationFailed.for_field(name, f"must have at most {most} items")
    for index, text in enumerate(texts):
        check_name(text, f"{name}[{index}]", chars_max=chars_max)
    return tuple(dict.fromkeys(texts))


def check_run_id(scope: MemoryScope, run_id: str | None) -> None:
    """A session memory needs a run. None and an empty text both mean no run."""
    if scope is MemoryScope.SESSION and not run_id:
        raise ValidationFailed.for_field("run_id", "must name the run: the scope is session")
    if run_id is not None:
        check_path_id(run_id, "run_id")


def check_observed_at(observed_at: datetime, now: datetime) -> None:
    """`observed_at` must not lie in the future, but for a small difference of clocks."""
    if to_utc(observed_at, "observed_at") - to_utc(now, "now") > OBSERVED_AHEAD_MAX:
        minutes = OBSERVED_AHEAD_MAX // timedelta(minutes=1)
        raise ValidationFailed.for_field(
            "observed_at", f"must not lie more than {minutes} minutes ahead"
        )


def check_validity(valid_from: datetime | None, valid_until: datetime | None) -> None:
    """The validity interval is half open and must not be empty. None has no bound."""
    if valid_from is None or valid_until is None:
        return
    if to_utc(valid_from, "valid_from") >= to_utc(valid_until, "valid_until"):
        raise ValidationFailed.for_field("valid_until", "must lie after `valid_from`")


def check_immutable(names: Iterable[str]) -> None:
    """Raise for a field that no PATCH may change, for any kind of memory."""
    for name in names:
        if name in IMMUTABLE_FIELDS:
            raise _immutable_field_error(name)


def check_patch(kind: MemoryKind, names: Collection[str]) -> None:
    """Raise for a field that a PATCH may not change in this kind of memory."""
    check_immutable(names)
    for name in names:
        if name not in PATCH_FIELDS[kind]:
            known = ", ".join(sorted(PATCH_FIELDS[kind]))
            raise ValidationFailed.for_field(
                name, f"can't be changed in a {kind}; what can be: {known}"
            )


def _immutable_field_error(name: str) -> ValidationFailed:
    error = ValidationFailed.for_field(
        name, "can't be changed; write a new memory, or move this one"
    )
    error.code = "immutable_field"
    return error


def check_loosening(
    memory: Memory, person_id: str | None, *, sensitivity: Sensitivity, portable: bool
) -> None:
    """Raise Forbidden if somebody who is no subject lowers the privacy. Without subjects anybody
    may."""
    looser = sensitivity.rank < memory.sensitivity.rank or (portable and not memory.portable)
    if looser and memory.subjects and person_id not in memory.subjects:
        message = "only a subject of the memory may lower its sensitivity or make it portable"
        raise Forbidden(message, code="subject_only")


def parse_messages(items: Sequence[object]) -> tuple[MemoryMessage, ...]:
    """The messages of a list of objects. An error names the index of the malformed one."""
    if not 1 <= len(items) <= MESSAGES_MAX:
        raise ValidationFailed.for_field("messages", f"must have 1 to {MESSAGES_MAX} items")
    messages = tuple(_parse_message(item, f"messages[{index}]") for index, item in enumerate(items))
    if sum(len(message.content.encode()) for message in messages) > MESSAGES_BYTES_MAX:
        message = f"must have at most {MESSAGES_BYTES_MAX} bytes of content as UTF-8"
        raise ValidationFailed.for_field("messages", message)
    return messages


_MESSAGE_FIELDS = ("role", "content", "name", "user_id", "created_at")


def _parse_message(item: object, at: str) -> MemoryMessage:
    if not isinstance(item, Mapping):
        raise ValidationFailed.for_field(at, "must be an object with `role` and `content`")
    for name in item:
        if name not in _MESSAGE_FIELDS:
            wrong = unknown_name("field", str(name), _MESSAGE_FIELDS)
            raise ValidationFailed.for_field(f"{at}.{name}", wrong.message, allowed=wrong.allowed)
    return MemoryMessage(
        _parse_role(item.get("role"), f"{at}.role"),
        _parse_content(item.get("content"), f"{at}.content"),
        _parse_optional_name(item.get("name"), f"{at}.name"),
        _parse_optional_name(item.get("user_id"), f"{at}.user_id"),
        _parse_optional_instant(item.get("created_at"), f"{at}.created_at"),
    )


def _parse_role(value: object, name: str) -> MessageRole:
    if not isinstance(value, str) or value not in set(MessageRole):
        message = f"must be one of {', '.join(MessageRole)}"
        raise ValidationFailed.for_field(name, message, allowed=list(MessageRole))
    return MessageRole(value)


def _parse_content(value: object, name: str) -> str:
    if not isinstance(value, str) or is_blank(value):
        raise ValidationFailed.for_field(name, "must be a text that is not blank")
    strict_json.check_text(value, name)
    return value


def _parse_optional_name(value: object, name: str) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise ValidationFailed.for_field(name, "must be a text or null")
    check_name(value, name)
    return value


def _parse_optional_instant(value: object, name: str) -> datetime | None:
    if value is None:
        return None
    try:
        at = datetime.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        at = None
    if not isinstance(at, datetime):
        message = "must be an ISO-8601 instant such as 2026-01-31T12:00:00Z, or null"
        raise ValidationFailed.for_field(name, message)
    return to_utc(at, name)
