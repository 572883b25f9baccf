"""Checks of arguments of the public methods. They raise ValueError, which names the argument and
never repeats its value."""

from collections.abc import Iterable, Sequence, Set
from datetime import datetime
from enum import StrEnum
from typing import TypeVar

from recollect.kernel.retention_rules import MemoryScope

Word = TypeVar("Word", bound=StrEnum)


def check_text(value: object, name: str) -> str:
    """Any text."""
    if not isinstance(value, str):
        raise ValueError(f"{name}: must be a text")
    return value


def check_optional_text(value: object, name: str) -> str | None:
    """A text, or None."""
    return None if value is None else check_text(value, name)


def check_flag(value: object, name: str) -> bool:
    """True or False; other truthy and falsy values are refused."""
    if not isinstance(value, bool):
        raise ValueError(f"{name}: must be True or False")
    return value


def check_optional_flag(value: object, name: str) -> bool | None:
    """True, False or None."""
    return None if value is None else check_flag(value, name)


def check_int(value: object, name: str, *, least: int, most: int) -> int:
    """A whole number within bounds."""
    if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
        return value
    raise ValueError(f"{name}: must be a whole number from {least} to {most}")


def check_texts(value: object, name: str) -> tuple[str, ...]:
    """Several texts; None means none. A single str is refused: it would count as its letters."""
    if value is None:
        return ()
    if isinstance(value, Sequence | Set) and not isinstance(value, str | bytes | bytearray):
        items = tuple(value)
        if all(isinstance(item, str) for item in items):
            return items
    raise ValueError(f"{name}: must be a list of texts")


def parse_choice(value: object, words: Iterable[Word], name: str) -> Word:
    """The enum member that `value` is, or that its text names."""
    known = {str(one): one for one in words}
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"{name}: must be one of {', '.join(known)}")
    return known[value]


def parse_optional_scope(value: object) -> MemoryScope | None:
    """A scope, or None for all."""
    return None if value is None else parse_choice(value, MemoryScope, "scope")


def parse_moment(value: object) -> object:
    """A datetime, or one parsed from ISO text. A number is refused: pydantic would take it for
    seconds since 1970."""
    if value is None or isinstance(value, datetime):
        return value
    try:
        return datetime.fromisoformat(check_text(value, ""))
    except ValueError:
        message = "must be a datetime, or a text such as 2026-01-31T12:00:00Z"
        raise ValueError(message) from None
