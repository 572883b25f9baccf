"""Strict JSON: parsing with limits, exact integers, equality by value."""

import json
import math
import re
from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple, NewType, NoReturn

from recollect.kernel.errors import ValidationFailed, Violation

JsonText = NewType("JsonText", str)

DEPTH_MAX = 64
_FIELD_CHARS_MAX = 200


def parse(body: bytes, *, queries: Collection[str] = ()) -> Any:
    """Parse a JSON text in UTF-8. Raises ValidationFailed with the field where it can.

    Integers keep all digits; of duplicate fields the last wins. `NaN`, infinities, numbers beyond
    a double, integers of more than 4,300 digits (the interpreter's guard against quadratic work),
    NUL, lone surrogates and nesting deeper than 64 are refused. In the outermost object's fields
    named in `queries` NUL and lone surrogates are dropped instead.
    """
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _body_error("the body is not UTF-8") from None
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        raise _too_deep_error() from None
    except json.JSONDecodeError as error:
        raise _body_error(f"the body is not valid JSON: {error}") from None
    except ValueError:
        raise _not_finite_error(_parse_leniently(text)) from None
    # The tree is walked only if it may hold something to refuse: deep nesting needs as many
    # brackets, and NUL or a lone surrogate can come in valid UTF-8 JSON only as a `\u` escape.
    if text.count("[") + text.count("{") > DEPTH_MAX or "\\u" in text:
        _clean_queries(value, queries)
        _check_tree(value)
    return value


def check_value(value: Any, *, queries: Collection[str] = ()) -> None:
    """Refuse what `parse` refuses, for a value that does not come from JSON text."""
    try:
        _clean_queries(value, queries)
        _check_tree(value)
        _ENCODER.encode(value)
    except ValueError:
        raise _not_finite_error(value) from None


def dump(value: Any) -> JsonText:
    """Compact JSON text; the order of fields and Unicode are kept."""
    return JsonText(_ENCODER.encode(value))


def canonical_bytes(body: bytes) -> bytes:
    """Bytes that are equal for JSON texts that differ only in white space, escapes and the order of
    fields. An invalid JSON text is returned as it is."""
    try:
        return _SORTED_ENCODER.encode(parse(body)).encode()
    except ValidationFailed:
        return body


def load(text: str) -> Any:
    """Parse a JSON text that we wrote ourselves, without checks."""
    return json.loads(text)


def is_equal(a: Any, b: Any) -> bool:
    """Deep equality: the order of fields does not count, 1 equals 1.0 but not true, and null is
    not absent."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(is_equal(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(is_equal, a, b))
    return bool(a == b)


def check_text(text: str, field: str) -> None:
    """Raise ValidationFailed for what a database can't store: NUL and lone surrogates."""
    problem = text_problem(text)
    if problem:
        raise ValidationFailed.for_field(field, problem)


def text_problem(text: str) -> str | None:
    """Why a text can't be stored; None if it can."""
    if "\x00" in text:
        return "must not contain NUL (U+0000)"
    if not text.isascii() and any("\ud800" <= c <= "\udfff" for c in text):
        return "must not contain a lone surrogate"
    return None


def drop_unstorable(text: str) -> str:
    """The text without characters that can't be stored, so that any text is a valid query."""
    if text_problem(text) is None:
        return text
    return "".join(char for char in text if char != "\x00" and not "\ud800" <= char <= "\udfff")


def _clean_queries(value: Any, queries: Collection[str]) -> None:
    for name in queries:
        if isinstance(value, dict) and isinstance(value.get(name), str):
            value[name] = drop_unstorable(value[name])


class _JsonNode(NamedTuple):
    """A value nested in a JSON value, with its parent and its name or index there."""

    value: Any
    outer: "_JsonNode | None" = None
    step: str | int = ""

    @property
    def field(self) -> str:
        """The path from the outside, such as `items[2].name`.

        It stops at the first name that is no plain word: an arbitrary name is content of the
        caller, and may be what an error must not repeat.
        """
        nodes = [self]
        while (outer := nodes[-1].outer) is not None:
            nodes.append(outer)
        path = ""
        for node in reversed(nodes[:-1]):
            if isinstance(node.step, int):
                path += f"[{node.step}]"
            elif not _PLAIN_NAME.fullmatch(node.step):
                break
            else:
                path += f".{node.step}" if path else node.step
        return path[:_FIELD_CHARS_MAX] or "body"


def _iter_nodes(value: Any) -> Iterator[_JsonNode]:
    """The value and all values nested in it."""
    stack = [_JsonNode(value)]
    while stack:
        node = stack.pop()
        yield node
        item = node.value
        if isinstance(item, dict):
            stack.extend(_JsonNode(one, node, name) for name, one in item.items())
        elif isinstance(item, list):
            stack.extend(_JsonNode(one, node, at) for at, one in enumerate(item))


def _check_tree(value: Any) -> None:
    stack: list[tuple[Any, int]] = [(value, 1)]
    while stack:
        item, depth = stack.pop()
        if isinstance(item, str):
            _check_nested_text(value, item)
        elif isinstance(item, dict):
            _check_depth(depth)
            for name, member in item.items():
                _check_nested_text(value, name)
                stack.append((member, depth + 1))
        elif isinstance(item, list):
            _check_depth(depth)
            stack.extend((member, depth + 1) for member in item)


def _check_nested_text(value: Any, text: str) -> None:
    """Refuse an unstorable text. Its path is searched only then, as most values are fine."""
    problem = text_problem(text)
    if problem:
        raise ValidationFailed.for_field(
            _find_field(value, lambda one: _contains_text(one, text)), problem
        )


def _contains_text(value: Any, text: str) -> bool:
    """Is it the text, or an object with a field of that name?"""
    return value == text or (isinstance(value, dict) and text in value)


def _check_depth(depth: int) -> None:
    if depth > DEPTH_MAX:
        raise _too_deep_error()


def _parse_leniently(text: str) -> Any:
    """Parse again with refused numbers allowed, to find where they are; None if that fails too."""
    try:
        return _LENIENT_DECODER.decode(text)
    except (ValueError, RecursionError):
        return None


def _not_finite_error(value: Any) -> ValidationFailed:
    message = "must be a finite number of at most 4,300 digits"
    field = _find_field(value, lambda one: isinstance(one, float) and not math.isfinite(one))
    return ValidationFailed.for_field(field, message)


def _find_field(value: Any, is_wrong: Callable[[Any], bool]) -> str:
    """The path of the first value that is wrong; `body` if there is none."""
    return next((node.field for node in _iter_nodes(value) if is_wrong(node.value)), "body")


def _too_deep_error() -> ValidationFailed:
    return _body_error(f"the body is nested deeper than {DEPTH_MAX} levels")


def _body_error(message: str) -> ValidationFailed:
    return ValidationFailed(message, [Violation("body", message)])


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _parse_finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError("a number is too large for a double")
    return number


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_parse_finite)
# Accepts refused numbers, to find out where they are.
_LENIENT_DECODER = json.JSONDecoder(parse_int=float)
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_SORTED_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False, sort_keys=True)
