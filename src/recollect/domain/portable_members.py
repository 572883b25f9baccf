"""Parsers for the fields of exported lines. A parser takes a value and the name of its field, and
returns the parsed value or raises ValidationFailed; the message never repeats the value."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from recollect.domain import jsontext
from recollect.domain.agents import AGENT_ID_CHARS_MAX, AGENT_MARK, Owner, parse_owner
from recollect.domain.clock import to_text
from recollect.domain.memories import CONTENT_CHARS_MAX, ID_CHARS_MAX, NAME_CHARS_MAX, SOURCES_MAX
from recollect.domain.memory_checks import as_instant, check_id, check_metadata, check_name
from recollect.domain.spaces import SpaceKind, as_chat_id
from recollect.errors import ValidationFailed

ITEMS_MAX = 10_000

Reader = Callable[[Any, str], Any]
Values = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Member:
    """One field of a line. Absent and null mean the same; a `needed` field may be neither."""

    name: str
    read: Reader
    needed: bool = False


def alike(read: Reader, *names: str, needed: bool = False) -> tuple[Member, ...]:
    """Several fields with the same parser."""
    return tuple(Member(name, read, needed) for name in names)


def text(chars_max: int = NAME_CHARS_MAX) -> Reader:
    """A parser for a text that is not empty."""

    def read(value: Any, field: str) -> str:
        if not isinstance(value, str):
            raise ValidationFailed.of(field, "must be a text")
        check_name(value, field, chars_max=chars_max)
        return value

    return read


def content(value: Any, field: str) -> str:
    """The text of a memory. It may be empty, as that of a compacted one is."""
    if not isinstance(value, str) or len(value) > CONTENT_CHARS_MAX:
        message = f"must be a text of at most {CONTENT_CHARS_MAX} characters"
        raise ValidationFailed.of(field, message)
    jsontext.check_text(value, field)
    return value


def own_id(value: Any, field: str) -> str:
    """The id of a memory."""
    checked: str = text(ID_CHARS_MAX)(value, field)
    check_id(checked, field)
    return checked


def chat_id(value: Any, field: str) -> str:
    """The id of a chat, normalised."""
    return as_chat_id(text()(value, field))


def instant(value: Any, field: str) -> datetime:
    """An ISO-8601 instant; without an offset it is UTC."""
    try:
        return as_instant(datetime.fromisoformat(value), field)
    except (TypeError, ValueError):
        raise ValidationFailed.of(field, "must be an ISO-8601 instant") from None


def word(kind: type[StrEnum]) -> Reader:
    """A parser for a member of the enum."""

    def read(value: Any, field: str) -> StrEnum:
        if not isinstance(value, str) or value not in set(kind):
            words = [str(member) for member in kind]
            raise ValidationFailed.of(field, "must be one of the allowed words", allowed=words)
        return kind(value)

    return read


def among(*words: str) -> Reader:
    """A parser for one of these words."""

    def read(value: Any, field: str) -> str:
        if value not in words:
            raise ValidationFailed.of(field, "must be one of the allowed words", allowed=words)
        return str(value)

    return read


def owner(value: Any, field: str) -> Owner:
    """A user id, or `agent:` and an agent id. The agent id is not validated: the server signs its
    own changes with a name that is no valid one, so that no agent can have it."""
    spelled: str = text(NAME_CHARS_MAX + AGENT_ID_CHARS_MAX)(value, field)
    if spelled.startswith(AGENT_MARK):
        return Owner.agent(spelled.removeprefix(AGENT_MARK))
    return parse_owner(spelled, field)


def number(least: float = 0, most: float = 2**53, *, whole: bool = True) -> Reader:
    """A parser for a number within bounds, which are inclusive."""

    def read(value: Any, field: str) -> float:
        allowed = (int,) if whole else (int, float)
        if isinstance(value, bool) or not isinstance(value, allowed) or not least <= value <= most:
            raise ValidationFailed.of(field, f"must be a number from {least} to {most}")
        return value

    return read


def truth(value: Any, field: str) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise ValidationFailed.of(field, "must be true or false")
    return value


def obj(value: Any, field: str) -> dict[str, Any]:
    """Any JSON object. Its size is checked where it is stored."""
    if not isinstance(value, dict):
        raise ValidationFailed.of(field, "must be an object")
    return value


def small_object(value: Any, field: str) -> dict[str, Any]:
    """A JSON object within the limits of metadata."""
    check_metadata(obj(value, field))
    return obj(value, field)


def listed(read: Reader, most: int = SOURCES_MAX) -> Reader:
    """A parser for a list of values that `read` parses."""

    def read_all(value: Any, field: str) -> list[Any]:
        if not isinstance(value, list) or len(value) > most:
            raise ValidationFailed.of(field, f"must be a list of at most {most} items")
        return [read(item, f"{field}[{index}]") for index, item in enumerate(value)]

    return read_all


def nested(*members: Member) -> Reader:
    """A parser for an object with these fields and no others."""
    return lambda value, field: read_members(members, obj(value, field), f"{field}.")


def space(value: Any, field: str) -> Values:
    """The space of a memory. Without an id it is the importer's own space of that kind."""
    members = (Member("kind", word(SpaceKind), True), Member("id", text()))
    read = read_members(members, obj(value, field), f"{field}.")
    if read["kind"] is SpaceKind.CHAT and read["id"] is not None:
        read["id"] = as_chat_id(read["id"])
    return read


def raw(value: Any, _field: str) -> Any:
    """Any value, parsed later."""
    return value


def read_members(members: Iterable[Member], sent: Mapping[str, Any], prefix: str) -> Values:
    """Every field of `members`, None where it is absent. ValidationFailed for an unknown field and
    for a missing one that is needed; `prefix` is the path of the object within its line."""
    known = {member.name: member for member in members}
    for name in sent:
        if name not in known:
            # The name is the sender's text, hence the cut.
            raise ValidationFailed.of(f"{prefix}{name}"[:100], "unknown field")
    values: Values = {}
    for name, member in known.items():
        value = sent.get(name)
        if value is None and member.needed:
            raise ValidationFailed.of(f"{prefix}{name}", "is required")
        values[name] = None if value is None else member.read(value, f"{prefix}{name}")
    return values


def plain(value: Any) -> Any:
    """The value in types that JSON has: instants and owners become texts."""
    if isinstance(value, datetime):
        return to_text(value)
    if isinstance(value, Owner):
        return value.spelling
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {name: plain(member) for name, member in value.items()}
    return value
