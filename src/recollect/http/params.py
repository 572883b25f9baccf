"""Query parameters: how each one is parsed, and its schema in OpenAPI.

A reader gets the text as it was sent, and raises ValueError with what would be right. NUL and lone
surrogates can't be stored or searched: they are refused, but dropped from search queries.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypeVar

from recollect.kernel.ids import UUID_RULE, parse_uuid
from recollect.kernel.pages import LIMIT_MAX
from recollect.kernel.strict_json import drop_unstorable, text_problem

QUERY_CHARS_MAX = 1_000
VALUES_MAX = 50

Schema = dict[str, Any]
E = TypeVar("E", bound=StrEnum)


class UnknownWord(ValueError):
    """A word that is not on the list."""

    def __init__(self, allowed: Iterable[str]) -> None:
        self.allowed = tuple(allowed)
        super().__init__(f"must be one of {', '.join(self.allowed)}")


def allowed_words(error: object) -> tuple[str, ...]:
    """What would be right, if the error knows it."""
    return error.allowed if isinstance(error, UnknownWord) else ()


@dataclass(frozen=True, slots=True)
class Param:
    """One query parameter. `default` is its value when absent. With `many` it may be sent several
    times, and its value is a tuple. A `required` one is described as such: its reader can't see
    that it is absent. `example`: its value in the example of a call."""

    name: str
    read: Callable[[str], Any]
    schema: Schema = field(hash=False)
    description: str
    default: Any = None
    many: bool = False
    required: bool = False
    example: Any = field(default=None, hash=False)


def repeated_param(param: Param) -> Param:
    """The same parameter, but it may be sent several times, once for each value."""
    schema: Schema = {"type": "array", "items": param.schema, "maxItems": VALUES_MAX}
    return replace(param, schema=schema, default=(), many=True)


def limit_param(default: int | None) -> Param:
    """The page size. A list without a default returns everything when no limit is sent."""
    schema: Schema = {"type": "integer", "minimum": 1, "maximum": LIMIT_MAX}
    if default is not None:
        schema["default"] = default
    return Param("limit", _read_limit, schema, "Most items of the page.", default)


def count_param(name: str, description: str) -> Param:
    """A number of items, within the limits of a page."""
    schema: Schema = {"type": "integer", "minimum": 1, "maximum": LIMIT_MAX}
    return Param(name, _read_limit, schema, description)


def enum_param(name: str, kind: type[E], description: str, default: E | None = None) -> Param:
    """A word of a closed list, in any letter case."""
    schema: Schema = {"type": "string", "enum": [str(member) for member in kind]}
    if default is not None:
        schema["default"] = str(default)
    return Param(name, word_reader({str(m): m for m in kind}), schema, description, default)


def flag_param(name: str, description: str) -> Param:
    """`true` or `false`, in any letter case; false when absent."""
    schema = {"type": "boolean", "default": False}
    return Param(name, word_reader({"true": True, "false": False}), schema, description, False)


def instant_param(name: str, description: str) -> Param:
    """An ISO-8601 instant with any offset; without one it is UTC."""
    return Param(name, _read_sent_instant, {"type": "string", "format": "date-time"}, description)


def uuid_param(name: str, description: str) -> Param:
    """A UUID. A malformed one is a violation here; in a path it is not found."""
    return Param(name, read_uuid, {"type": "string", "format": "uuid"}, description)


def text_param(name: str, description: str, *, chars_max: int) -> Param:
    """A text that is compared exactly."""

    def read(value: str) -> str:
        if not 1 <= len(value) <= chars_max:
            raise ValueError(f"must have 1 to {chars_max} characters")
        return require_storable_text(value)

    schema = {"type": "string", "minLength": 1, "maxLength": chars_max}
    return Param(name, read, schema, description)


def query_param(description: str) -> Param:
    """A search text. Any text is valid; an empty one counts as absent."""
    schema = {"type": "string", "maxLength": QUERY_CHARS_MAX}
    return Param("query", _read_query, schema, description)


def lenient_enum_param(name: str, kind: type[E], description: str, default: E) -> Param:
    """A word of an enum; any other word means the default."""
    words = {str(member): member for member in kind}

    def read(value: str) -> E:
        return words.get(value.lower(), default)

    schema = {"type": "string", "default": str(default), "examples": list(words)}
    return Param(name, read, schema, description, default)


def word_reader(words: dict[str, Any]) -> Callable[[str], Any]:
    """A reader of one of these words, in any letter case."""

    def read(value: str) -> Any:
        try:
            return words[value.lower()]
        except KeyError:
            raise UnknownWord(words) from None

    return read


def read_uuid(value: str) -> str:
    """Canonical UUID text in lower case."""
    canonical = parse_uuid(value)
    if canonical is None:
        raise ValueError(UUID_RULE)
    return canonical


def require_storable_text(value: str) -> str:
    """The text itself. ValueError if a database can't store it."""
    problem = text_problem(value)
    if problem:
        raise ValueError(problem)
    return value


def read_instant(value: str) -> datetime:
    """An ISO-8601 instant in UTC."""
    try:
        at = datetime.fromisoformat(value)
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("must be an ISO-8601 instant such as 2026-01-31T12:00:00Z") from None


def _read_limit(value: str) -> int:
    number = _parse_whole(value)
    if number is None or not 1 <= number <= LIMIT_MAX:
        raise ValueError(f"must be an integer from 1 to {LIMIT_MAX}")
    return number


def _parse_whole(value: str) -> int | None:
    return int(value) if value.isascii() and value.isdigit() and len(value) <= 20 else None


def _read_sent_instant(value: str) -> datetime:
    # In a query string `+` means a space, so the offset of an unescaped `…+02:00` arrives with one.
    return read_instant(value[:11] + value[11:].replace(" ", "+"))


def _read_query(value: str) -> str | None:
    cleaned = drop_unstorable(value)
    if len(cleaned) > QUERY_CHARS_MAX:
        raise ValueError(f"must have at most {QUERY_CHARS_MAX} characters")
    return cleaned or None
