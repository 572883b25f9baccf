"""Parsers for the fields of exported lines. A parser takes a value and the name of its field, and
returns the parsed value or raises ValidationFailed; the message never repeats the value."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from recollect.http.suggestions import unknown_name
from recollect.kernel import strict_json
from recollect.kernel.clock import to_text
from recollect.kernel.errors import ValidationFailed
from recollect.kernel.ids import parse_uuid
from recollect.kernel.owner import (
    AGENT_ID_CHARS_MAX,
    AGENT_PREFIX,
    Owner,
    parse_owner,
)
from recollect.kernel.space import SpaceKind, to_chat_id
from recollect.kernel.validation import (
    NAME_CHARS_MAX,
    check_metadata,
    check_name,
    to_utc,
)
from recollect.memories.model import CONTENT_CHARS_MAX, ID_CHARS_MAX, SOURCES_MAX
from recollect.memories.validation import check_id

ITEMS_MAX = 10_000

FieldParser = Callable[[Any, str], Any]
LineValues = dict[str, Any]


@dataclass(frozen=True, slots=True)
class LineField:
    """One field of a line. Absent and null mean the same; a `needed` field may be neither."""

    name: str
    read: FieldParser
    needed: bool = False


def line_fields(read: FieldParser, *names: str, needed: bool = False) -> tuple[LineField, ...]:
    """Several fields with the same parser."""
    return tuple(LineField(name, read, needed) for name in names)


def text_parser(chars_max: int = NAME_CHARS_MAX) -> FieldParser:
    """A parser for a text that is not empty."""

    def read(value: Any, field: str) -> str:
        if not isinstance(value, str):
            raise ValidationFailed.for_field(field, "must be a text")
        check_name(value, field, chars_max=chars_max)
        return value

    return read


def parse_content(value: Any, field: str) -> str:
    """The text of a memory. It may be empty, as that of a compacted one is."""
    if not isinstance(value, str) or len(value) > CONTENT_CHARS_MAX:
        message = f"must be a text of at most {CONTENT_CHARS_MAX} characters"
        raise ValidationFailed.for_field(field, message)
    strict_json.check_text(value, field)
    return value


def parse_memory_id(value: Any, field: str) -> str:
    """The id of a memory."""
    checked: str = text_parser(ID_CHARS_MAX)(value, field)
    check_id(checked, field)
    return checked


def parse_chat_id(value: Any, field: str) -> str:
    """The id of a chat, normalised."""
    return to_chat_id(text_parser()(value, field))


def parse_conversation_id(value: Any, field: str) -> str:
    """The id of a conversation."""
    canonical = parse_uuid(value) if isinstance(value, str) else None
    if canonical is None:
        raise ValidationFailed.for_field(field, "must be the id of a conversation, a UUID")
    return canonical


def parse_instant(value: Any, field: str) -> datetime:
    """An ISO-8601 instant; without an offset it is UTC."""
    try:
        return to_utc(datetime.fromisoformat(value), field)
    except (TypeError, ValueError):
        raise ValidationFailed.for_field(field, "must be an ISO-8601 instant") from None


def enum_parser(kind: type[StrEnum]) -> FieldParser:
    """A parser for a member of the enum."""

    def read(value: Any, field: str) -> StrEnum:
        if not isinstance(value, str) or value not in set(kind):
            words = [str(member) for member in kind]
            raise ValidationFailed.for_field(
                field, "must be one of the allowed words", allowed=words
            )
        return kind(value)

    return read


def choice_parser(*words: str) -> FieldParser:
    """A parser for one of these words."""

    def read(value: Any, field: str) -> str:
        if value not in words:
            raise ValidationFailed.for_field(
                field, "must be one of the allowed words", allowed=words
            )
        return str(value)

    return read


def parse_owner_field(value: Any, field: str) -> Owner:
    """A user id, or `agent:` and an agent id. The agent id is not validated: the server signs its
    own changes with a name that is no valid one, so that no agent can have it."""
    spelled: str = text_parser(NAME_CHARS_MAX + AGENT_ID_CHARS_MAX)(value, field)
    if spelled.startswith(AGENT_PREFIX):
        return Owner.agent(spelled.removeprefix(AGENT_PREFIX))
    return parse_owner(spelled, field)


def number_parser(least: float = 0, most: float = 2**53, *, whole: bool = True) -> FieldParser:
    """A parser for a number within bounds, which are inclusive."""

    def read(value: Any, field: str) -> float:
        allowed = (int,) if whole else (int, float)
        if isinstance(value, bool) or not isinstance(value, allowed) or not least <= value <= most:
            raise ValidationFailed.for_field(field, f"must be a number from {least} to {most}")
        return value

    return read


def parse_bool(value: Any, field: str) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise ValidationFailed.for_field(field, "must be true or false")
    return value


def parse_object(value: Any, field: str) -> dict[str, Any]:
    """Any JSON object. Its size is checked where it is stored."""
    if not isinstance(value, dict):
        raise ValidationFailed.for_field(field, "must be an object")
    return value


def parse_metadata(value: Any, field: str) -> dict[str, Any]:
    """A JSON object within the limits of metadata."""
    check_metadata(parse_object(value, field))
    return parse_object(value, field)


def list_parser(read: FieldParser, most: int = SOURCES_MAX) -> FieldParser:
    """A parser for a list of values that `read` parses."""

    def read_all(value: Any, field: str) -> list[Any]:
        if not isinstance(value, list) or len(value) > most:
            raise ValidationFailed.for_field(field, f"must be a list of at most {most} items")
        return [read(item, f"{field}[{index}]") for index, item in enumerate(value)]

    return read_all


def object_parser(*members: LineField) -> FieldParser:
    """A parser for an object with these fields and no others."""
    return lambda value, field: parse_fields(members, parse_object(value, field), f"{field}.")


def parse_space(value: Any, field: str) -> LineValues:
    """The space of a memory. Without an id it is the importer's own space of that kind."""
    members = (LineField("kind", enum_parser(SpaceKind), True), LineField("id", text_parser()))
    read = parse_fields(members, parse_object(value, field), f"{field}.")
    if read["kind"] is SpaceKind.CHAT and read["id"] is not None:
        read["id"] = to_chat_id(read["id"])
    return read


def parse_raw(value: Any, _field: str) -> Any:
    """Any value, parsed later."""
    return value


def refuse_unreadable(_value: Any, field: str) -> Any:
    """The mark of a line without its texts, which no import may take for empty ones."""
    message = "must be absent: what could not be decrypted at the export can't be imported"
    raise ValidationFailed.for_field(field, message)


def parse_fields(members: Iterable[LineField], sent: Mapping[str, Any], prefix: str) -> LineValues:
    """Every field of `members`, None where it is absent. ValidationFailed for an unknown field and
    for a missing one that is needed; `prefix` is the path of the object within its line."""
    known = {member.name: member for member in members}
    for name in sent:
        if name not in known:
            # The name is the sender's text, hence the cut.
            wrong = unknown_name("field", name, known)
            raise ValidationFailed.for_field(
                f"{prefix}{name}"[:100], wrong.message, allowed=wrong.allowed
            )
    values: LineValues = {}
    for name, member in known.items():
        value = sent.get(name)
        if value is None and member.needed:
            raise ValidationFailed.for_field(f"{prefix}{name}", "is required")
        values[name] = None if value is None else member.read(value, f"{prefix}{name}")
    return values


def to_json_value(value: Any) -> Any:
    """The value in types that JSON has: instants and owners become texts."""
    if isinstance(value, datetime):
        return to_text(value)
    if isinstance(value, Owner):
        return value.spelling
    if isinstance(value, list | tuple):
        return [to_json_value(item) for item in value]
    if isinstance(value, dict):
        return {name: to_json_value(member) for name, member in value.items()}
    return value
