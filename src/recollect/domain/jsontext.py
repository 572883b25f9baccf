"""JSON as text: strict reading, exact integers, and equality by value."""

import json
import math
import re
from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple, NewType, NoReturn

from recollect.errors import ValidationFailed, Violation

JsonText = NewType("JsonText", str)

DEPTH_MAX = 64
_FIELD_CHARS_MAX = 200


def parse(body: bytes, *, queries: Collection[str] = ()) -> Any:
    """The value of a JSON text in UTF-8.

    Integers keep all digits, of duplicate members the last wins. `NaN`, infinities, numbers beyond
    a double, integers of more than 4,300 digits (the interpreter's guard against quadratic work),
    NUL, lone surrogates and nesting deeper than 64 are refused. In `queries`, which are members of
    the outermost object, NUL and lone surrogates are dropped.
    """
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _refused("the body is not UTF-8") from None
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        raise _too_deep() from None
    except json.JSONDecodeError as error:
        raise _refused(f"the body is not valid JSON: {error}") from None
    except ValueError:
        raise _not_finite(_read_again(text)) from None
    if text.count("[") + text.count("{") > DEPTH_MAX or "\\u" in text:
        _clean(value, queries)
        _check_tree(value)
    return value


def check_value(value: Any, *, queries: Collection[str] = ()) -> None:
    """Refuse what `parse` refuses, of a value that never was JSON text."""
    try:
        _clean(value, queries)
        _check_tree(value)
        _ENCODER.encode(value)
    except ValueError:
        raise _not_finite(value) from None


def dump(value: Any) -> JsonText:
    """Compact JSON text, member order and Unicode as they are."""
    return JsonText(_ENCODER.encode(value))


def canonical(body: bytes) -> bytes:
    """The same bytes for JSON texts that differ in nothing but white space, escapes and the order
    of members; what is no such text stays as it is."""
    try:
        return _SORTING.encode(parse(body)).encode()
    except ValidationFailed:
        return body


def load(text: str) -> Any:
    """The value of a JSON text that we wrote ourselves."""
    return json.loads(text)


def equal(a: Any, b: Any) -> bool:
    """Deep equality: member order doesn't count, numbers compare by value, null is not absent."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(equal(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(equal, a, b))
    return bool(a == b)


def check_text(text: str, field: str) -> None:
    """Refuse what no engine of ours can store: NUL and lone surrogates."""
    problem = text_problem(text)
    if problem:
        raise ValidationFailed.of(field, problem)


def text_problem(text: str) -> str | None:
    """What is wrong with a text that is to be stored, or None."""
    if "\x00" in text:
        return "must not contain NUL (U+0000)"
    if not text.isascii() and any("\ud800" <= c <= "\udfff" for c in text):
        return "must not contain a lone surrogate"
    return None


def drop_unstorable(text: str) -> str:
    """The text without what no stored text can hold, so that any text is a valid query."""
    return text if text_problem(text) is None else "".join(filter(_is_storable, text))


def _is_storable(char: str) -> bool:
    return char != "\x00" and not "\ud800" <= char <= "\udfff"


def _clean(value: Any, queries: Collection[str]) -> None:
    for name in queries:
        if isinstance(value, dict) and isinstance(value.get(name), str):
            value[name] = drop_unstorable(value[name])


class _Place(NamedTuple):
    """A value inside of another, and how to get there."""

    value: Any
    outer: "_Place | None" = None
    step: str | int = ""

    @property
    def field(self) -> str:
        """The way from the outside, down to a name that is no plain word: what a caller made up may
        be what must not be repeated."""
        places = [self]
        while (outer := places[-1].outer) is not None:
            places.append(outer)
        way = ""
        for place in reversed(places[:-1]):
            if isinstance(place.step, int):
                way += f"[{place.step}]"
            elif not _PLAIN_NAME.fullmatch(place.step):
                break
            else:
                way += f".{place.step}" if way else place.step
        return way[:_FIELD_CHARS_MAX] or "body"


def _places(value: Any) -> Iterator[_Place]:
    """The value and all that is in it."""
    stack = [_Place(value)]
    while stack:
        place = stack.pop()
        yield place
        item = place.value
        if isinstance(item, dict):
            stack.extend(_Place(one, place, name) for name, one in item.items())
        elif isinstance(item, list):
            stack.extend(_Place(one, place, at) for at, one in enumerate(item))


def _check_tree(value: Any) -> None:
    stack: list[tuple[Any, int]] = [(value, 1)]
    while stack:
        item, depth = stack.pop()
        if isinstance(item, str):
            _check_inside(value, item)
        elif isinstance(item, dict):
            _check_depth(depth)
            for name, member in item.items():
                _check_inside(value, name)
                stack.append((member, depth + 1))
        elif isinstance(item, list):
            _check_depth(depth)
            stack.extend((member, depth + 1) for member in item)


def _check_inside(value: Any, text: str) -> None:
    """Where the text is, is only looked for when it is refused."""
    problem = text_problem(text)
    if problem:
        raise ValidationFailed.of(_field_of(value, lambda one: _holds(one, text)), problem)


def _holds(value: Any, text: str) -> bool:
    """Is it the text, or an object with a member of that name?"""
    return value == text or (isinstance(value, dict) and text in value)


def _check_depth(depth: int) -> None:
    if depth > DEPTH_MAX:
        raise _too_deep()


def _read_again(text: str) -> Any:
    """With what was refused. Nothing, if something else is wrong behind it."""
    try:
        return _LENIENT.decode(text)
    except (ValueError, RecursionError):
        return None


def _not_finite(value: Any) -> ValidationFailed:
    message = "must be a finite number of at most 4,300 digits"
    return ValidationFailed.of(_field_of(value, _is_no_number), message)


def _field_of(value: Any, is_wrong: Callable[[Any], bool]) -> str:
    """The first place of that kind; the whole, if there is none."""
    return next((place.field for place in _places(value) if is_wrong(place.value)), "body")


def _is_no_number(value: Any) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def _too_deep() -> ValidationFailed:
    return _refused(f"the body is nested deeper than {DEPTH_MAX} levels")


def _refused(message: str) -> ValidationFailed:
    return ValidationFailed(message, [Violation("body", message)])


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError("a number is too large for a double")
    return number


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite)
# Reads what is refused, to say where it is.
_LENIENT = json.JSONDecoder(parse_int=float)
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_SORTING = json.JSONEncoder(separators=(",", ":"), allow_nan=False, sort_keys=True)
