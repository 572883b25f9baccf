"""What the fields of a memory may hold."""

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given

from recollect.kernel.retention_rules import MemoryScope
from recollect.kernel.validation import check_metadata, to_utc
from recollect.memories import validation as checks
from recollect.memories.model import MemoryKind
from tests.memories.memory_cases import NOW, field_of, records


def test_exactly_one_payload_says_what_kind_it_is() -> None:
    assert checks.infer_kind(content="x") is MemoryKind.STATEMENT
    assert checks.infer_kind(messages=[]) is MemoryKind.STATEMENT
    assert checks.infer_kind(key="k", value={}) is MemoryKind.RECORD


@pytest.mark.parametrize(
    ("payload", "where"),
    [
        ({}, "content"),
        ({"content": "x", "messages": "x"}, "content"),
        ({"content": "x", "key": "k", "value": {}}, "content"),
        ({"key": "k"}, "value"),
        ({"value": {}}, "key"),
        ({"content": "x", "value": {}}, "key"),
    ],
)
def test_no_payload_and_two_payloads_are_refused(payload: dict[str, Any], where: str) -> None:
    assert field_of(lambda: checks.infer_kind(**payload)) == where


@pytest.mark.parametrize("text", ["a", "A.b_c:d-9", "x" * 128])
def test_an_id_may_be_chosen(text: str) -> None:
    checks.check_id(text)


@pytest.mark.parametrize("text", ["", "x" * 129, "a b", "a/b", "é", "a\n", "a\0", "١"])
def test_other_ids_are_refused(text: str) -> None:
    assert field_of(lambda: checks.check_id(text)) == "id"


@pytest.mark.parametrize("text", ["a", "x" * 100_000, " é\n", "😀" * 100_000])
def test_content_is_up_to_a_hundred_thousand_characters(text: str) -> None:
    checks.check_content(text)


@pytest.mark.parametrize("text", ["", " \n\t\u3000", "\x07", "x" * 100_001, "a\0b", "\udc00"])
def test_other_content_is_refused(text: str) -> None:
    assert field_of(lambda: checks.check_content(text)) == "content"


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for level in range(depth - 1):
        value = {"a": value} if level % 2 else {"a": [value]}
    return value


def objects(depth: int) -> dict[str, Any]:
    return {"a": objects(depth - 1)} if depth > 1 else {}


def endless() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["a"] = [value, value]
    return value


def widespread() -> dict[str, Any]:
    items: list[Any] = []
    for _ in range(30):
        items = [items, items]
    return {"a": items}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("k" * 255, {}),
        ("k", objects(32)),
        ("k", {"a": [1, 2.5, True, None, "é", -(10**300)]}),
        ("k", {"a": "x" * (256 * 1024 - 8)}),
    ],
    ids=["longest key", "deepest", "every type", "largest"],
)
def test_a_record_is_a_key_and_a_json_object(key: str, value: dict[str, Any]) -> None:
    checks.check_record(key, value)


@pytest.mark.parametrize(
    ("key", "value", "where"),
    [
        ("", {}, "key"),
        ("k" * 256, {}, "key"),
        ("k\0", {}, "key"),
        ("k", [], "value"),
        ("k", "text", "value"),
        ("k", None, "value"),
        ("k", objects(33), "value"),
        ("k", nested(33), "value"),
        ("k", {"a": "x" * (256 * 1024 - 7)}, "value"),
        ("k", {"a": "é" * (128 * 1024)}, "value"),
        ("k", {"a": float("nan")}, "value"),
        ("k", {"a": [float("inf")]}, "value"),
        ("k", {"a\0": 1}, "value"),
        ("k", {"a": "\ud800"}, "value"),
        ("k", {1: "a"}, "value"),
        ("k", {"a": {"b": {None: 1}}}, "value"),
        ("k", {"a": {1, 2}}, "value"),
        ("k", {"a": (1, 2)}, "value"),
        ("k", {"a": NOW}, "value"),
        ("k", {"a": 10**5000}, "value"),
        ("k", endless(), "value"),
        ("k", widespread(), "value"),
    ],
)
def test_any_other_record_is_refused(key: str, value: Any, where: str) -> None:
    assert field_of(lambda: checks.check_record(key, value)) == where


@given(records)
def test_every_json_object_within_the_limits_is_a_value(value: dict[str, Any]) -> None:
    checks.check_record("k", value)


def test_metadata_is_an_object_of_sixteen_kibibytes() -> None:
    check_metadata({"a": "x" * (16 * 1024 - 8)})
    assert field_of(lambda: check_metadata({"a": "x" * (16 * 1024 - 7)})) == "metadata"
    assert field_of(lambda: check_metadata([])) == "metadata"


def test_tags_are_exact_and_each_there_once() -> None:
    assert checks.clean_tags(["b", "a", "B", "b", " b", "%"]) == ("b", "a", "B", " b", "%")
    assert len(checks.clean_tags([f"{n}" for n in range(50)])) == 50
    assert checks.clean_tags(["t" * 100]) == ("t" * 100,)


@pytest.mark.parametrize(
    ("tags", "where"),
    [
        ([f"{n}" for n in range(51)], "tags"),
        (["a", ""], "tags[1]"),
        (["t" * 101], "tags[0]"),
        (["a\0"], "tags[0]"),
    ],
    ids=["too many", "empty", "too long", "NUL"],
)
def test_other_tags_are_refused(tags: list[str], where: str) -> None:
    assert field_of(lambda: checks.clean_tags(tags)) == where


def test_subjects_and_sources_have_their_limits() -> None:
    assert checks.clean_subjects(["Ann", "Bo", "Ann"]) == ("Ann", "Bo")
    assert field_of(lambda: checks.clean_subjects(["x"] * 51)) == "subjects"
    assert field_of(lambda: checks.clean_subjects(["Ann", " "])) == "subjects[1]"
    assert len(checks.clean_source_entries([f"{n}" for n in range(1_000)])) == 1_000
    assert field_of(lambda: checks.clean_source_entries(["x"] * 1_001)) == "source_entries"


@pytest.mark.parametrize("run_id", [None, ""])
def test_a_session_memory_needs_a_run(run_id: str | None) -> None:
    assert field_of(lambda: checks.check_run_id(MemoryScope.SESSION, run_id)) == "run_id"


def test_other_scopes_need_no_run() -> None:
    checks.check_run_id(MemoryScope.SESSION, "r1")
    checks.check_run_id(MemoryScope.LONG_TERM, None)
    checks.check_run_id(MemoryScope.ORG, None)


def test_what_was_observed_lies_at_most_five_minutes_ahead() -> None:
    ahead = NOW + timedelta(minutes=5)
    checks.check_observed_at(ahead, NOW)
    checks.check_observed_at(ahead.astimezone(timezone(timedelta(hours=-9))), NOW)
    checks.check_observed_at(ahead.replace(tzinfo=None), NOW)
    later = ahead + timedelta(microseconds=1)
    assert field_of(lambda: checks.check_observed_at(later, NOW)) == "observed_at"


def test_world_time_is_half_open_and_not_empty() -> None:
    checks.check_validity(None, None)
    checks.check_validity(NOW, None)
    checks.check_validity(None, NOW)
    checks.check_validity(NOW, NOW + timedelta(microseconds=1))
    same = NOW.astimezone(timezone(timedelta(hours=5)))
    assert field_of(lambda: checks.check_validity(NOW, same)) == "valid_until"
    assert field_of(lambda: checks.check_validity(NOW, NOW - timedelta(1))) == "valid_until"


def test_a_time_without_offset_is_utc_and_one_outside_the_calendar_is_refused() -> None:
    assert to_utc(NOW.replace(tzinfo=None), "valid_from") == NOW
    outside = datetime.max.replace(tzinfo=timezone(timedelta(hours=-1)))
    assert field_of(lambda: to_utc(outside, "valid_from")) == "valid_from"
