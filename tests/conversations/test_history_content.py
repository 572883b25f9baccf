"""History entries: the strict rules one by one, and the tolerant ones over any shape."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.conversations.entries.content import (
    HistoryContent,
    extract_text,
    is_history_type,
    parse_strict,
    parse_tolerant,
)
from recollect.kernel.errors import EmptyEntry, InvalidInput
from tests.support.strategies import json_values

HREF = {"href": "/a.png", "contentType": "image/png"}


@pytest.mark.parametrize("content_type", ["history", "history/lc4j", "history/"])
def test_history_and_its_subtypes_are_history(content_type: str) -> None:
    assert is_history_type(content_type)


@pytest.mark.parametrize(
    "content_type", ["", "histor", "history2", "History", "a/history", " history"]
)
def test_anything_else_is_not_history(content_type: str) -> None:
    assert not is_history_type(content_type)


@pytest.mark.parametrize(
    ("item", "text"),
    [
        ({"role": "USER", "text": "hi"}, "hi"),
        ({"text": " hi ", "role": "AI", "extra": {"n": 1}}, " hi "),
        ({"role": "AI", "text": "", "note": None}, None),
        ({"role": "AI", "text": " \n\x01"}, None),
        ({"role": "AI", "events": []}, None),
        ({"role": "AI", "events": [1, "x", {"any": None}], "text": None}, None),
        ({"role": "USER", "attachments": [], "events": None}, None),
        ({"role": "USER", "attachments": [HREF, {"attachmentId": "a1"}]}, None),
        ({"role": "USER", "attachments": [HREF | {"attachmentId": "a1", "more": 1}]}, None),
        ({"role": "USER", "attachments": [{"href": None, "attachmentId": "a1"}]}, None),
    ],
)
def test_strict_history_is_kept_as_sent(item: dict[str, Any], text: str | None) -> None:
    content = [dict(item)]
    kept = parse_strict(content, "history/x")
    assert kept == HistoryContent([item], "history/x", text)
    assert list(kept.content[0]) == list(item)
    assert extract_text(kept.content) == text


MESSAGE = {"role": "USER", "text": "hi"}


def with_attachment(attachment: object) -> list[Any]:
    return [MESSAGE | {"attachments": [HREF, {"attachmentId": "a"}, attachment]}]


@pytest.mark.parametrize(
    ("content", "content_type", "field"),
    [
        ([MESSAGE], None, "contentType"),
        ([MESSAGE], "", "contentType"),
        ([MESSAGE], "text/plain", "contentType"),
        ([MESSAGE], "HISTORY", "contentType"),
        (None, "history", "content"),
        ("hi", "history", "content"),
        (MESSAGE, "history", "content"),
        ([], "history", "content"),
        ([MESSAGE, MESSAGE], "history", "content"),
        (["hi"], "history", "content[0]"),
        ([None], "history", "content[0]"),
        ([[MESSAGE]], "history", "content[0]"),
        ([{"text": "hi"}], "history", "content[0].role"),
        ([{"role": "user", "text": "hi"}], "history", "content[0].role"),
        ([{"role": "SYSTEM", "text": "hi"}], "history", "content[0].role"),
        ([{"role": ["USER"], "text": "hi"}], "history", "content[0].role"),
        ([{"role": "USER"}], "history", "content[0]"),
        ([{"role": "USER", "text": None, "events": None}], "history", "content[0]"),
        ([{"role": "USER", "text": 1}], "history", "content[0].text"),
        ([{"role": "USER", "text": False}], "history", "content[0].text"),
        ([{"role": "USER", "events": {}}], "history", "content[0].events"),
        ([{"role": "USER", "events": 0}], "history", "content[0].events"),
        ([{"role": "USER", "text": "hi", "events": "x"}], "history", "content[0].events"),
        ([{"role": "USER", "attachments": {}}], "history", "content[0].attachments"),
        ([{"role": "USER", "attachments": ""}], "history", "content[0].attachments"),
        (with_attachment("a.png"), "history", "content[0].attachments[2]"),
        (with_attachment(None), "history", "content[0].attachments[2]"),
        (with_attachment({}), "history", "content[0].attachments[2]"),
        (with_attachment({"contentType": "a/b"}), "history", "content[0].attachments[2]"),
        (with_attachment({"href": 1}), "history", "content[0].attachments[2].href"),
        (with_attachment({"attachmentId": 1}), "history", "content[0].attachments[2].attachmentId"),
        (with_attachment({"href": "x"}), "history", "content[0].attachments[2].contentType"),
        (
            with_attachment({"href": "x", "contentType": 1}),
            "history",
            "content[0].attachments[2].contentType",
        ),
        (
            with_attachment({"href": "x", "attachmentId": "a"}),
            "history",
            "content[0].attachments[2].contentType",
        ),
    ],
)
def test_strict_history_names_the_member_that_breaks_a_rule(
    content: object, content_type: str | None, field: str
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        parse_strict(content, content_type)
    assert refusal.value.code == "bad_request"
    assert refusal.value.details is not None
    assert refusal.value.details["field"] == field


USER_HI = {"role": "USER", "text": "hi"}


@pytest.mark.parametrize(
    ("content", "stored"),
    [
        ("hi", USER_HI),
        (["hi"], USER_HI),
        (["hi", " ", "", "you "], {"role": "USER", "text": "hi\nyou "}),
        ([{"type": "text", "text": "hi"}], USER_HI),
        ([{"type": "text", "text": "hi"}, "you", None], {"role": "USER", "text": "hi\nyou"}),
        ([{"role": "AI", "text": "hi"}], {"role": "AI", "text": "hi"}),
        ([{"role": "assistant", "text": "hi"}, {"role": "AI"}, {}], USER_HI | {"role": "AI"}),
        ([{"role": "user", "content": "hi"}], USER_HI),
        ([{"role": "user", "content": ["hi", {"type": "image_url"}]}], USER_HI),
        (
            [{"role": "model", "content": [{"type": "text", "text": "hi"}, {"text": "you"}]}],
            {"role": "AI", "text": "hi\nyou"},
        ),
        ([{"text": 5}, "hi"], USER_HI),
        ([{"events": [1]}, {"events": [2]}], {"role": "USER", "events": [1, 2]}),
        ([{"attachments": ["a"], "text": None}], {"role": "USER", "attachments": ["a"]}),
        ([{"text": "hi", "events": []}], USER_HI | {"events": []}),
        (
            [{"attachments": [{"href": "x"}], "events": [{}], "text": "hi", "role": "AI"}],
            {"role": "AI", "text": "hi", "events": [{}], "attachments": [{"href": "x"}]},
        ),
    ],
)
def test_tolerant_history_becomes_one_object(content: object, stored: dict[str, Any]) -> None:
    kept = parse_tolerant(content, None)
    assert kept == HistoryContent([stored], "history", stored.get("text"))
    assert list(kept.content[0]) == list(stored)


@pytest.mark.parametrize(
    ("word", "role"),
    [
        *((word, "USER") for word in ("USER", "user", "User", "human", "HUMAN")),
        *((word, "AI") for word in ("AI", "ai", "assistant", "Assistant", "model")),
    ],
)
def test_tolerant_roles_are_read_as_people_write_them(word: str, role: str) -> None:
    stored = [{"role": role, "text": "hi"}]
    assert parse_tolerant([{"role": word, "content": "hi"}], None).content == stored
    assert parse_tolerant("hi", None, word).content == stored


@pytest.mark.parametrize("role", ["system", "AI"])
def test_a_role_beside_the_content_is_known_and_that_of_its_items(role: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        parse_tolerant([{"role": "user", "text": "hi"}], None, role)
    assert "user, human, assistant, ai, model" in refusal.value.message


@pytest.mark.parametrize(
    "content",
    [
        "",
        " \n\t",
        [],
        [""],
        [None],
        [" ", "\u00a0"],
        [{}],
        [{"type": "image"}],
        [{"events": [], "attachments": None}],
        [{"text": 5}],
    ],
)
def test_a_tolerant_entry_with_nothing_left_is_refused(content: object) -> None:
    with pytest.raises(EmptyEntry) as refusal:
        parse_tolerant(content, "history")
    assert refusal.value.code == "invalid_request"
    assert refusal.value.details is None


@pytest.mark.parametrize(
    ("content", "field"),
    [
        (None, "content"),
        (5, "content"),
        ({"text": "hi"}, "content"),
        (["hi", 5], "content[1]"),
        ([["hi"]], "content[0]"),
        ([{"text": "hi", "events": {}}], "content[0].events"),
        (["hi", {"attachments": "a"}], "content[1].attachments"),
        ([{"role": "user", "content": {"text": "hi"}}], "content[0].content"),
        ([{"role": "SYSTEM", "text": "hi"}], "content[0].role"),
        (["hi", {"role": {"a": 1}, "text": "hi"}], "content[1].role"),
        ([{"role": "user", "text": "hi"}, {"role": "AI"}], "content[1].role"),
    ],
)
def test_tolerant_history_refuses_what_it_would_have_to_lose(content: object, field: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        parse_tolerant(content, None)
    assert refusal.value.details is not None
    assert refusal.value.details["field"] == field


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        (None, "history"),
        ("", "history"),
        ("text/plain", "history"),
        ("historyx", "history"),
        ("history", "history"),
        ("history/lc4j", "history/lc4j"),
    ],
)
def test_tolerant_history_keeps_history_types_alone(sent: str | None, stored: str) -> None:
    assert parse_tolerant("hi", sent).content_type == stored


shapes = st.fixed_dictionaries(
    {},
    optional={
        "role": st.sampled_from(["USER", "user", "human", None]),
        "text": json_values,
        "content": st.none() | st.text() | st.lists(st.text() | json_values, max_size=2),
        "events": st.none() | st.lists(json_values, max_size=2),
        "attachments": st.none() | st.lists(json_values, max_size=2),
        "type": json_values,
    },
)


def inner_texts(content: Any) -> list[Any]:
    items = content if isinstance(content, list) else [content]
    return [item.get("text") if isinstance(item, dict) else item for item in items]


@given(st.text() | st.lists(st.text() | shapes | st.none(), max_size=4))
def test_tolerant_history_loses_no_text_event_or_attachment(content: str | list[Any]) -> None:
    parts = [content] if isinstance(content, str) else content
    objects = [{"text": p} if isinstance(p, str) else p or {} for p in parts]
    try:
        stored = parse_tolerant(content, None).content[0]
    except EmptyEntry:
        stored = {}
    for member in ("events", "attachments"):
        sent = [item for o in objects for item in o.get(member) or []]
        assert (stored.get(member) or []) == sent
    texts = [text for o in objects for text in (o.get("text"), *inner_texts(o.get("content")))]
    texts = [text for text in texts if isinstance(text, str)]
    shown = [text for text in texts if text.strip() and text.strip().isprintable()]
    assert all(text in stored.get("text", "") for text in shown)


@given(st.text() | st.lists(st.text() | shapes, max_size=3))
def test_tolerant_history_is_its_own_fixed_point(content: str | list[Any]) -> None:
    try:
        first = parse_tolerant(content, "history/x")
    except EmptyEntry:
        return
    assert parse_tolerant(first.content, first.content_type) == first
    assert extract_text(first.content) == first.text
