"""Lines of an export: what is written is read without loss, what is wrong is named and not told."""

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.kernel.errors import ValidationFailed
from recollect.kernel.owner import Owner
from recollect.kernel.strict_json import text_problem
from recollect.people.chat import ParticipantKind
from recollect.portability.lines import LINE_FIELDS, LineType, from_line, to_line

NAMES = st.text(min_size=1, max_size=50).filter(lambda text: text_problem(text) is None)
INSTANTS = st.datetimes(timezones=st.just(UTC))
STAYS = st.fixed_dictionaries(
    {
        "chat_id": NAMES,
        "kind": st.sampled_from(ParticipantKind),
        "member_id": NAMES,
        "joined_at": INSTANTS,
        "left_at": st.none() | INSTANTS,
        "confirmed_at": st.none() | INSTANTS,
    }
)


@given(STAYS)
def test_a_line_is_read_as_it_was_written_and_written_as_it_was_read(
    values: dict[str, Any],
) -> None:
    line = to_line(LineType.PARTICIPANT, values)
    type_, read = from_line(line.encode())
    assert (type_, read) == (LineType.PARTICIPANT, values)
    assert to_line(type_, read) == line


def test_members_stand_in_the_order_of_the_shape_whatever_the_order_of_the_values() -> None:
    values = {member.name: None for member in reversed(LINE_FIELDS[LineType.MEMORY])}
    names = list(json.loads(to_line(LineType.MEMORY, values)))
    assert names == ["schema", "type", *(member.name for member in LINE_FIELDS[LineType.MEMORY])]


def test_owners_are_spelled_and_instants_are_utc() -> None:
    at = datetime(2026, 1, 1, 12, tzinfo=timezone(timedelta(hours=2)))
    line = to_line(
        LineType.CHAT,
        {"id": "c", "kind": "group", "created_by": Owner.agent("a"), "created_at": at},
    )
    assert json.loads(line) == {
        "schema": 1,
        "type": "chat",
        "id": "c",
        "kind": "group",
        "created_by": "agent:a",
        "created_at": "2026-01-01T10:00:00.000000Z",
    }
    _, values = from_line(line.encode())
    assert (values["created_by"], values["created_at"]) == (Owner.agent("a"), at)


def a_stay(**members: Any) -> bytes:
    stay = {"type": "participant", "chat_id": "c", "kind": "user", "member_id": "u"}
    return json.dumps(stay | {"joined_at": "2026-01-01T00:00:00Z"} | members).encode()


@pytest.mark.parametrize(
    ("line", "field"),
    [
        (b"zq", "body"),
        (b"[1]", "line"),
        (a_stay(type="zq"), "type"),
        (a_stay(schema=2), "schema"),
        (a_stay(kind="zq"), "kind"),
        (a_stay(chat_id=None), "chat_id"),
        (a_stay(chat_id=1), "chat_id"),
        (a_stay(chat_id=""), "chat_id"),
        (a_stay(chat_id="zq" * 200), "chat_id"),
        (a_stay(joined_at="zq"), "joined_at"),
        (a_stay(joined_at=7), "joined_at"),
        (a_stay(other=1), "other"),
    ],
)
def test_a_line_that_is_none_is_refused_by_the_name_of_its_member(line: bytes, field: str) -> None:
    with pytest.raises(ValidationFailed) as refused:
        from_line(line)
    assert refused.value.violations[0].field == field
    assert "zq" not in refused.value.message


def a_memory(**members: Any) -> bytes:
    return json.dumps({"type": "memory", "content": "c"} | members).encode()


@pytest.mark.parametrize(
    "members",
    [
        {"confidence": 1.5},
        {"confidence": True},
        {"version": 0},
        {"version": 1.5},
        {"portable": "yes"},
        {"tags": "a"},
        {"tags": [1]},
        {"id": "a b"},
        {"metadata": []},
        {"space": {"kind": "user", "id": "u", "more": 1}},
        {"space": {"id": "u"}},
        {"written_by": "agent"[:0]},
    ],
)
def test_members_of_a_memory_keep_to_their_types_and_limits(members: dict[str, Any]) -> None:
    with pytest.raises(ValidationFailed):
        from_line(a_memory(**members))


def test_what_a_line_leaves_out_is_null() -> None:
    _, values = from_line(a_memory())
    assert values["content"] == "c"
    assert {name for name, value in values.items() if value is not None} == {"content"}
    assert set(values) == {member.name for member in LINE_FIELDS[LineType.MEMORY]}
