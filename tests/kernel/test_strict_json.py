"""Reading JSON strictly, writing it as it was, and comparing it by value."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.kernel import strict_json
from recollect.kernel.errors import ValidationFailed
from tests.support.strategies import json_values


def parse(text: str) -> Any:
    return strict_json.parse(text.encode())


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


@given(json_values)
def test_values_read_back_as_written(value: Any) -> None:
    assert strict_json.is_equal(parse(strict_json.dump(value)), value)
    assert strict_json.dump(strict_json.load(strict_json.dump(value))) == strict_json.dump(value)


@given(st.integers(-(10**4000), 10**4000))
def test_integers_keep_every_digit(number: int) -> None:
    assert strict_json.dump(parse(str(number))) == str(number)


def test_an_integer_of_twenty_digits_keeps_every_digit() -> None:
    assert parse('{"n":12345678901234567891}') == {"n": 12345678901234567891}


def test_an_integer_beyond_all_reason_is_refused() -> None:
    with pytest.raises(ValidationFailed, match="digits"):
        parse("9" * 100_000)


@given(st.permutations(list("abcdé")))
def test_member_order_is_kept(names: list[str]) -> None:
    text = "{" + ",".join(f'"{name}":1' for name in names) + "}"
    assert strict_json.dump(parse(text)) == text


def test_the_last_of_duplicate_members_wins() -> None:
    assert parse('{"a":1,"b":2,"a":3}') == {"a": 3, "b": 2}


@pytest.mark.parametrize(
    "text",
    [
        "NaN",
        "[Infinity]",
        '{"a":-Infinity}',
        "1e999",
        "-1e999",
        "[1E+400]",
        '{"a":1' + "0" * 400 + ".0}",
    ],
)
def test_numbers_that_are_not_finite_are_refused(text: str) -> None:
    with pytest.raises(ValidationFailed) as refusal:
        parse(text)
    assert refusal.value.code == "validation_error"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"{",
        b"[1,]",
        b'{"a"}',
        b"01",
        b"'a'",
        b"1 2",
        b'"a\nb"',
        b'"\xff"',
        b'"\x00"',
        b"\xff\xfe1\x00",
    ],
)
def test_what_is_not_json_in_utf8_is_refused(body: bytes) -> None:
    with pytest.raises(ValidationFailed):
        strict_json.parse(body)


def test_a_byte_order_mark_is_let_through() -> None:
    assert strict_json.parse(b"\xef\xbb\xbf[1]") == [1]


def test_sixty_four_levels_are_allowed() -> None:
    assert strict_json.dump(parse(nested(64))) == nested(64)
    assert parse('{"a":' * 64 + "1" + "}" * 64)


@pytest.mark.parametrize("depth", [65, 500, 100_000])
def test_deeper_nesting_is_refused(depth: int) -> None:
    for text in (nested(depth), '{"a":' * depth + "1" + "}" * depth, "[" * depth):
        with pytest.raises(ValidationFailed):
            parse(text)


def test_depth_is_what_counts_not_the_number_of_brackets() -> None:
    flat = "[" + ",".join(["[]", "{}"] * 500) + "]"
    assert strict_json.dump(parse(flat)) == flat
    assert parse(json.dumps("[{" * 500)) == "[{" * 500


def test_brackets_in_strings_hide_no_depth() -> None:
    with pytest.raises(ValidationFailed, match="nested deeper"):
        parse('["]]]]]]", ' + nested(64) + "]")


@pytest.mark.parametrize(
    "text",
    [
        r'"\u0000"',
        r'["a\u0000b"]',
        r'{"\u0000":1}',
        r'"\ud800"',
        r'{"a":["\udc00\ud800"]}',
        r'{"\udfff":1}',
    ],
)
def test_nul_and_lone_surrogates_are_refused_wherever_they_stand(text: str) -> None:
    with pytest.raises(ValidationFailed, match=r"NUL|surrogate"):
        parse(text)


def test_escapes_of_whole_characters_are_let_through() -> None:
    assert parse(r'["\ud83d\ude00","\u00e9","\\u0000"]') == ["😀", "é", "\\u0000"]


@given(st.text(st.characters()))
def test_a_text_has_a_problem_exactly_if_it_cannot_be_stored(text: str) -> None:
    storable = "\x00" not in text and text.encode("utf-8", "replace").decode() == text
    assert (strict_json.text_problem(text) is None) == storable


def test_check_text_names_the_member() -> None:
    with pytest.raises(ValidationFailed) as refusal:
        strict_json.check_text("a\x00", "title")
    assert refusal.value.violations[0].field == "title"
    strict_json.check_text("a😀", "title")


def turned(value: Any) -> Any:
    """The same value with the members of every object in the opposite order."""
    if isinstance(value, dict):
        return {name: turned(value[name]) for name in reversed(value)}
    return [turned(item) for item in value] if isinstance(value, list) else value


@given(json_values)
def test_equality_ignores_member_order(value: Any) -> None:
    assert strict_json.is_equal(value, turned(value))


@given(json_values, json_values)
def test_equality_is_symmetric_and_means_the_same_canonical_text(a: Any, b: Any) -> None:
    assert (
        strict_json.is_equal(a, b) == strict_json.is_equal(b, a) == (canonical(a) == canonical(b))
    )


def canonical(value: Any) -> str:
    """An independent model: sorted members, and numbers as exact ratios."""
    if isinstance(value, dict):
        return json.dumps(
            {name: canonical(member) for name, member in value.items()}, sort_keys=True
        )
    if isinstance(value, list):
        return json.dumps([canonical(item) for item in value])
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "{}/{}".format(*value.as_integer_ratio())
    return json.dumps(value)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (1, 1.0),
        (0, -0.0),
        ([1, {"a": 2.0}], [1.0, {"a": 2}]),
        (2**53, float(2**53)),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (10**400, 10**400),
    ],
)
def test_equal_values(a: Any, b: Any) -> None:
    assert strict_json.is_equal(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (True, 1),
        (False, 0),
        (0, False),
        ([True], [1]),
        ({"a": None}, {}),
        (None, False),
        ("1", 1),
        ([1, 2], [2, 1]),
        ([1], [1, 1]),
        ([], {}),
        (2**53 + 1, float(2**53)),
        (10**400, 10**400 + 1),
        (10**400, 1.5e308),
        ("é", "e\u0301"),
    ],
)
def test_different_values(a: Any, b: Any) -> None:
    assert not strict_json.is_equal(a, b)
    assert not strict_json.is_equal(b, a)


def test_from_a_query_is_dropped_what_elsewhere_is_refused() -> None:
    body = rb'{"query":"a\u0000b\ud800c","n":[1]}'
    assert strict_json.parse(body, queries={"query"}) == {"query": "abc", "n": [1]}
    for other in (rb'{"query":"a","x":"\u0000"}', rb'{"query":["\ud800"]}', rb'["\u0000"]'):
        with pytest.raises(ValidationFailed):
            strict_json.parse(other, queries={"query"})
    with pytest.raises(ValidationFailed):
        strict_json.parse(body)


@given(st.text(st.characters(codec=None)))
def test_what_is_left_of_any_text_can_be_stored(text: str) -> None:
    left = strict_json.drop_unstorable(text)
    assert strict_json.text_problem(left) is None
    assert strict_json.drop_unstorable(left) == left
    assert strict_json.text_problem(text) is not None or left == text


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (rb'{"tags":["a","b\u0000"]}', "tags[1]"),
        (rb'{"metadata":{"a":{"b_c":["\ud800"]}}}', "metadata.a.b_c[0]"),
        (rb'{"metadata":{"x\u0000":1}}', "metadata"),
        (rb'{"metadata":{"my 4111 1111 1111 1111":["\u0000"]}}', "metadata"),
        (rb'["a","\u0000"]', "[1]"),
        (rb'"\u0000"', "body"),
        (b'{"value":{"a":[1,{"b":NaN}]}}', "value.a[1].b"),
        (b'{"a":' + b"9" * 5000 + b"}", "a"),
        (b"-1e999", "body"),
        (b'{"a":NaN', "body"),
        (b"[" * 65 + b"]" * 65, "body"),
    ],
)
def test_a_refusal_names_the_way_by_plain_names(body: bytes, field: str) -> None:
    with pytest.raises(ValidationFailed) as refusal:
        strict_json.parse(body)
    assert [one.field for one in refusal.value.violations] == [field]


def test_a_value_that_never_was_text_is_refused_by_the_same_names() -> None:
    for value in ({"a": [1.5, float("nan")]}, {"a": ["b", "\x00"]}):
        with pytest.raises(ValidationFailed) as refusal:
            strict_json.check_value(value)
        assert [one.field for one in refusal.value.violations] == ["a[1]"]
