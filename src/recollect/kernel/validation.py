"""Limits that names, foreign ids and JSON objects share, whatever they belong to."""

import math
from collections.abc import Iterator
from datetime import UTC, datetime

from recollect.kernel import strict_json
from recollect.kernel.errors import ValidationFailed

METADATA_BYTES_MAX = 16 * 1024


NAME_CHARS_MAX = 255
DOT_SEGMENT = "must not be `.` or `..`, which no URL can carry"


def check_name(text: str, name: str, *, chars_max: int = NAME_CHARS_MAX) -> None:
    """Check a short text: a record's key, a tag, a name, an id of another system."""
    if not 1 <= len(text) <= chars_max:
        raise ValidationFailed.for_field(name, f"must have 1 to {chars_max} characters")
    strict_json.check_text(text, name)


def check_path_id(text: str, name: str) -> None:
    """Check an id that a caller chose, and that is a part of paths."""
    check_name(text, name)
    if is_dot_segment(text):
        raise ValidationFailed.for_field(name, DOT_SEGMENT)


def is_dot_segment(text: str) -> bool:
    """Is this one of the path segments that clients and proxies take out of a URL, escaped or not
    (RFC 3986, 6.2.2.3)? With such an id a request would reach something else than it names: the
    removal of a member would reach the whole conversation."""
    return text in (".", "..")


def check_metadata(metadata: object) -> None:
    """Check the caller's own JSON object."""
    check_object(
        metadata, "metadata", bytes_max=METADATA_BYTES_MAX, depth_max=strict_json.DEPTH_MAX
    )


def check_object(value: object, name: str, *, bytes_max: int, depth_max: int) -> None:
    if not isinstance(value, dict):
        raise ValidationFailed.for_field(name, "must be an object")
    too_large = ValidationFailed.for_field(
        name, f"must have at most {bytes_max} bytes as compact JSON"
    )
    for count, (item, depth) in enumerate(_walk_json(value)):
        # Each item takes at least a byte, so this bounds the walk, even for a Python object that
        # contains itself many times.
        if count > bytes_max:
            raise too_large
        if depth > depth_max:
            raise ValidationFailed.for_field(
                name, f"must not be nested deeper than {depth_max} levels"
            )
        _check_item(item, name)
    try:
        size = len(strict_json.dump(value).encode())
    except ValueError:
        raise ValidationFailed.for_field(name, "holds a number that is too long") from None
    if size > bytes_max:
        raise too_large


def _walk_json(value: object) -> Iterator[tuple[object, int]]:
    """Every value and field name in a JSON value. Containers come with their depth from 1, all
    others with 0. Iterative, so that deep nesting can't exhaust the stack."""
    stack: list[tuple[object, int]] = [(value, 1)]
    while stack:
        item, depth = stack.pop()
        nested = isinstance(item, dict | list)
        yield item, depth if nested else 0
        if isinstance(item, dict):
            stack.extend((name, 0) for name in item)
            stack.extend((inner, depth + 1) for inner in item.values())
        elif isinstance(item, list):
            stack.extend((inner, depth + 1) for inner in item)


def _check_item(item: object, name: str) -> None:
    if isinstance(item, str):
        strict_json.check_text(item, name)
    elif isinstance(item, dict) and not all(isinstance(inner, str) for inner in item):
        raise ValidationFailed.for_field(name, "must have texts as field names")
    elif isinstance(item, float) and not math.isfinite(item):
        raise ValidationFailed.for_field(name, "must not hold a number that is not finite")
    elif not (item is None or isinstance(item, int | float | dict | list)):
        raise ValidationFailed.for_field(name, "must hold nothing but JSON values")


def to_utc(at: datetime, name: str) -> datetime:
    """The instant in UTC. A time without an offset counts as UTC."""
    try:
        return at.replace(tzinfo=UTC) if at.utcoffset() is None else at.astimezone(UTC)
    except OverflowError:
        raise ValidationFailed.for_field(
            name, "must lie within the years 1 to 9999 in UTC"
        ) from None
